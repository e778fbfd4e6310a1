import { Router } from 'express';
import { jsonBody } from '../../http/body';
import { ok, post, type Access } from '../../http/operation';
import { parse } from '../../http/parse';
import { userIdOf } from '../../http/session';
import { friend, listEntry } from './blacklist-schemas';
import type { BlacklistService } from './blacklist-service';

export function blacklistRouter(blacklist: BlacklistService, { signedIn, signedInWithBody, inTurn }: Access): Router {
  const router = Router();

  post(router, '/blacklist', signedIn, async (req, res) => {
    const entries = await blacklist.list(userIdOf(req));
    ok(res, entries.map(listEntry));
  });

  post(
    router,
    '/add_to_blacklist',
    signedInWithBody,
    inTurn(async (req, res) => {
      const { friendId } = parse(friend, jsonBody(req));
      await blacklist.add(userIdOf(req), friendId);
      ok(res);
    }),
  );

  post(
    router,
    '/remove_from_blacklist',
    signedInWithBody,
    inTurn(async (req, res) => {
      const { friendId } = parse(friend, jsonBody(req));
      await blacklist.remove(userIdOf(req), friendId);
      ok(res);
    }),
  );

  return router;
}
