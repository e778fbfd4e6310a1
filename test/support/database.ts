import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** The migrated database that all test databases are cloned from. */
export const TEMPLATE = 'template_accounts';

export interface TestDatabase {
  /** The address for the owner of the cluster and its tables. */
  url: string;
  /** The address for the role of the service. */
  serviceUrl: string;
  drop(): Promise<void>;
}

/** Clones the migrated database in a fraction of a second. */
export async function cloneDatabase(): Promise<TestDatabase> {
  return createDatabase(`TEMPLATE ${TEMPLATE}`);
}

export async function emptyDatabase(): Promise<TestDatabase> {
  return createDatabase('');
}

async function createDatabase(options: string): Promise<TestDatabase> {
  const [server, serviceRole] = [process.env.TEST_POSTGRES_URL, process.env.TEST_POSTGRES_SERVICE_URL];
  if (server === undefined || serviceRole === undefined) throw new Error('the global setup has not run');
  const name = `test_${process.env.JEST_WORKER_ID ?? '0'}_${randomBytes(5).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name} ${options}`);
  const drop = () => (otherServers().length > 0 ? dropOfCitus(server, name) : dropOnce(server, name));
  return { url: withName(server, name), serviceUrl: withName(serviceRole, name), drop };
}

function dropOnce(server: string, name: string): Promise<void> {
  return administer(server, `DROP DATABASE ${name} WITH (FORCE)`);
}

/** Drops what is still there. Citus connects to its databases at any moment, also while they are dropped. */
async function dropOfCitus(server: string, name: string): Promise<void> {
  const drop = () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  for (let left = 10; ; left -= 1)
    try {
      return await drop();
    } catch (error) {
      if (left === 0) throw error;
    }
}

function withName(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Returns the address for the owner of the tables, if the given one is the service role's on this run's server. */
export function ownerUrlOf(address: string): string {
  const { username, password } = new URL(process.env.TEST_POSTGRES_URL ?? '');
  const url = new URL(address);
  if (url.password === new URL(process.env.TEST_POSTGRES_SERVICE_URL ?? '').password)
    Object.assign(url, { username, password });
  return url.href;
}

/** The other servers of a Citus; none in a run on one PostgreSQL. */
export function otherServers(): string[] {
  return JSON.parse(process.env.TEST_OTHER_SERVERS ?? '[]') as string[];
}

/** Runs a statement on the server, or on all servers of a Citus. */
export async function administer(server: string, statement: string): Promise<void> {
  for (const url of [server, ...otherServers()]) {
    const client = new Client(url);
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  }
}
