import { Router } from 'express';
import { jsonBody } from '../../http/body';
import { ok, post, type Access } from '../../http/operation';
import { parse } from '../../http/parse';
import { userIdOf } from '../../http/session';
import { newNickname, newPortrait } from './profile-schemas';
import type { ProfileService } from './profile-service';

export function profileRouter(profile: ProfileService, { signedInWithBody, inTurn }: Access): Router {
  const router = Router();

  post(
    router,
    '/set_nickname',
    signedInWithBody,
    inTurn(async (req, res) => {
      const { nickname } = parse(newNickname, jsonBody(req));
      await profile.setNickname(userIdOf(req), nickname);
      ok(res);
    }),
  );

  post(
    router,
    '/set_portrait_uri',
    signedInWithBody,
    inTurn(async (req, res) => {
      const { portraitUri } = parse(newPortrait, jsonBody(req));
      await profile.setPortraitUri(userIdOf(req), portraitUri);
      ok(res);
    }),
  );

  return router;
}
