import type { Logger } from 'pino';
import { Rounds } from '../../load/rounds';
import { isOutage } from '../../database/outage';
import type { EventsRepository } from './events-repository';

const EVERY_MS = 200;

interface Parts {
  events: Pick<EventsRepository, 'gather'>;
  /** The horizon of several servers. */
  horizons: { present(): Promise<number> };
  /** Whether users and groups are on several servers. */
  isDistributed: () => boolean;
  logger: Pick<Logger, 'error'>;
}

/** Brings the events of several servers together. On one server there is nothing to do. */
export class EventGatherer {
  private readonly rounds = new Rounds(() => this.gather(), EVERY_MS);

  constructor(private readonly parts: Parts) {}

  begin(): void {
    this.rounds.begin();
  }

  close(): void {
    this.rounds.end();
  }

  private async gather(): Promise<boolean> {
    const { events, horizons, isDistributed, logger } = this.parts;
    if (!isDistributed()) return false;
    try {
      await events.gather(await horizons.present());
    } catch (error) {
      // An outage is told of by the connection's watch. After the end the pool is closed.
      if (this.rounds.isOn && !isOutage(error))
        logger.error({ err: error }, 'events of several servers were not gathered: the next round does it');
    }
    return false;
  }
}
