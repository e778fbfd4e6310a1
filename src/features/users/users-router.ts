import { Router } from 'express';
import { callerOf } from '../../http/caller';
import { ok, post, type Access } from '../../http/operation';
import { parse } from '../../http/parse';
import { userIdOf } from '../../http/session';
import { byId, byPhone, publicProfile } from './users-schemas';
import type { UsersService } from './users-service';

/** Mounted last: /user/:id takes what no fixed path does. */
export function usersRouter(users: UsersService, { signedIn }: Access): Router {
  const router = Router();

  post(router, '/find/:region/:phone', signedIn, async (req, res) => {
    const phone = parse(byPhone, req.params);
    ok(res, publicProfile(await users.byPhone(phone, userIdOf(req), callerOf(req))));
  });

  post(router, '/:id', signedIn, async (req, res) => {
    ok(res, publicProfile(await users.byId(parse(byId, req.params).id)));
  });

  return router;
}
