import { randomInt } from 'node:crypto';
import { Later, streamedOperation, type Operation, type ReaderCall } from '../../http/operation';
import type { LiveSync } from './live-syncs';
import * as schemas from './sync-schemas';
import type { Changes, SyncService } from './sync-service';

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
      stream: async ({ version, names = false, wait: seconds }, reader) => {
        let wait = reader.waited instanceof Wait ? reader.waited : undefined;
        if (seconds !== undefined) wait ??= new Wait(await sync.live(reader), seconds, reader);
        const changes = await sync.changes(reader, { since: version, names });
        if (wait && wait.left > 0 && changes.isEmpty) return wait.keep(changes);
        // Before the answer is sent: others have their turn while the client reads it.
        wait?.leave();
        return schemas.changesView(changes);
      },
    }),
  ];
}

/** Waits that began together, after a change for many, must not end together: each second is this long at least. */
const SHORTEST_MS = 800;

/** A request whose answer waits for a change, until its time is over or the client has left. */
class Wait extends Later {
  private unchanged: Pick<Changes, 'user' | 'version'> | undefined;
  private readonly ends: number;
  private readonly whenClosed = () => this.live.leave();

  constructor(
    private readonly live: LiveSync,
    seconds: number,
    private readonly call: ReaderCall,
  ) {
    super();
    this.ends = performance.now() + seconds * randomInt(SHORTEST_MS, 1_000);
    if (call.res.destroyed) live.leave();
    else call.res.on('close', this.whenClosed);
  }

  leave(): void {
    this.call.res.off('close', this.whenClosed);
    this.live.leave();
  }

  get left(): number {
    return this.live.hasEnded ? 0 : this.ends - performance.now();
  }

  /** Keeps the answer as long as nothing has changed. */
  keep({ user, version }: Changes): this {
    this.unchanged = { user, version };
    return this;
  }

  over(): Promise<void> {
    return this.live.wait(this.left);
  }

  get result(): unknown {
    const { unchanged, live } = this;
    // Another instance answers with what has changed.
    const isKnown = live.hasEnded || (!live.hasChanged && live.hears);
    return unchanged && isKnown ? schemas.unchangedView(unchanged) : undefined;
  }
}
