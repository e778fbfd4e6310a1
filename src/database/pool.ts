import knex, { type Knex } from 'knex';
import { Pool, types, type ClientConfig, type PoolConfig } from 'pg';
import type { ConnectionWatch } from './connection-watch';
import { GuardedClient, type GuardedConfig } from './guarded-client';

const BIGINT = 20;

/**
 * Bounds on everything that could hang, so that a database in trouble costs a request seconds and not forever. What does not
 * answer at all is left to the ConnectionWatch: pg's own `query_timeout` would give a statement up and keep the connection,
 * on which the statement then runs among those of others.
 */
export function connectionOptions(url: string): ClientConfig {
  return {
    connectionString: url,
    application_name: 'user-account-service',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 2_000,
    statement_timeout: 4_000,
    // A locked row keeps a connection from everybody else.
    lock_timeout: 1_000,
    // An open writing transaction holds everybody's sync horizon back.
    idle_in_transaction_session_timeout: 5_000,
    types: {
      // Versions and counts stay far below 2^53.
      getTypeParser: (oid: number, format?: 'text' | 'binary'): unknown =>
        oid === BIGINT && format !== 'binary' ? Number : types.getTypeParser(oid, format),
    },
  };
}

/** So that PostgreSQL soon ends the session of a machine that has vanished. */
const LEAVE_VANISHED_CLIENTS = `
  SELECT set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '5', false),
         set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '20000', false)`;

/** Connections of which one is handed out only while it is clean: nothing under way, no transaction open. */
export function openPool(url: string, max: number, watch: ConnectionWatch): Pool {
  const options: PoolConfig & GuardedConfig = {
    ...connectionOptions(url),
    watch,
    max,
    idleTimeoutMillis: 30_000,
    Client: GuardedClient as unknown as NonNullable<PoolConfig['Client']>,
    // A pooler or platform that refuses it loses nothing else.
    onConnect: (client) => client.query(LEAVE_VANISHED_CLIENTS).then(undefined, () => undefined) as unknown as void,
  };
  const pool = new Pool(options);
  pool.on('error', () => undefined);
  pool.on('release', (_error, client) => {
    if (client instanceof GuardedClient && !client.isClean)
      client.cut(new Error('given back in the middle of something'));
  });
  return pool;
}

// Knex would print what it throws as well, past the logger.
const log = { warn: () => undefined, error: () => undefined };

/** Knex with connections of its own, for what runs beside the service: migrations and scripts. */
export function knexFor(options: ClientConfig): Knex {
  return knex({ client: 'pg', connection: { ...options } as Knex.PgConnectionConfig, pool: { min: 0, max: 2 }, log });
}

/** Knex on a pool. Without `prepare` no statement is prepared, for poolers that do not know that. */
export function knexOn(pool: Pool, prepare: boolean): Knex {
  const db = knex({ client: 'pg', connectionPool: pool, log });
  db.userParams = { prepare };
  return db;
}
