import { streamedOperation, type Operation } from '../../http/operation';
import * as schemas from './sync-schemas';
import type { SyncService } from './sync-service';

export function syncRouter(sync: SyncService): Operation[] {
  return [
    streamedOperation({
      path: '/user/sync/:version',
      summary: "Returns all of the user's data that has changed since a version.",
      access: 'reader',
      params: schemas.sinceVersion,
      options: schemas.asked,
      result: schemas.changes,
      queue: 'heavyReads',
      refusals: ['too_many_at_once'],
      stream: async ({ version, names = false }, reader) =>
        schemas.changesView(await sync.changes(reader, { since: version, names })),
    }),
  ];
}
