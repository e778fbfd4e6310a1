import type { Logger } from 'pino';
import { Tally } from '../../base/tally';
import type { Follower } from '../../integrations/messaging/messaging-provider';
import { Rounds } from '../../load/rounds';
import type { MessagingChangesRepository, Turn } from './messaging-changes-repository';

const EVERY_MS = 200;
/** Users and groups of which an instance tells at once. */
const MOST_AT_ONCE = 10;
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
  private isClosed = false;
  /** Failures since the last warning, and its time. */
  private failures = 0;
  private warnedAt = -Infinity;
  private readonly running = new Set<Promise<void>>();
  private readonly rounds = new Rounds(() => this.round(), EVERY_MS);

  constructor(
    private readonly follower: Follower | undefined,
    private readonly changes: MessagingChangesRepository,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  begin(): void {
    if (this.follower) this.rounds.begin();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.rounds.end();
    await Promise.all(this.running);
  }

  /** Tells now of all that is due. */
  async flush(): Promise<void> {
    if (!this.follower) return;
    await this.rounds.now();
    while (this.running.size > 0) {
      await Promise.all(this.running);
      await this.rounds.now();
    }
  }

  /** Returns whether there is more to read. */
  private async round(): Promise<boolean> {
    const { follower, changes } = this;
    if (!follower) return false;
    if (!this.hasBegun) await changes.beginReading();
    this.hasBegun = true;
    const isMore = await changes.readOn(follower.kinds);
    const turns = await changes.take(MOST_AT_ONCE - this.running.size);
    for (const turn of this.isClosed ? [] : turns) {
      const telling = this.tell(follower, turn).finally(() => {
        this.running.delete(telling);
        this.rounds.again();
      });
      this.running.add(telling);
    }
    return isMore;
  }

  private async tell(follower: Follower, turn: Turn): Promise<void> {
    const renewing = setInterval(() => void this.changes.renew(turn).catch(() => undefined), RENEW_MS).unref();
    try {
      const changes = await this.changes.changes(turn.subject);
      await follower.follow(turn.subject, changes);
      await this.changes.done(turn, changes.at(-1));
      this.counts.add('messaging done');
    } catch (error) {
      await this.putOff(turn, error).catch(() => undefined);
    } finally {
      clearInterval(renewing);
    }
  }

  /** After days the changes are given up. A later change of the same user or group is told again. */
  private async putOff(turn: Turn, error: unknown): Promise<void> {
    const isOver = await this.changes.putOff(turn);
    this.counts.add(isOver ? 'messaging given_up' : 'messaging failed');
    if (isOver) await this.changes.done(turn, (await this.changes.changes(turn.subject)).at(-1));
    this.failures += 1;
    if (!isOver && performance.now() - this.warnedAt < WARN_MS) return;
    const outcome = isOver ? 'for days, and is not told any more' : 'and is told again later';
    const line = { err: error, attempts: turn.attempts, count: this.failures };
    this.logger.warn(line, `the messaging provider did not take a change ${outcome}`);
    this.failures = 0;
    this.warnedAt = performance.now();
  }
}
