import type { Logger } from 'pino';
import { Tally } from '../../base/tally';
import { loggingFailures } from '../../database/failures';
import type { Follower } from '../../integrations/messaging/messaging-provider';
import { mayBeLate } from '../../integrations/post';
import { LeaseWorker, type Note } from '../../load/lease-worker';
import {
  LEASE,
  type KeptChange,
  type MessagingChangesRepository,
  type TurnLease,
} from './messaging-changes-repository';
import type { MessagingCopy } from './messaging-copy';

const EVERY_MS = 200;
/** After an outage thousands fail again and again. */
const WARN_MS = 60_000;
/** Some calls after another can take longer than a lease, though each has a deadline. */
const RENEW_MS = 5_000;

/**
 * Tells a messaging server of changes, from the events: at least once, those of one user or group in their order, and until
 * the server takes them. Instances share the work.
 */
export class MessagingUpdates {
  readonly counts = new Tally(['messaging done', 'messaging failed', 'messaging given_up']);
  private hasBegun = false;
  /** Failures since the last warning, and its time. */
  private failures = 0;
  private warnedAt = -Infinity;
  private readonly worker: LeaseWorker<TurnLease> | undefined;

  constructor(
    follower: Follower | undefined,
    private readonly changes: MessagingChangesRepository,
    private readonly copy: MessagingCopy,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {
    this.worker =
      follower &&
      new LeaseWorker(
        {
          before: () => this.readOn(follower),
          take: (most) => changes.take(most),
          work: (lease, note) => this.deliver(follower, lease, note),
          failed: loggingFailures(
            logger,
            'the messaging provider could not be told of changes: the next round goes on',
          ),
          leaseMs: LEASE.ms,
        },
        EVERY_MS,
      );
  }

  begin(): void {
    this.worker?.begin();
  }

  async close(): Promise<void> {
    await this.worker?.close();
  }

  /** Tells now of all that is due. */
  async flush(): Promise<void> {
    await this.worker?.now();
  }

  /** Returns for how many seconds changes have waited. Without a provider that is told, none do. */
  async secondsWaiting(): Promise<number> {
    return this.worker ? this.changes.secondsWaiting() : 0;
  }

  /** Returns whether there is more to read. */
  private async readOn(follower: Follower): Promise<boolean> {
    if (!this.hasBegun) await this.changes.beginReading();
    this.hasBegun = true;
    const { isMore, isCopying, now } = await this.changes.readOn(follower.kinds);
    follower.setTime(now);
    return (isCopying && (await this.copy.goOn())) || isMore;
  }

  private async deliver(follower: Follower, lease: TurnLease, note: Note): Promise<void> {
    const renewing = setInterval(() => void this.changes.renew(lease).catch(() => undefined), RENEW_MS).unref();
    let changes: KeptChange[] = [];
    try {
      changes = await this.changes.changes(lease.subject);
      await follower.follow(lease.subject, changes);
      await note(() => this.changes.done(lease, changes));
      this.counts.add('messaging done');
    } catch (error) {
      const left = await note(() => this.putOff(lease, changes, error)).catch(() => changes);
      // The provider may still do it, after the next attempt has succeeded.
      if (mayBeLate(error)) await note(() => this.lookAgain(follower, lease, left)).catch(() => undefined);
    } finally {
      clearInterval(renewing);
    }
  }

  private async lookAgain({ copiedKinds }: Follower, { subject }: TurnLease, changes: KeptChange[]): Promise<void> {
    const copied = changes.filter(({ kind }) => copiedKinds.includes(kind));
    if (copied.length > 0) await this.changes.lookAgain(subject, copied);
  }

  /**
   * Changes that are days old are given up, and the others are returned. A later change of the same user or group is told
   * again.
   */
  private async putOff(lease: TurnLease, changes: KeptChange[], error: unknown): Promise<KeptChange[]> {
    const old = await this.changes.putOff(lease, changes);
    const isOver = old.length > 0;
    if (isOver) await this.changes.done(lease, old);
    this.countFailure(lease, isOver, error);
    return changes.filter((change) => !old.includes(change));
  }

  private countFailure({ attempts }: TurnLease, isOver: boolean, error: unknown): void {
    this.counts.add(isOver ? 'messaging given_up' : 'messaging failed');
    this.failures += 1;
    if (!isOver && performance.now() - this.warnedAt < WARN_MS) return;
    const outcome = isOver ? 'for days, and is not told any more' : 'and is told again later';
    const line = { err: error, attempts, count: this.failures };
    this.logger.warn(line, `the messaging provider did not take a change ${outcome}`);
    this.failures = 0;
    this.warnedAt = performance.now();
  }
}
