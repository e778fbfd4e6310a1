import { Router } from 'express';
import { ok, post, type Access } from '../../http/operation';
import { userIdOf } from '../../http/session';
import { listGroup } from './groups-schemas';
import type { GroupsService } from './groups-service';

export function groupsRouter(groups: GroupsService, { signedIn }: Access): Router {
  const router = Router();

  post(router, '/groups', signedIn, async (req, res) => {
    const memberships = await groups.ofMember(userIdOf(req));
    ok(res, memberships.map(listGroup));
  });

  return router;
}
