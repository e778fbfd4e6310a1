import type { Knex } from 'knex';
import { until } from './until';

/** Waits until this number of the database's connections wait for a lock. */
export async function untilWaiting(db: Knex, count: number): Promise<void> {
  await until(async () => {
    const { rows } = await db.raw<{ rows: unknown[] }>(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length >= count;
  });
}
