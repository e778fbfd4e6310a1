import { isDistributed } from '../../database/statement';
import type { Foundation } from '../../foundation/foundation';
import { EventGatherer } from './event-gatherer';
import type { EventsRepository } from './events-repository';

/** `days`: how long events are kept. */
export function buildEvents({ repos, connections, logger }: Foundation<{ events: EventsRepository }>, days: number) {
  const { db, horizons } = connections;
  const { events } = repos;
  const gatherer = new EventGatherer({ events, horizons, isDistributed: () => isDistributed(db), logger });
  return { part: { workers: [gatherer], sweeps: [{ name: 'told', run: () => events.sweep(days) }] } };
}
