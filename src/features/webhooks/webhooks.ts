import type { Knex } from 'knex';
import type { Logger } from 'pino';
import { commandLine } from '../../base/command-line';
import { Tally } from '../../base/tally';
import { loggingFailures } from '../../database/failures';
import type { SignedMessage } from '../../integrations/standard-webhooks';
import { NotTaken, type WebhookCaller } from '../../integrations/webhook-call';
import { LeaseWorker, type Note } from '../../load/lease-worker';
import { eventsAfter, firstAfter, GROUP_KINDS, type Event, type Cursor } from '../events/events-repository';
import { LEASE, type WebhookLease, type WebhooksRepository } from './webhooks-repository';

const EVERY_MS = 500;
/** Longest time until the cursor of told events is noted: a note for each takes most of the time. A crash tells them again. */
const MOVE_MS = 200;

/**
 * Tells other services of events: each webhook in the order of events, at least once. One that fails holds up only itself.
 * Instances share the work.
 */
export class Webhooks {
  readonly counts = new Tally(['webhooks done', 'webhooks failed', 'webhooks paused', 'webhooks set_aside']);
  private readonly worker: LeaseWorker<WebhookLease>;

  constructor(
    private readonly webhooks: WebhooksRepository,
    private readonly db: Knex,
    private readonly caller: WebhookCaller,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {
    this.worker = new LeaseWorker(
      {
        take: (most) => webhooks.take(most),
        work: (lease, note) => this.deliver(lease, note),
        failed: loggingFailures(logger, 'webhooks could not be told of events: the next round goes on'),
        leaseMs: LEASE.ms,
      },
      EVERY_MS,
    );
  }

  begin(): void {
    this.worker.begin();
  }

  async close(): Promise<void> {
    const ended = this.worker.close();
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

  private async deliver(lease: WebhookLease, note: Note): Promise<void> {
    // The clock of a machine may be wrong or jump, and a receiver refuses an old signature.
    const takenAt = performance.now();
    const send = async (event: Event) => {
      await this.caller.send(lease, messageOf(event, lease.now + performance.now() - takenAt));
      this.counts.add('webhooks done');
    };
    try {
      await this.deliverAll(lease, note, send);
    } catch (error) {
      await this.putOff(lease, error, { note, send }).catch(() => undefined);
    }
  }

  /** Tells what there is. The next round goes on. */
  private async deliverAll(lease: WebhookLease, note: Note, send: Send): Promise<void> {
    const events = await eventsAfter(this.db, lease);
    let last: Cursor | undefined;
    let hasTaken = false;
    const moveTo = (cursor: Cursor) =>
      note(() => (hasTaken ? this.webhooks.move(lease, cursor) : this.webhooks.skip(lease, cursor)));
    let movedAt = performance.now();
    try {
      for (const event of events) {
        if (this.worker.isClosed) break;
        const isWanted = lease.kinds.length === 0 || lease.kinds.includes(event.kind);
        if (isWanted) await send(event);
        hasTaken ||= isWanted;
        last = event;
        if (performance.now() - movedAt < MOVE_MS) continue;
        if (!(await moveTo(event))) return;
        movedAt = performance.now();
      }
    } finally {
      if (last) await moveTo(last);
      if (hasTaken) lease.isOverdue = false;
    }
    await note(() => this.webhooks.release(lease));
  }

  private async putOff(lease: WebhookLease, error: unknown, by: Delivery): Promise<void> {
    const isGone = error instanceof NotTaken && error.isGone;
    const lookedOn = lease.isOverdue && !isGone ? await this.lookOn(lease, error, by) : 'stays';
    if (this.worker.isClosed) return by.note(() => this.webhooks.release(lease));
    if (lookedOn === 'went on') return;
    const isOver = isGone || lookedOn === 'refuses more';
    const { isPaused, attempts } = await by.note(() => this.webhooks.putOff(lease, failureIn(error), isOver));
    this.counts.add(isPaused ? 'webhooks paused' : 'webhooks failed');
    const outcome = isPaused
      ? `and is paused: ${commandLine('admin', 'webhooks', 'resume')}`
      : 'and is told again later';
    const line = { err: error, webhook: lease.id, attempts };
    this.logger.warn(line, `a webhook did not take an event, ${outcome}`);
  }

  /**
   * After a day of failures the next event of another subject tells whether the webhook refuses all: one that cannot take
   * a user refuses each event of that user. If it takes that one, the first is tried again, since the receiver may be
   * back just now, and then set aside.
   */
  private async lookOn(lease: WebhookLease, error: unknown, { note, send }: Delivery): Promise<LookedOn> {
    const takes = async (event: Event) => {
      const isHeld = !this.worker.isClosed && (await note(() => this.webhooks.renew(lease)));
      return (
        isHeld &&
        send(event).then(
          () => true,
          () => false,
        )
      );
    };
    const [first] = await firstAfter(this.db, { ...lease, but: '' });
    const [next] = first ? await firstAfter(this.db, { ...lease, but: first.subject }) : [];
    if (!first || !next) return 'stays';
    if (!(await takes(next))) return 'refuses more';
    if (!(await takes(first))) await this.setAside(lease, first, error, note);
    else if (await note(() => this.webhooks.move(lease, first))) await note(() => this.webhooks.release(lease));
    return 'went on';
  }

  private async setAside(lease: WebhookLease, first: Event, error: unknown, note: Note): Promise<void> {
    const given = { event: idOf(first), reason: failureIn(error) };
    if (this.worker.isClosed || !(await note(() => this.webhooks.setAside(lease, first, given)))) return;
    this.counts.add('webhooks set_aside');
    const line = { err: error, webhook: lease.id, event: given.event };
    this.logger.warn(line, 'a webhook refuses an event and takes a later one: this one is set aside');
  }
}

type Send = (event: Event) => Promise<void>;

/** Outcome of the next event, for a webhook that has failed for a day. */
type LookedOn = 'stays' | 'refuses more' | 'went on';

interface Delivery {
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
