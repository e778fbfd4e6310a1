import type { Logger } from 'pino';
import { loggingFailures } from '../../database/failures';
import type { ReadAt } from '../../database/replica';
import { statement } from '../../database/statement';
import { Rounds } from '../../load/rounds';
import { eventsAfter, MOST_EVENTS, type Event, type Cursor } from './events-repository';

const horizonNow = statement<{ version: number }>('events-horizon', 'SELECT sync_horizon() AS version');

const EVERY_MS = 200;
/** Age of the last look at which events may have been missed, such as while the database is away. */
const OLD_MS = 2_000;

/** Follows the events while somebody listens, by one question for all. */
export class EventTail {
  /** The highest version of an event that was heard of. */
  heardUntil = 0;
  private cursor: Cursor | undefined;
  private seenAt = -Infinity;
  private beginning: Promise<void> | undefined;
  private readonly rounds: Rounds;

  constructor(
    private readonly readAt: () => ReadAt,
    private readonly heard: (events: Event[]) => Promise<void>,
    logger: Pick<Logger, 'warn'>,
  ) {
    const failed = loggingFailures(logger, 'events could not be read for syncs that wait: the next round goes on');
    this.rounds = new Rounds(() => this.read(), EVERY_MS, failed);
  }

  /** Begins, and resolves when each later change is heard of. */
  async begin(): Promise<void> {
    if (!this.cursor) await (this.beginning ??= this.findCursor().finally(() => (this.beginning = undefined)));
    this.rounds.begin();
  }

  /** Whether everything was heard of until a moment ago. */
  get isUpToDate(): boolean {
    return performance.now() - this.seenAt < OLD_MS;
  }

  end(): void {
    this.cursor = undefined;
    this.rounds.end();
  }

  private async findCursor(): Promise<void> {
    const [now] = await this.readAt()(({ reads }) => horizonNow(reads, {}));
    if (now === undefined) throw new Error('the database told no horizon');
    this.heardUntil = Math.max(this.heardUntil, now.version);
    this.cursor = { version: now.version, number: 2 ** 31 - 1, subject: '' };
  }

  /** After a failure it goes on where it was. */
  private async read(): Promise<boolean> {
    const { cursor } = this;
    if (!cursor) return false;
    const begun = performance.now();
    const events = await this.readAt()(({ reads }) => eventsAfter(reads, cursor));
    const last = events.at(-1);
    this.heardUntil = Math.max(this.heardUntil, last?.version ?? 0);
    if (last) await this.heard(events);
    if (last && this.cursor === cursor) this.cursor = last;
    const isMore = events.length === MOST_EVENTS;
    if (!isMore) this.seenAt = begun;
    return isMore;
  }
}
