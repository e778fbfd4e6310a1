import { Socket } from 'node:net';
import knex, { type Knex } from 'knex';
import { types, type Client, type PoolConfig } from 'pg';
import { codeOf } from './errors';
import { SecurityEventsRepository } from './features/audit/security-events-repository';
import { BlacklistRepository } from './features/blacklist/blacklist-repository';
import { GroupsRepository } from './features/groups/groups-repository';
import { LimitsRepository } from './features/limits/limits-repository';
import { SessionsRepository } from './features/sessions/sessions-repository';
import { SmsTrafficRepository } from './features/spend-guard/sms-traffic-repository';
import { MessagingTokensRepository } from './features/tokens/messaging-tokens-repository';
import { UsersRepository } from './features/users/users-repository';
import { CaptchasRepository } from './features/verification/captchas-repository';
import { VerificationRepository } from './features/verification/verification-repository';

export type Database = Knex;

const BIGINT = 20;

/** Bounds on everything that could hang, so that a database in trouble costs a request seconds and not forever. */
export function connectionOptions(url: string): PoolConfig {
  return {
    connectionString: url,
    application_name: 'user-account-service',
    keepAlive: true,
    connectionTimeoutMillis: 2_000,
    statement_timeout: 4_000,
    // For a server that does not answer at all.
    query_timeout: 5_000,
    // An open writing transaction holds everybody's sync horizon back.
    idle_in_transaction_session_timeout: 5_000,
    types: {
      // Versions and counts stay far below 2^53.
      getTypeParser: (oid: number, format?: 'text' | 'binary'): unknown =>
        oid === BIGINT && format !== 'binary' ? Number : types.getTypeParser(oid, format),
    },
  };
}

interface Connecting {
  options?: PoolConfig;
  /** Not for poolers that know no prepared statements. */
  prepare?: boolean;
}

export function connect(
  url: string,
  poolMax: number,
  { options = connectionOptions(url), prepare = true }: Connecting = {},
): Database {
  const db = knex({
    client: 'pg',
    connection: { ...options } as Knex.PgConnectionConfig,
    pool: { min: 0, max: poolMax, afterCreate: leavingWhenSilent(Number(options.query_timeout ?? 0)) },
    acquireConnectionTimeout: 3_000,
    // Knex would print what it throws as well, past the logger.
    log: { warn: () => undefined, error: () => undefined },
  });
  db.userParams = { prepare };
  return db;
}

interface PooledClient extends Client {
  readyForQuery: boolean;
}

/**
 * pg gives a query up that is not answered, and goes on waiting for its end; Knex then hands the connection to the next one,
 * whose query never gets its turn. One that is silent for longer than any query may last is left for good. 0: none is.
 */
function leavingWhenSilent(queryTimeoutMs: number) {
  return (client: PooledClient, done: (error: unknown, client: Client) => void) => {
    const { stream } = client.connection;
    if (queryTimeoutMs > 0 && stream instanceof Socket)
      stream.setTimeout(queryTimeoutMs + 1_000, () => {
        if (!client.readyForQuery) stream.destroy(new Error('the database does not answer'));
      });
    done(undefined, client);
  };
}

export type Repositories = ReturnType<typeof repositories>;

/** Every repository on one connection source: the pool, or one transaction. */
export function repositories(db: Database) {
  return {
    blacklist: new BlacklistRepository(db),
    captchas: new CaptchasRepository(db),
    groups: new GroupsRepository(db),
    limits: new LimitsRepository(db),
    messagingTokens: new MessagingTokensRepository(db),
    securityEvents: new SecurityEventsRepository(db),
    sessions: new SessionsRepository(db),
    smsTraffic: new SmsTrafficRepository(db),
    users: new UsersRepository(db),
    verification: new VerificationRepository(db),
  };
}

export type Transaction = <T>(work: (repos: Repositories) => Promise<T>) => Promise<T>;

/** Hands out repositories bound to one transaction, and repeats it when PostgreSQL asks for that. */
export function transactions(db: Database): Transaction {
  return (work) => retrying(() => db.transaction((trx) => work(repositories(trx))));
}

const RETRIES = 3;

/** Runs `work` again after a serialization failure or a deadlock; nothing of the failed attempt remains. */
export async function retrying<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === RETRIES || !isTransient(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** attempt * Math.random()));
    }
  }
}

function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}
