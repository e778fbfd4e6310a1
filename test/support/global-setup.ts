import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/integrations/embedded-postgres';
import { migrate } from '../../src/database/migrations';
import { TEMPLATE } from './database';
import { OUTPUT } from './paths';

declare global {
  var testPostgres: { postgres: EmbeddedPostgres; dataDir: string } | undefined;
}

/**
 * One real PostgreSQL for the run, with a migrated database to clone. It may forget everything in a crash: it is
 * faster.
 */
export default async function setUp(): Promise<void> {
  rmSync(OUTPUT, { recursive: true, force: true });
  mkdirSync(OUTPUT, { recursive: true });
  const dataDir = mkdtempSync(join(tmpdir(), 'accounts-test-'));
  const postgres = await startEmbeddedPostgres({
    dataDir,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  globalThis.testPostgres = { postgres, dataDir };
  const client = new Client(postgres.url);
  await client.connect();
  await client.query(`CREATE DATABASE ${TEMPLATE}`);
  await client.end();
  const template = new URL(postgres.url);
  template.pathname = `/${TEMPLATE}`;
  await migrate(template.href);
  process.env.TEST_POSTGRES_URL = postgres.url;
  process.env.TEST_POSTGRES_SERVICE_URL = postgres.serviceUrl;
}
