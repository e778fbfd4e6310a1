import type { Foundation } from '../../foundation/foundation';
import { EventGatherer } from './event-gatherer';
import type { EventsRepository } from './events-repository';

/** `days`: how long events are kept. */
export function buildEvents({ repos, connections, logger }: Foundation<{ events: EventsRepository }>, days: number) {
  const { events } = repos;
  const gatherer = new EventGatherer({ events, horizons: connections.horizons, logger });
  return { part: { workers: [gatherer], sweeps: [{ name: 'events', run: () => events.sweep(days) }] } };
}
