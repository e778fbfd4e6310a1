import type { Knex } from 'knex';
import type { Logger } from 'pino';
import { Tally } from '../../base/tally';
import { loggingFailures } from '../../database/failures';
import type { SignedMessage } from '../../integrations/standard-webhooks';
import { NotTaken, type WebhookCaller } from '../../integrations/webhook-call';
import { Turns, type Note } from '../../load/turns';
import { eventsAfter, GROUP_KINDS, type Event, type Place } from '../events/events-repository';
import { LEASE, type WebhookTurn, type WebhooksRepository } from './webhooks-repository';

const EVERY_MS = 500;
/** Longest time until the place of told events is noted: a note for each takes most of the time. A crash tells them again. */
const MOVE_MS = 200;

/**
 * Tells other services of events: each webhook in the order of events, at least once. One that fails holds up only itself.
 * Instances share the work.
 */
export class Webhooks {
  readonly counts = new Tally(['webhooks done', 'webhooks failed', 'webhooks paused']);
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

  private async tell(turn: WebhookTurn, note: Note): Promise<void> {
    try {
      await this.tellAll(turn, note);
    } catch (error) {
      await note(() => this.putOff(turn, error)).catch(() => undefined);
    }
  }

  /** Tells what there is. The next round goes on. */
  private async tellAll(turn: WebhookTurn, note: Note): Promise<void> {
    // The clock of a machine may be wrong or jump, and a receiver refuses an old signature.
    const takenAt = performance.now();
    const events = await eventsAfter(this.db, turn);
    let last: Place | undefined;
    let movedAt = performance.now();
    try {
      for (const event of events) {
        if (this.turns.isClosed) break;
        const isWanted = turn.kinds.length === 0 || turn.kinds.includes(event.kind);
        if (isWanted) {
          await this.caller.send(turn, messageOf(event, turn.now + performance.now() - takenAt));
          this.counts.add('webhooks done');
        }
        last = event;
        if (performance.now() - movedAt < MOVE_MS) continue;
        if (!(await note(() => this.webhooks.move(turn, event)))) return;
        movedAt = performance.now();
      }
    } finally {
      const told = last;
      if (told) await note(() => this.webhooks.move(turn, told));
    }
    await note(() => this.webhooks.release(turn));
  }

  private async putOff(turn: WebhookTurn, error: unknown): Promise<void> {
    if (this.turns.isClosed) return this.webhooks.release(turn);
    const isGone = error instanceof NotTaken && error.isGone;
    const { isPaused, attempts } = await this.webhooks.putOff(turn, failureIn(error), isGone);
    this.counts.add(isPaused ? 'webhooks paused' : 'webhooks failed');
    const outcome = isPaused ? 'and is paused: npm run admin -- webhooks resume' : 'and is told again later';
    const line = { err: error, webhook: turn.id, attempts };
    this.logger.warn(line, `a webhook did not take an event, ${outcome}`);
  }
}

/** Returns the id by which a receiver recognises an event that it gets twice, and by which operators name it. */
export function idOf({ version, number, subject }: Place): string {
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
