import type { Knex } from 'knex';
import type { Logger } from 'pino';
import { commandLine } from '../../base/command-line';
import { Tally } from '../../base/tally';
import { loggingFailures } from '../../database/failures';
import type { SignedMessage } from '../../integrations/standard-webhooks';
import { NotTaken, type WebhookCaller } from '../../integrations/webhook-call';
import { Turns, type Note } from '../../load/turns';
import { eventsAfter, firstAfter, GROUP_KINDS, type Event, type Cursor } from '../events/events-repository';
import { LEASE, type WebhookTurn, type WebhooksRepository } from './webhooks-repository';

const EVERY_MS = 500;
/** Longest time until the cursor of told events is noted: a note for each takes most of the time. A crash tells them again. */
const MOVE_MS = 200;

/**
 * Tells other services of events: each webhook in the order of events, at least once. One that fails holds up only itself.
 * Instances share the work.
 */
export class Webhooks {
  readonly counts = new Tally(['webhooks done', 'webhooks failed', 'webhooks paused', 'webhooks set_aside']);
  private readonly turns: Turns<WebhookTurn>;

  constructor(
    private readonly webhooks: WebhooksRepository,
    private readonly db: Knex,
    private readonly caller: WebhookCaller,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {
    this.turns = new Turns(
      {
        take: (most) => webhooks.take(most),
        work: (turn, note) => this.tell(turn, note),
        failed: loggingFailures(logger, 'webhooks could not be told of events: the next round goes on'),
        leaseMs: LEASE.ms,
      },
      EVERY_MS,
    );
  }

  begin(): void {
    this.turns.begin();
  }

  async close(): Promise<void> {
    const ended = this.turns.close();
    // Cuts off what is being sent. It is sent again by another instance.
    this.caller.close();
    await ended;
  }

  /** Sends an event that only tests the receiver. Throws `NotTaken`. */
  async test(id: string): Promise<boolean> {
    const receiver = await this.webhooks.receiver(id);
    if (!receiver) return false;
    const at = receiver.now;
    const body = JSON.stringify({ type: 'webhook.test', timestamp: new Date(at).toISOString(), data: {} });
    await this.caller.send(receiver, { id: `test-${Math.round(at)}`, body, at });
    return true;
  }

  /** Tells a webhook this event only, whether it was set aside or not. Returns false if it is not kept. Throws `NotTaken`. */
  async replayOne(id: string, cursor: Pick<Cursor, 'version' | 'number'>, eventId: string): Promise<boolean> {
    const receiver = await this.webhooks.receiver(id);
    if (!receiver) return false;
    // Events of several subjects may have one version and number.
    const event = (await eventsAfter(this.db, { ...cursor, subject: '' })).find((one) => idOf(one) === eventId);
    if (event) await this.caller.send(receiver, messageOf(event, receiver.now));
    await this.webhooks.takeUp(id, eventId);
    return event !== undefined;
  }

  private async tell(turn: WebhookTurn, note: Note): Promise<void> {
    // The clock of a machine may be wrong or jump, and a receiver refuses an old signature.
    const takenAt = performance.now();
    const send = async (event: Event) => {
      await this.caller.send(turn, messageOf(event, turn.now + performance.now() - takenAt));
      this.counts.add('webhooks done');
    };
    try {
      await this.tellAll(turn, note, send);
    } catch (error) {
      await this.putOff(turn, error, { note, send }).catch(() => undefined);
    }
  }

  /** Tells what there is. The next round goes on. */
  private async tellAll(turn: WebhookTurn, note: Note, send: Send): Promise<void> {
    const events = await eventsAfter(this.db, turn);
    let last: Cursor | undefined;
    let hasTaken = false;
    const moveTo = (cursor: Cursor) =>
      note(() => (hasTaken ? this.webhooks.move(turn, cursor) : this.webhooks.skip(turn, cursor)));
    let movedAt = performance.now();
    try {
      for (const event of events) {
        if (this.turns.isClosed) break;
        const isWanted = turn.kinds.length === 0 || turn.kinds.includes(event.kind);
        if (isWanted) await send(event);
        hasTaken ||= isWanted;
        last = event;
        if (performance.now() - movedAt < MOVE_MS) continue;
        if (!(await moveTo(event))) return;
        movedAt = performance.now();
      }
    } finally {
      if (last) await moveTo(last);
      if (hasTaken) turn.isOverdue = false;
    }
    await note(() => this.webhooks.release(turn));
  }

  private async putOff(turn: WebhookTurn, error: unknown, by: Telling): Promise<void> {
    const isGone = error instanceof NotTaken && error.isGone;
    const lookedOn = turn.isOverdue && !isGone ? await this.lookOn(turn, error, by) : 'stays';
    if (this.turns.isClosed) return by.note(() => this.webhooks.release(turn));
    if (lookedOn === 'went on') return;
    const isOver = isGone || lookedOn === 'refuses more';
    const { isPaused, attempts } = await by.note(() => this.webhooks.putOff(turn, failureIn(error), isOver));
    this.counts.add(isPaused ? 'webhooks paused' : 'webhooks failed');
    const outcome = isPaused
      ? `and is paused: ${commandLine('admin', 'webhooks', 'resume')}`
      : 'and is told again later';
    const line = { err: error, webhook: turn.id, attempts };
    this.logger.warn(line, `a webhook did not take an event, ${outcome}`);
  }

  /**
   * After a day of failures the next event of another subject tells whether the webhook refuses all: one that cannot take
   * a user refuses each event of that user. If it takes that one, the first is tried again, since the receiver may be
   * back just now, and then set aside.
   */
  private async lookOn(turn: WebhookTurn, error: unknown, { note, send }: Telling): Promise<LookedOn> {
    const takes = async (event: Event) => {
      const isHeld = !this.turns.isClosed && (await note(() => this.webhooks.renew(turn)));
      return (
        isHeld &&
        send(event).then(
          () => true,
          () => false,
        )
      );
    };
    const [first] = await firstAfter(this.db, { ...turn, but: '' });
    const [next] = first ? await firstAfter(this.db, { ...turn, but: first.subject }) : [];
    if (!first || !next) return 'stays';
    if (!(await takes(next))) return 'refuses more';
    if (!(await takes(first))) await this.setAside(turn, first, error, note);
    else if (await note(() => this.webhooks.move(turn, first))) await note(() => this.webhooks.release(turn));
    return 'went on';
  }

  private async setAside(turn: WebhookTurn, first: Event, error: unknown, note: Note): Promise<void> {
    const given = { event: idOf(first), reason: failureIn(error) };
    if (this.turns.isClosed || !(await note(() => this.webhooks.setAside(turn, first, given)))) return;
    this.counts.add('webhooks set_aside');
    const line = { err: error, webhook: turn.id, event: given.event };
    this.logger.warn(line, 'a webhook refuses an event and takes a later one: this one is set aside');
  }
}

type Send = (event: Event) => Promise<void>;

/** Outcome of the next event, for a webhook that has failed for a day. */
type LookedOn = 'stays' | 'refuses more' | 'went on';

interface Telling {
  note: Note;
  send: Send;
}

/** Returns the id by which a receiver recognises an event that it gets twice, and by which operators name it. */
export function idOf({ version, number, subject }: Cursor): string {
  return `${version}-${number}-${subject}`;
}

function messageOf(event: Event, at: number): SignedMessage {
  const { kind: type, at: timestamp } = event;
  return { id: idOf(event), body: JSON.stringify({ type, timestamp, data: dataOf(event) }), at };
}

function dataOf({ kind, subject, other, what }: Event): Record<string, string> {
  const isOfGroup = GROUP_KINDS.includes(kind);
  const who = isOfGroup ? { groupId: subject } : { userId: subject };
  const whom = other === '' ? {} : { [isOfGroup ? 'memberId' : 'friendId']: other };
  return { ...who, ...whom, ...(what !== '' && { what }) };
}

function failureIn(error: unknown): string {
  return error instanceof NotTaken ? error.message : 'an error of this service';
}
