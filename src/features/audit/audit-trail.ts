import type { Limit } from '../limits/limits';
import type { LimitsRepository } from '../limits/limits-repository';
import type { Caller } from './caller';
import type { SecurityEvent, SecurityEventsRepository } from './security-events-repository';

/**
 * Notes security events beside what they tell of: a trail that can't be written to fails nobody's request, and is told
 * of in the log. What changes an account notes its event by the repository, in the transaction of the change.
 */
export class AuditTrail {
  constructor(
    private readonly events: SecurityEventsRepository,
    private readonly buckets: LimitsRepository,
    private readonly refusalsNoted: Limit,
    private readonly warn: (message: string, cause: unknown) => void,
  ) {}

  async note(event: SecurityEvent, caller: Caller): Promise<void> {
    try {
      await this.events.add(event, caller);
    } catch (error) {
      this.warn(`the audit trail lacks an event: ${event.event}`, error);
    }
  }

  /** For what anybody may repeat without end: after some of one address, more of the same are no news. */
  async noteRefusal(event: SecurityEvent, caller: Caller): Promise<void> {
    const { name, amount, seconds } = this.refusalsNoted;
    try {
      const taken = await this.buckets.take([{ key: `${name}:${caller.address}`, amount, seconds }]);
      if (taken.length > 0) await this.events.add(event, caller);
    } catch (error) {
      this.warn(`the audit trail lacks an event: ${event.event}`, error);
    }
  }
}
