import { Router } from 'express';
import { streamJson } from '../../http/json-stream';
import { post, type Access } from '../../http/operation';
import { parse } from '../../http/parse';
import { userIdOf } from '../../http/session';
import { blacklistView, friendView, groupView, memberView, sinceVersion, userView } from './sync-schemas';
import type { Changes, SyncService } from './sync-service';

export function syncRouter(sync: SyncService, { signedIn }: Access): Router {
  const router = Router();

  post(router, '/sync/:version', signedIn, async (req, res) => {
    const { version } = parse(sinceVersion, req.params);
    await streamJson(req, res, pieces(await sync.changes(userIdOf(req), version)));
  });

  return router;
}

/** The answer's text, a chunk of members at a time. */
async function* pieces({ version, user, blacklist, friends, groups, members }: Changes): AsyncGenerator<string> {
  const head = JSON.stringify({
    version,
    user: userView(user),
    blacklist: blacklist.map(blacklistView),
    friends: friends.map(friendView),
    groups: groups.map(groupView),
  });
  yield `{"code":200,"result":${head.slice(0, -1)},"group_members":[`;
  let separator = '';
  for await (const chunk of members) {
    if (chunk.length === 0) continue;
    yield separator + JSON.stringify(chunk.map(memberView)).slice(1, -1);
    separator = ',';
  }
  yield ']}}';
}
