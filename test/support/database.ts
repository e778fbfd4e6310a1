import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** The migrated database that every test database is a clone of. */
export const TEMPLATE = 'template_accounts';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A database of one's own, cloned from the migrated one in a fraction of a second. */
export async function cloneDatabase(): Promise<TestDatabase> {
  return createDatabase(`TEMPLATE ${TEMPLATE}`);
}

export async function emptyDatabase(): Promise<TestDatabase> {
  return createDatabase('');
}

async function createDatabase(options: string): Promise<TestDatabase> {
  const server = process.env.TEST_POSTGRES_URL;
  if (server === undefined) throw new Error('the global setup has not run');
  const name = `test_${process.env.JEST_WORKER_ID ?? '0'}_${randomBytes(5).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name} ${options}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => administer(server, `DROP DATABASE ${name} WITH (FORCE)`) };
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new Client(server);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
