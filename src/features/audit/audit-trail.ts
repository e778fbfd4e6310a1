import { withinPatience } from '../../patience';
import type { LimitsRepository } from '../limits/limits-repository';
import type { Caller } from './caller';
import type { SecurityEvent, SecurityEventsRepository } from './security-events-repository';

/** Of what anybody may repeat without end, so much is kept of one address and event: more of the same are no news. */
const KEPT_AN_HOUR = 20;
/** A trail that can't be written to must not keep anybody waiting. */
const PATIENCE_MS = 1_000;

/**
 * Notes security events beside what they tell of: a trail that can't be written to fails nobody's request, and is told
 * of in the log. What changes an account notes its event by the repository, in the transaction of the change.
 */
export class AuditTrail {
  constructor(
    private readonly events: SecurityEventsRepository,
    private readonly buckets: LimitsRepository,
    private readonly warn: (message: string, cause: unknown) => void,
  ) {}

  async note(event: SecurityEvent, caller: Caller): Promise<void> {
    await this.attempt(event, this.events.add(event, caller));
  }

  async noteSparingly(event: SecurityEvent, caller: Caller): Promise<void> {
    await this.attempt(event, this.addSparingly(event, caller));
  }

  private async addSparingly(event: SecurityEvent, caller: Caller): Promise<void> {
    const key = `noted:${event.event}:${caller.address}`;
    const taken = await this.buckets.take([{ key, amount: KEPT_AN_HOUR, seconds: 3_600 }]);
    if (taken.length > 0) await this.events.add(event, caller);
  }

  private async attempt({ event }: SecurityEvent, noting: Promise<void>): Promise<void> {
    try {
      await withinPatience(noting, PATIENCE_MS);
    } catch (error) {
      this.warn(`the audit trail may lack an event: ${event}`, error);
    }
  }
}
