import type { Logger } from 'pino';
import type { Caller } from '../../caller';
import { withTimeout } from '../../database/timeout';
import { networksOf } from '../../http/client-address';
import type { Use } from '../limits/limiter';
import type { LimitsRepository } from '../limits/limits-repository';
import type { SecurityEvent, SecurityEventsRepository } from './security-events-repository';

/** So many events of one kind and address, of those that anybody can repeat without end. */
const KEPT_AN_HOUR = 20;
/** Longest wait of a request for the trail. */
const NOTE_MS = 1_000;

/**
 * Notes security events beside the requests that cause them: when an event cannot be noted, the request goes on, and
 * the log tells. A change of an account notes its event by the repository, in its own transaction.
 */
export class AuditTrail {
  constructor(
    private readonly events: SecurityEventsRepository,
    private readonly buckets: LimitsRepository,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  async note(event: SecurityEvent, caller: Caller): Promise<void> {
    await this.attempt(event, this.events.add(event, caller));
  }

  /** For events that anybody can repeat without end. */
  async noteUpToLimit(event: SecurityEvent, caller: Caller): Promise<void> {
    await this.attempt(event, this.addUpToLimit(event, caller));
  }

  async noteLimitMet({ limit, subject }: Use, caller: Caller): Promise<void> {
    const [phone = ''] = subject.split(' ');
    const whose = {
      ...(limit.per.startsWith('phone') && { phone: { number: phone } }),
      ...(limit.per === 'user' && { userId: subject }),
    };
    await this.note({ event: 'limit_met', detail: limit.name, ...whose }, caller);
  }

  private async addUpToLimit(event: SecurityEvent, caller: Caller): Promise<void> {
    const buckets = networksOf(caller.address).map(({ network, times }) => ({
      key: `noted:${event.event}:${network}`,
      amount: times * KEPT_AN_HOUR,
      seconds: 3_600,
    }));
    const taken = await this.buckets.take(buckets);
    if (taken.length === buckets.length) await this.events.add(event, caller);
  }

  private async attempt({ event }: SecurityEvent, noting: Promise<void>): Promise<void> {
    try {
      await withTimeout(noting, NOTE_MS);
    } catch (error) {
      this.logger.warn({ err: error }, `the audit trail may lack an event: ${event}`);
    }
  }
}
