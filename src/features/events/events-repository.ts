import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';

/** Events of the last hour. */
export class EventsRepository {
  constructor(private readonly db: Knex) {}

  /** Instances that follow events are only moments behind. */
  async sweep(): Promise<void> {
    await deleteInBatches(this.db, 'events', `version < (SELECT sync_clock()) - 3600000000`);
  }
}
