import type { Knex } from 'knex';
import { deleteInBatches } from '../../database/delete-in-batches';

/** Events of the last hour. */
export class EventsRepository {
  constructor(private readonly db: Knex) {}

  /** By time, since a version does not tell how old it is. Instances that follow events are only moments behind. */
  async sweep(): Promise<void> {
    await deleteInBatches(this.db, 'events', `at < now() - interval '1 hour'`);
  }
}
