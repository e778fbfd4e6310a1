import type { Knex } from 'knex';
import { otherServers } from './database';
import { until } from './until';

/** Ends the statements that wait for a lock, as their time limit does. */
export async function cancelWaiting(db: Knex): Promise<void> {
  await db.raw(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`);
}

/** Waits until this number of the database's connections wait for a lock. */
export async function untilWaiting(db: Knex, count: number): Promise<void> {
  const waiting = `SELECT count(*) AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  const onAll = `SELECT sum(result::integer) AS n FROM run_command_on_all_nodes($$${waiting}$$)`;
  await until(async () => {
    const { rows } = await db.raw<{ rows: { n: number }[] }>(otherServers().length > 0 ? onAll : waiting);
    return (rows[0]?.n ?? 0) >= count;
  });
}
