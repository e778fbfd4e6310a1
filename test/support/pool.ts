import type { Knex } from 'knex';
import type { Pool, PoolClient } from 'pg';
import { ConnectionWatch } from '../../src/database/connection-watch';
import { knexOn, openPool } from '../../src/database/pool';
import { PATIENCE } from './patience';

export interface TestPool {
  db: Knex;
  pool: Pool;
  watch: ConnectionWatch;
  close: () => Promise<void>;
}

/** Opens the service's kind of pool on a database, without the rest of the service. */
export function testPool(url: string, max: number, watch = quietWatch()): TestPool {
  const pool = openPool(url, max, watch);
  const busy = new Set<PoolClient>();
  pool.on('acquire', (client) => busy.add(client));
  pool.on('release', (_error, client) => busy.delete(client));
  const close = async () => {
    // A test that failed may have left a transaction open: it would hold back the syncs of all other tests.
    for (const client of busy) client.release(true);
    await pool.end();
    watch.close();
  };
  return { db: knexOn(pool, { prepare: true }), pool, watch, close };
}

export function quietWatch(patience = PATIENCE): ConnectionWatch {
  return new ConnectionWatch({ away: () => undefined, back: () => undefined }, patience);
}
