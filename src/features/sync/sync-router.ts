import { randomInt } from 'node:crypto';
import { streamedOperation, type Operation, type ReaderCall } from '../../http/operation';
import { DeferredAnswer } from '../../http/waiting-answers';
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
        const changes = () => sync.changes(reader, { since: version, names });
        if (seconds === undefined) return schemas.changesView(await changes());
        return new Wait(await sync.live(reader), changes, seconds, reader).look();
      },
    }),
  ];
}

/** Waits that began together, after a change for many, must not end together: each second is this long at least. */
const SHORTEST_MS = 800;
/** Proxies end a request after a minute. */
const AFTER_WAIT_MS = 8_000;
/** Before an answer that the next one repeats: clients that call again at once would make hundreds of calls a second. */
const PAUSE_MS = 5_000;

/** A request whose answer waits for a change, until its time is over or the client has left. */
class Wait extends DeferredAnswer {
  private unchanged: Pick<Changes, 'user' | 'version'> | undefined;
  private ends: number;
  /** Whether the last wait has ended by a change. */
  private hasChanged = false;
  private readonly whenClosed = () => this.live.leave();

  constructor(
    private readonly live: LiveSync,
    private readonly changes: () => Promise<Changes>,
    seconds: number,
    private readonly call: ReaderCall,
  ) {
    super();
    this.ends = performance.now() + seconds * randomInt(SHORTEST_MS, 1_000);
    if (call.res.destroyed) live.leave();
    else call.res.on('close', this.whenClosed);
  }

  release(): void {
    this.call.res.off('close', this.whenClosed);
    this.live.leave();
  }

  async look(): Promise<ReturnType<typeof schemas.changesView> | this> {
    try {
      const changes = await this.changes();
      if (this.waitsAfter(changes)) return this;
      // Before the answer is sent: others have their turn while the client reads it.
      this.release();
      return schemas.changesView(changes);
    } catch (error) {
      this.release();
      throw error;
    }
  }

  private get left(): number {
    return this.live.hasEnded ? 0 : this.ends - performance.now();
  }

  private waitsAfter({ user, version, isEmpty, isRepeated }: Changes): boolean {
    if (isEmpty) this.unchanged = { user, version };
    else if (isRepeated && !this.hasChanged) this.ends = Math.min(this.ends, performance.now() + PAUSE_MS);
    else return false;
    return this.left > 0;
  }

  async settled(): Promise<void> {
    this.hasChanged = await this.live.wait(this.left);
    if (this.result === undefined) await this.live.turn({ waitMs: Math.max(0, this.left) + AFTER_WAIT_MS });
  }

  get result(): unknown {
    const { unchanged, live, hasChanged } = this;
    // When this instance stops, another one answers with what has changed.
    const isKnown = live.hasEnded || (!hasChanged && live.hears);
    return unchanged && isKnown ? schemas.unchangedView(unchanged) : undefined;
  }
}
