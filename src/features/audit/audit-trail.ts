import type { Logger } from 'pino';
import type { Caller } from '../../base/caller';
import { networksOf } from '../../base/networks';
import { Tally } from '../../base/tally';
import type { Background } from '../../load/background';
import { withTimeout } from '../../load/timeout';
import type { LimitMet } from '../limits/limiter';
import type { LimitsRepository } from '../limits/limits-repository';
import type { Phone } from '../phones/phone-number';
import { SECURITY_EVENTS, type SecurityEvent, type SecurityEventsRepository } from './security-events-repository';

/** Maximum events of one kind per hour and address, or user, of those that anybody can repeat without end. */
const KEPT_AN_HOUR = 20;
/** Longest time that a request waits for the trail. */
const NOTE_MS = 1_000;

/**
 * Notes security events without failing the requests that cause them: an event that cannot be noted is logged. Changes
 * of an account note their events through the repository, in the same transaction.
 */
export class AuditTrail {
  /** Events that could not be noted, by kind. */
  readonly missing = new Tally(SECURITY_EVENTS);

  constructor(
    private readonly events: SecurityEventsRepository,
    private readonly buckets: LimitsRepository,
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly background: Background,
    private readonly patience = 1,
  ) {}

  async note(event: SecurityEvent, caller: Caller): Promise<void> {
    await this.attempt(event, this.events.add(event, caller));
  }

  /** Notes the command of an operator, or fails. */
  async noteOperator(detail: string, userId: string | undefined, caller: Caller): Promise<void> {
    await this.events.add({ event: 'operator', detail, ...(userId && { userId }) }, caller);
  }

  /** Notes events that anybody can repeat without end, up to a limit per user, or per address without a user. */
  async noteUpToLimit(event: SecurityEvent, caller: Caller): Promise<void> {
    await this.attempt(event, this.addUpToLimit(event, caller));
  }

  /**
   * Notes the event after the answer, whose time must not reveal whether the phone has an account. A limit keeps
   * failures of an account few. Phones without an account have no such limit.
   */
  noteLoginFailed(phone: Phone, userId: string | undefined, caller: Caller): void {
    const event = { event: 'login_failed', userId, phone, detail: 'login' } as const;
    const add = () => (userId === undefined ? this.addUpToLimit(event, caller) : this.events.add(event, caller));
    this.background.run(() => this.counting(event, add()), warningFor(event));
  }

  async noteLimitMet({ limit, subject }: Parameters<LimitMet>[0], caller: Caller): Promise<void> {
    const [whom = ''] = subject.split(' ');
    const whose = {
      ...(limit.per.startsWith('phone') && { phone: { number: whom } }),
      ...((limit.per === 'user' || limit.per === 'device') && { userId: whom }),
    };
    await this.note({ event: 'limit_met', detail: limit.name, ...whose }, caller);
  }

  private async addUpToLimit(event: SecurityEvent, caller: Caller): Promise<void> {
    const { userId } = event;
    const subjects = userId === undefined ? networksOf(caller.address) : [{ network: userId, times: 1 }];
    const buckets = subjects.map(({ network, times }) => ({
      key: `noted:${event.event}:${network}`,
      amount: times * KEPT_AN_HOUR,
      seconds: 3_600,
    }));
    const taken = await this.buckets.take(buckets);
    if (taken.length === buckets.length) await this.events.add(event, caller);
  }

  private async attempt(event: SecurityEvent, noting: Promise<void>): Promise<void> {
    try {
      await this.counting(event, withTimeout(noting, this.patience * NOTE_MS));
    } catch (error) {
      this.logger.warn({ err: error }, warningFor(event));
    }
  }

  private async counting({ event }: SecurityEvent, noting: Promise<void>): Promise<void> {
    try {
      await noting;
    } catch (error) {
      this.missing.add(event);
      throw error;
    }
  }
}

function warningFor({ event }: SecurityEvent): string {
  return `the audit trail may lack an event: ${event}`;
}
