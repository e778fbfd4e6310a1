import type { Logger } from 'pino';
import { loggingFailures } from '../../database/failures';
import type { Horizons } from '../../database/horizons';
import { Rounds } from '../../load/rounds';
import type { EventsRepository } from './events-repository';

const EVERY_MS = 200;

interface Deps {
  events: Pick<EventsRepository, 'gather'>;
  horizons: Pick<Horizons, 'present' | 'firstUngathered'>;
  logger: Pick<Logger, 'warn'>;
}

/** Brings the events of several servers together, when there are any. On one server there is nothing to do. */
export class EventGatherer {
  private readonly rounds: Rounds;

  constructor(private readonly deps: Deps) {
    const failed = loggingFailures(deps.logger, 'events of several servers were not gathered: the next round does it');
    this.rounds = new Rounds(() => this.gather(), EVERY_MS, failed);
  }

  begin(): void {
    this.rounds.begin();
  }

  close(): void {
    this.rounds.end();
  }

  private async gather(): Promise<boolean> {
    const { events, horizons } = this.deps;
    const first = await horizons.firstUngathered();
    if (first === undefined) return false;
    const horizon = await horizons.present();
    if (first <= horizon) await events.gather(horizon);
    return false;
  }
}
