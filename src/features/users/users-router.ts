import { Router, type Request } from 'express';
import { callerOf } from '../../http/caller';
import { ok, post, type Access } from '../../http/operation';
import { parse } from '../../http/parse';
import { userIdOf } from '../../http/session';
import type { Profile } from './users-repository';
import { byId, byPhone, publicProfile } from './users-schemas';
import type { UsersService } from './users-service';

/** Mounted last: /user/:id takes what no fixed path does. */
export function usersRouter(users: UsersService, { signedIn, signedInMeanwhile }: Access): Router {
  const router = Router();
  const asked = new WeakMap<Request, Promise<Profile>>();

  /** The most frequent question of all goes to the database together with the session's. */
  const ask = (req: Request) => {
    const { data } = byId.safeParse(req.params);
    if (!data) return;
    const answer = users.byId(data.id);
    // Who is not let in never looks at it.
    answer.catch(() => undefined);
    asked.set(req, answer);
  };

  post(router, '/find/:region/:phone', signedIn, async (req, res) => {
    const phone = parse(byPhone, req.params);
    ok(res, publicProfile(await users.byPhone(phone, userIdOf(req), callerOf(req))));
  });

  post(router, '/:id', signedInMeanwhile(ask), async (req, res) => {
    // Not asked for, when the id was none or express-session let the caller in.
    ok(res, publicProfile(await (asked.get(req) ?? users.byId(parse(byId, req.params).id))));
  });

  return router;
}
