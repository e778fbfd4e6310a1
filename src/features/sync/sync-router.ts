import { rowsText } from '../../http/json-stream';
import { streamedOperation, type Operation } from '../../http/operation';
import * as schemas from './sync-schemas';
import type { Changes, SyncService } from './sync-service';

export function syncRouter(sync: SyncService): Operation[] {
  return [
    streamedOperation({
      path: '/user/sync/:version',
      summary: 'Everything of the user that has changed since this version.',
      access: 'reader',
      params: schemas.sinceVersion,
      options: schemas.asked,
      result: schemas.changes,
      queue: 'heavyReads',
      refusals: ['too_many_at_once'],
      stream: async ({ version, names = false }, reader) =>
        textOf(await sync.changes(reader, { since: version, names })),
    }),
  ];
}

/** The answer's text, a chunk of members at a time. */
async function* textOf({ version, user, blacklist, friends, groups, members }: Changes): AsyncGenerator<string> {
  const head = JSON.stringify({
    version,
    user: schemas.userView(user),
    blacklist: blacklist.map(schemas.blacklistView),
    friends: friends.map(schemas.friendView),
    groups: groups.map(schemas.groupView),
  });
  // Kept until members come: whoever is refused them is sent the refusal, and no half of an answer.
  let begun = `{"code":200,"result":${head.slice(0, -1)},"group_members":[`;
  for await (const text of rowsText(members, schemas.memberView)) {
    const piece = begun + text;
    if (piece !== '') yield piece;
    begun = '';
  }
  yield `${begun}]}}`;
}
