import { Router } from 'express';
import { ok, post, type Access } from '../../http/operation';
import type { PublicUrlOf } from '../../http/public-url';
import { userIdOf } from '../../http/session';
import type { TokensService } from './tokens-service';

export function tokensRouter(tokens: TokensService, publicUrlOf: PublicUrlOf, { signedIn }: Access): Router {
  const router = Router();

  post(router, '/get_token', signedIn, async (req, res) => {
    const id = userIdOf(req);
    ok(res, { id, token: await tokens.messagingToken(id, publicUrlOf(req)) });
  });

  post(router, '/get_image_token', signedIn, async (req, res) => {
    const { target, domain, token } = tokens.uploadToken(userIdOf(req), publicUrlOf(req));
    ok(res, { target, domain, token });
  });

  return router;
}
