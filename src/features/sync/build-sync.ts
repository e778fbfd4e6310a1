import type { Foundation } from '../../foundation/foundation';
import { gauge } from '../../foundation/part';
import { HorizonAge } from './horizon-age';
import { LiveSyncs } from './live-syncs';
import { SyncService } from './sync-service';

const HORIZON_AGE = {
  name: 'sync_horizon_age_seconds',
  help: 'Time since this instance first saw the oldest transaction that is writing. Syncs deliver nothing newer.',
  labels: [],
};

export function buildSync({ connections, queues, logger }: Foundation) {
  const { reading, horizons, syncReads } = connections;
  const lives = new LiveSyncs(reading.readAt, queues.liveLooks, logger);
  const horizonAge = new HorizonAge(syncReads, horizons);
  return {
    lives,
    horizonAge,
    sync: new SyncService(reading, horizons, queues, lives),
    part: { workers: [lives], figures: [gauge(HORIZON_AGE, async () => [[[], await horizonAge.seconds()]])] },
  };
}
