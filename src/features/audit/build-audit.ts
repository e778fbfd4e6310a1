import type { Foundation } from '../../foundation/foundation';
import { tallied } from '../../foundation/part';
import type { Limiter } from '../limits/limiter';
import type { LimitsRepository } from '../limits/limits-repository';
import { AuditTrail } from './audit-trail';
import { KnownPlaces } from './known-places';
import { SecurityEventsRepository } from './security-events-repository';

type Needs = Foundation<{ securityEvents: SecurityEventsRepository }> & { buckets: LimitsRepository; limiter: Limiter };

const MISSING = {
  name: 'audit_missing_events_total',
  help: 'Security events that could not be written.',
  labels: ['event'],
};

/** `days`: how long events are kept. */
export function buildAudit(needs: Needs, days: number) {
  const { repos, connections, background, logger, patience, buckets, limiter } = needs;
  // On connections of their own, which a locked account row does not stop.
  const counting = new SecurityEventsRepository(connections.counting);
  const audit = new AuditTrail(counting, buckets, logger, background.securityEvents, patience);
  limiter.onMet((use, caller) => audit.noteLimitMet(use, caller));
  const sweeps = [{ name: 'security_events', run: () => repos.securityEvents.sweep(days) }];
  return {
    audit,
    knownPlaces: new KnownPlaces(repos.securityEvents, patience),
    part: { sweeps, figures: [tallied(MISSING, audit.missing)] },
  };
}
