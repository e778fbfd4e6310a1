import { randomInt } from 'node:crypto';
import { Later, streamedOperation, type Operation, type ReaderCall } from '../../http/operation';
import type { LiveSync } from './live-syncs';
import * as schemas from './sync-schemas';
import type { SyncService } from './sync-service';

export function syncRouter(sync: SyncService): Operation[] {
  /** The waits of requests that are answered later. */
  const waits = new WeakMap<ReaderCall, Wait>();
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
      stream: async ({ version, names = false, wait: seconds }, reader) => {
        const changesNow = () => sync.changes(reader, { since: version, names });
        if (seconds === undefined) return schemas.changesView(await changesNow());
        const wait = waits.get(reader) ?? new Wait(await sync.live(reader), seconds, reader);
        waits.set(reader, wait);
        const changes = await changesNow();
        const view = schemas.changesView(changes);
        if (!changes.isEmpty || wait.left <= 0) return view;
        wait.unchanged = view;
        return wait;
      },
    }),
  ];
}

/** Waits that began together, after a change for many, must not end together: each second is this long at least. */
const SHORTEST_MS = 800;

/** A request whose answer waits for a change, until its time is over or the client has left. */
class Wait extends Later {
  /** The answer as long as nothing has changed. */
  unchanged: object | undefined;
  private readonly ends: number;

  constructor(
    private readonly live: LiveSync,
    seconds: number,
    { res }: ReaderCall,
  ) {
    super(async () => ((await live.over(this.left)) || !live.hears() ? undefined : this.unchanged));
    this.ends = performance.now() + seconds * randomInt(SHORTEST_MS, 1_000);
    const leave = () => {
      live.end();
      live.close();
    };
    if (res.destroyed) leave();
    else res.once('close', leave);
  }

  get left(): number {
    return this.live.hasEnded ? 0 : this.ends - performance.now();
  }
}
