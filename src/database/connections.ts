import type { Logger } from 'pino';
import { ConnectionWatch } from './connection-watch';
import { connectionOptions, knexOn, openPool, PLAN_ONCE, type StatementObserver } from './pool';
import { DatabaseProbe } from './probe';
import { SharedReads } from './shared-reads';
import { withTimeout } from '../load/timeout';

export interface DatabaseSettings {
  poolMax: number;
  /** False for a pooler that does not support prepared statements. */
  prepare: boolean;
}

const SHARED_CONNECTIONS = 2;
const SUPPORT_CONNECTIONS = 2;
/** Longest wait for connections to close, since a frozen database does not answer. */
const CLOSE_MS = 2_000;

/** Opens the connections of this process to the database, each when it is first needed. */
export function openConnections(
  url: string,
  { poolMax, prepare }: DatabaseSettings,
  logger: Logger,
  observe: StatementObserver = () => undefined,
) {
  const timed = (connections: string) => (seconds: number, statement: string, failure: unknown) =>
    observe(connections, seconds, statement, failure);
  const watch = new ConnectionWatch({
    away: (cause) => logger.error({ err: cause }, 'the database is unavailable'),
    back: (awayMs) => logger.warn({ awayMs: Math.round(awayMs) }, 'the database is available again'),
  });
  const options = { ...connectionOptions(url), watch };
  const pool = openPool(url, poolMax, watch);
  // A separate pool for limits, so that a locked account row does not stop counting, nor a locked limit the accounts.
  const countingPool = openPool(url, Math.ceil(poolMax / 2), watch, prepare ? [PLAN_ONCE] : []);
  // For statements of the admin API: slow ones take no connection from users. Opened when first needed.
  const supportPool = openPool(url, SUPPORT_CONNECTIONS, watch);
  // For small reads, each of which takes a fraction of a millisecond.
  const reads = new SharedReads(options, SHARED_CONNECTIONS, prepare, timed('reads'));
  // For sync, which reads more rows at a time and would delay the small reads.
  const syncReads = new SharedReads(options, SHARED_CONNECTIONS, prepare, timed('sync'));
  const probe = new DatabaseProbe(url, watch);
  return {
    pool,
    pools: { main: pool, counting: countingPool },
    db: knexOn(pool, prepare, timed('main')),
    counting: knexOn(countingPool, prepare, timed('counting')),
    support: knexOn(supportPool, prepare),
    reads,
    syncReads,
    probe,
    close: async () => {
      watch.close();
      const pools = [countingPool, supportPool, pool];
      const closing = [probe.close(), reads.close(), syncReads.close(), ...pools.map((one) => one.end())];
      await Promise.all(closing.map((end) => withTimeout(end, CLOSE_MS).catch(() => undefined)));
    },
  };
}
