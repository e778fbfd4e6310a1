import { Client, type ClientConfig } from 'pg';
import type { Logger } from 'pino';
import { ConnectionWatch, type Listener } from './connection-watch';
import { Horizons } from './horizons';
import { connectionOptions, HAS_CITUS, knexOn, openPool, PLAN_ONCE, type StatementObserver, type Took } from './pool';
import { isOutage } from './outage';
import { DatabaseProbe } from './probe';
import { Replica, type ReadAt, type Reading, type Server } from './replica';
import { SharedReads } from './shared-reads';
import type { Usage } from './statement';
import { checkDeadline } from '../load/attempt';
import { withTimeout } from '../load/timeout';

export interface DatabaseSettings {
  poolMax: number;
  /** False for a pooler that does not support prepared statements. */
  prepare: boolean;
  /** Maximum difference of the clocks of several servers. */
  clocksApartMs: number;
  /** A standby for sync, export and long lists, and the most bytes that it may be behind. */
  replica?: { url: string; mostBehind: number } | undefined;
  /** The database of limits, if it is another one. */
  limitsUrl?: string | undefined;
  /** Factor of all time limits. */
  patience?: number | undefined;
}

const SHARED_CONNECTIONS = 2;
const SUPPORT_CONNECTIONS = 2;
/** Factor of the silence that slow connections may keep: longer than their statements may take. */
const SLOW = 8;
/** Longest wait for connections to close, since a frozen database does not answer. */
const CLOSE_MS = 2_000;

/** Opens the connections of this process to the database, each when it is first needed. */
export function openConnections(
  url: string,
  { poolMax, prepare, clocksApartMs, replica: standby, limitsUrl, patience }: DatabaseSettings,
  logger: Logger,
  observe: StatementObserver = () => undefined,
) {
  // All connections share it: once the database has answered, it tells where users and groups are.
  const usage: Usage = { prepare };
  const stop = new AbortController();
  const timed = (connections: string) => (seconds: number, statement: string, failure: unknown) =>
    observe(connections, seconds, statement, failure);
  const watched = (name: string) => watchOf(name, logger, patience);
  const watch = watched('the database');
  const options = { ...connectionOptions(url, patience), watch };
  const pool = openPool(url, poolMax, watch);
  // A separate pool for limits, so that a locked account row does not stop counting, nor a locked limit the accounts.
  const countingMax = Math.ceil(poolMax / 2);
  const planOnce = prepare ? [PLAN_ONCE] : [];
  const countingPool = openPool(url, countingMax, watch, planOnce);
  const { limitsPool, limitsWatch } = openLimits(limitsUrl, countingMax, planOnce, watched);
  // For statements of the admin API: slow ones take no connection from users. Opened when first needed.
  const supportPool = openPool(url, SUPPORT_CONNECTIONS, watch);
  // For the sweep of closed accounts, whose statements may be slow. Opened when first needed.
  const slowWatch = new ConnectionWatch({ away: () => undefined, back: () => undefined }, SLOW * (patience ?? 1), 0);
  const slowPool = openPool(url, 1, slowWatch);
  // For small reads, each of which takes a fraction of a millisecond.
  const reads = new SharedReads(options, SHARED_CONNECTIONS, usage, timed('reads'));
  // For sync, which reads more rows at a time and would delay the small reads.
  const syncReads = new SharedReads(options, SHARED_CONNECTIONS, usage, timed('sync'));
  const db = knexOn(pool, usage, timed('main'), checkDeadline);
  const horizons = new Horizons(url, clocksApartMs, logger, usage);
  const { reading, standbyPool, closeReading } = openReading(
    { reads: syncReads, db },
    { poolMax, prepare, replica: standby, patience },
    logger,
    timed('replica'),
  );
  const probe = new DatabaseProbe(url, watch);
  const counting = knexOn(countingPool, usage, timed('counting'));
  const limits = limitsPool && knexOn(limitsPool, { prepare }, timed('limits'));
  const support = knexOn(supportPool, usage);
  return {
    pool,
    pools: {
      main: pool,
      counting: countingPool,
      slow: slowPool,
      ...(standbyPool && { replica: standbyPool }),
      ...(limitsPool && { limits: limitsPool }),
    },
    db,
    counting,
    limits: limits ?? counting,
    support,
    slow: knexOn(slowPool, usage, timed('slow')),
    /** For questions of the admin API about limits. */
    supportLimits: limits ?? support,
    reads,
    syncReads,
    horizons,
    /** Finds out where users and groups are. While the database does not answer, again until it does. */
    learn: () => learn(options, usage, stop.signal),
    probe,
    reading,
    close: async () => {
      stop.abort();
      watch.close();
      limitsWatch?.close();
      slowWatch.close();
      horizons.close();
      const pools = [countingPool, supportPool, slowPool, pool, ...(limitsPool ? [limitsPool] : [])];
      const ends = pools.map((one) => one.end());
      const closing = [closeReading(), probe.close(), reads.close(), syncReads.close(), ...ends];
      await Promise.all(closing.map((end) => withTimeout(end, CLOSE_MS).catch(() => undefined)));
    },
  };
}

/** Longest pause until the database is asked again where users and groups are. */
const LEARN_MS = 500;

async function learn(options: ClientConfig, usage: Usage, stop: AbortSignal): Promise<void> {
  const client = new Client(options);
  client.on('error', () => undefined);
  try {
    await client.connect();
    usage.isDistributed = (await client.query(HAS_CITUS)).rowCount !== 0;
  } catch (error) {
    if (!isOutage(error)) throw error;
    const again = () => void (stop.aborted || learn(options, usage, stop).catch(() => undefined));
    setTimeout(again, LEARN_MS).unref();
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Returns a watch that logs when a database goes away, and when it is back. */
function watchOf(name: string, logger: Logger, patience?: number): ConnectionWatch {
  const listener: Listener = {
    away: (cause) => logger.error({ err: cause }, `${name} is unavailable`),
    back: (awayMs) => logger.warn({ awayMs: Math.round(awayMs) }, `${name} is available again`),
  };
  return new ConnectionWatch(listener, patience);
}

/** Opens connections to the database of limits, if it is another one: its outage is none of the other database. */
function openLimits(
  url: string | undefined,
  max: number,
  settings: string[],
  watched: (name: string) => ConnectionWatch,
) {
  if (url === undefined) return {};
  const limitsWatch = watched('the database of limits');
  return { limitsPool: openPool(url, max, limitsWatch, settings), limitsWatch };
}

/** Opens connections to the standby, if there is one. They have a watch of their own: its outage is none of the primary. */
function openReading(
  primary: Server,
  { poolMax, prepare, replica: given, patience }: Omit<DatabaseSettings, 'clocksApartMs' | 'limitsUrl'>,
  logger: Logger,
  took: Took,
) {
  const atPrimary: ReadAt = (ask) => ask(primary);
  if (!given) {
    const reading: Reading = { atPrimary, readAt: () => atPrimary, replica: undefined };
    return { reading, closeReading: () => Promise.resolve() };
  }
  const { url, mostBehind } = given;
  // Without waiting: the primary answers while it is away.
  const watch = new ConnectionWatch({ away: () => replica.away(), back: () => replica.back() }, patience, 0);
  const standbyPool = openPool(url, Math.ceil(poolMax / 2), watch);
  const reads = new SharedReads(
    { ...connectionOptions(url, patience), watch },
    SHARED_CONNECTIONS,
    { prepare, isDistributed: false },
    took,
  );
  const servers = { primary, standby: { reads, db: knexOn(standbyPool, { prepare }, took) } };
  const replica = new Replica(servers, mostBehind, (state) => {
    if (state === 'serving') logger.info('the standby serves sync, exports and long lists');
    else logger.warn({ standby: state }, 'the primary serves sync, exports and long lists');
  });
  const reading: Reading = { atPrimary, readAt: () => replica.readAt(), replica };
  const closeReading = async () => {
    replica.close();
    watch.close();
    await Promise.all([reads.close(), standbyPool.end()]);
  };
  return { reading, standbyPool, closeReading };
}
