import type { ReadAt } from '../../database/replica';
import { statement } from '../../database/statement';

/** A change, as migrations/0027_events tells of it. */
export interface Event {
  version: number;
  number: number;
  /** The user or the group. */
  subject: string;
  kind: string;
  /** Another user whom the change concerns, or empty. */
  other: string;
}

/** The place of an event in the order of all. */
type Place = Pick<Event, 'version' | 'number' | 'subject'>;

const MOST = 1_000;

const horizonNow = statement<{ version: number }>('events-horizon', 'SELECT sync_horizon() AS version');

/** Above the horizon an event may still be missing between two others. */
const eventsAfter = statement<Event, keyof Place>(
  'events-after',
  `SELECT version, number, subject, kind, other FROM events
    WHERE (version, number, subject) > (:version::bigint, :number::integer, :subject)
      AND version <= (SELECT sync_horizon())
    ORDER BY version, number, subject LIMIT ${MOST}`,
);

const EVERY_MS = 200;

/** Follows the events while somebody listens, by one question for all. */
export class EventTail {
  private place: Place | undefined;
  private beginning: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isRunning = false;

  constructor(
    private readonly readAt: () => ReadAt,
    private readonly heard: (events: Event[]) => Promise<void>,
  ) {}

  /** Begins, and resolves when each later change is heard of. */
  async begin(): Promise<void> {
    this.isRunning = true;
    if (!this.place) await (this.beginning ??= this.findPlace().finally(() => (this.beginning = undefined)));
    this.lookLater();
  }

  end(): void {
    this.isRunning = false;
    this.place = undefined;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private async findPlace(): Promise<void> {
    const [now] = await this.readAt()(({ reads }) => horizonNow(reads, {}));
    if (now === undefined) throw new Error('the database told no horizon');
    this.place = { version: now.version, number: 2 ** 31 - 1, subject: '' };
  }

  private lookLater(): void {
    if (this.isRunning) this.timer ??= setTimeout(() => void this.look(), EVERY_MS).unref();
  }

  private async look(): Promise<void> {
    this.timer = undefined;
    try {
      let events: Event[];
      do events = await this.next();
      while (events.length === MOST);
    } catch {
      // The connection's watch has told of an outage. The next look goes on from here.
    }
    this.lookLater();
  }

  private async next(): Promise<Event[]> {
    const { place } = this;
    if (!place) return [];
    const events = await this.readAt()(({ reads }) => eventsAfter(reads, place));
    const last = events.at(-1);
    if (!last) return events;
    await this.heard(events);
    if (this.place === place) this.place = last;
    return events;
  }
}
