import knex, { type Knex } from 'knex';
import { Pool, types, type ClientBase, type ClientConfig, type PoolClient, type PoolConfig } from 'pg';
import type { ConnectionWatch } from './connection-watch';
import { forPg } from './database-url';
import { GuardedClient, type GuardedConfig } from './guarded-client';
import { CommitLost, isCut, isLostConnection, isUnsent } from './outage';
import type { Usage } from './statement';
import { retrying } from './transaction';

const BIGINT = 20;

/**
 * Returns options with time limits, so that a database in trouble costs a request seconds only. There is no
 * `query_timeout`: pg would give up the statement but keep the connection, where it may still run among statements of
 * other requests. The ConnectionWatch cuts connections that do not answer. `patience` is a factor of the limits.
 */
export function connectionOptions(url: string, patience = 1): ClientConfig {
  return {
    connectionString: forPg(url),
    application_name: 'user-account-service',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: patience * 2_000,
    statement_timeout: patience * 4_000,
    // A statement that waits for a lock occupies a connection.
    lock_timeout: patience * 1_000,
    // An open writing transaction holds back the sync horizon of all users.
    idle_in_transaction_session_timeout: patience * 5_000,
    types: {
      // Versions and counts stay far below 2^53.
      getTypeParser: (oid: number, format?: 'text' | 'binary'): unknown =>
        oid === BIGINT && format !== 'binary' ? Number : types.getTypeParser(oid, format),
    },
  };
}

/**
 * Makes PostgreSQL soon end the session of a client machine that has vanished. The last setting lets two users change
 * rows on all servers of a Citus at once; other databases keep it, and ignore it.
 */
const LEAVE_VANISHED_CLIENTS = `
  SELECT set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '5', false),
         set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '20000', false),
         set_config('citus.enable_deadlock_prevention', 'off', false)`;

/** Finds a row if the database is a Citus, which keeps users and groups on several servers. */
export const HAS_CITUS = `SELECT FROM pg_extension WHERE extname = 'citus'`;

/** For look-ups by key: planning them for every value would cost more than running them. */
export const PLAN_ONCE = 'SET plan_cache_mode = force_generic_plan';

type Connected = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (broken?: Error | boolean) => void,
) => void;

/** Waits for a connection at the beginning of an outage. */
class PatientPool extends Pool {
  readonly watch: ConnectionWatch;

  constructor(options: PoolConfig & GuardedConfig) {
    super(options);
    this.watch = options.watch;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | void {
    const connected = this.watch.reach(() => super.connect());
    if (!callback) return connected;
    connected.then(
      (client) => callback(undefined, client, (broken) => client.release(broken)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
  }
}

/**
 * Opens a pool that hands out a connection only while no statement runs and no transaction is open on it. Each new
 * connection first runs `settings`.
 */
export function openPool(url: string, max: number, watch: ConnectionWatch, settings: string[] = []): Pool {
  // Some poolers and platforms refuse the settings; the connection works without them.
  const prepare = async (client: ClientBase) => {
    for (const sql of [LEAVE_VANISHED_CLIENTS, ...settings]) await client.query(sql).catch(() => undefined);
  };
  const options: PoolConfig & GuardedConfig = {
    ...connectionOptions(url, watch.patience),
    watch,
    max,
    idleTimeoutMillis: 30_000,
    Client: GuardedClient as unknown as NonNullable<PoolConfig['Client']>,
    onConnect: (client) => prepare(client) as unknown as void,
  };
  const pool = new PatientPool(options);
  pool.on('error', () => undefined);
  pool.on('release', (_error, client) => {
    if (client instanceof GuardedClient && !client.isClean)
      client.cut(new Error('released with an open statement or transaction'));
  });
  return pool;
}

// Knex would also print each error that it throws, bypassing the logger.
const log = { warn: () => undefined, error: () => undefined };

/** Returns Knex with its own connections, for migrations and scripts. */
export function knexFor(options: ClientConfig): Knex {
  return knex({ client: 'pg', connection: { ...options } as Knex.PgConnectionConfig, pool: { min: 0, max: 2 }, log });
}

interface KnexQuery {
  sql: string;
  options?: { name?: string; label?: string };
}

/** Query builder or raw statement, which can run again. */
interface KnexBuilder {
  toSQL(): { method?: string; sql?: string };
}

/**
 * Depends on knex 3: each statement passes through `_query` of a client, and a transaction has one of the same class,
 * whose last statement is COMMIT. A statement takes its connection in the `run` of a runner.
 */
interface KnexClient {
  transacting?: boolean;
  runner(builder: KnexBuilder): { run: () => Promise<unknown> };
  _query(connection: unknown, query: KnexQuery): Promise<unknown>;
}

const PgClient = (knex({ client: 'pg', log }).client as object).constructor as new (config: object) => KnexClient;

/**
 * Told how long a statement took, waiting for a connection not included, and why it failed, if it did. A statement is
 * its name, or its text if it has none.
 */
export type StatementObserver = (connections: string, seconds: number, statement: string, failure: unknown) => void;

/** Like StatementObserver, but for statements on the same connections. */
export type Took = (seconds: number, statement: string, failure: unknown) => void;

const COMMIT = 'COMMIT;';
const ROLLBACK = 'ROLLBACK';
const WRITES = /\b(insert|update|delete|merge|share)\b/i;

/** Returns whether a query of the builder only reads. A raw statement may call a function that writes. */
function isRead(builder: KnexBuilder): boolean {
  const { method = '', sql = '' } = builder.toSQL();
  return ['select', 'first', 'pluck'].includes(method) && !WRITES.test(sql);
}

/**
 * Returns Knex on a pool. Retries statements outside of transactions when PostgreSQL asks for it, and when their
 * connection broke before they can have had an effect. Transactions are retried as a whole. Where `mayBegin` throws, no
 * statement begins, and a transaction is rolled back.
 */
export function knexOn(
  pool: Pool,
  usage: Usage,
  took: Took = () => undefined,
  mayBegin: () => void = () => undefined,
): Knex {
  const repeats = pool instanceof PatientPool && pool.watch.waits;
  class TimedClient extends PgClient {
    override runner(builder: KnexBuilder) {
      const runner = super.runner(builder);
      if (this.transacting || !repeats) return runner;
      const run = () => super.runner(builder).run();
      runner.run = () => retrying(run, (error) => isCut(error) && (isUnsent(error) || isRead(builder)));
      return runner;
    }

    override async _query(connection: unknown, query: KnexQuery): Promise<unknown> {
      const begun = performance.now();
      const ask = async () => {
        try {
          if (query.sql !== ROLLBACK) mayBegin();
        } catch (error) {
          if (query.sql === COMMIT) await super._query(connection, { sql: ROLLBACK });
          throw error;
        }
        return super._query(connection, query);
      };
      let failure: unknown;
      try {
        return await (this.transacting ? ask() : retrying(ask));
      } catch (error) {
        failure = error;
        throw query.sql === COMMIT && isLostConnection(error) && !isUnsent(error) ? new CommitLost(error) : error;
      } finally {
        const { sql, options } = query;
        took((performance.now() - begun) / 1_000, options?.name ?? options?.label ?? sql, failure);
      }
    }
  }
  const db = knex({ client: TimedClient as unknown as typeof Knex.Client, connectionPool: pool, log });
  db.userParams = usage;
  return db;
}
