import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { isAlive, startEmbeddedPostgres, type EmbeddedPostgres } from '../../packages/embedded-database/src';
import { SERVICE_ROLE } from '../../src/database/service-role';
import { migrate } from '../../src/database/migrations';
import { copyCluster } from './clusters';
import { TEMPLATE } from './database';
import { OUTPUT, OUTPUTS } from './paths';

declare global {
  var testRun: { postgres: EmbeddedPostgres; folder: string; dataDir: string } | undefined;
}

export default function setUp(): Promise<void> {
  return startRun();
}

/**
 * Starts one real PostgreSQL for the run, with a migrated and prepared database to clone. It may lose data in a crash,
 * which makes it faster. All temporary files of the run are in one folder.
 */
export async function startRun(prepare?: (url: string) => Promise<void>): Promise<void> {
  mkdirSync(OUTPUT, { recursive: true });
  removeOldOutputs();
  const folder = mkdtempSync(join(tmpdir(), 'accounts-test-'));
  // A test may run a program as another user.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  startWatcher(folder);
  const dataDir = join(folder, 'run');
  const options = {
    dataDir,
    role: SERVICE_ROLE,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  };
  const first = await startEmbeddedPostgres(options);
  await migrate(first.url);
  await prepare?.(first.url);
  await first.stop();
  process.env.TEST_CLUSTER = join(folder, 'copy');
  copyCluster(dataDir, process.env.TEST_CLUSTER);
  const postgres = await startEmbeddedPostgres(options);
  globalThis.testRun = { postgres, folder, dataDir };
  await cloneAs(TEMPLATE, postgres.url);
  process.env.TEST_POSTGRES_URL = postgres.url;
  process.env.TEST_POSTGRES_SERVICE_URL = postgres.serviceUrl;
}

async function cloneAs(name: string, url: string): Promise<void> {
  const { pathname } = new URL(url);
  const administration = new URL(url);
  administration.pathname = '/postgres';
  const client = new Client(administration.href);
  await client.connect();
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${client.escapeIdentifier(pathname.slice(1))}`);
  await client.end();
}

/** Removes outputs of earlier runs, but not of those that are still running. */
function removeOldOutputs(): void {
  for (const name of readdirSync(OUTPUTS))
    if (!isAlive(Number(/^run-(\d+)$/.exec(name)?.[1]))) rmSync(join(OUTPUTS, name), { recursive: true, force: true });
}

/** Starts a process that cleans up, since Jest runs no teardown after Ctrl-C or a kill. */
function startWatcher(folder: string): void {
  const watcher = spawn(process.execPath, [join(__dirname, 'run-watcher.mjs'), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.unref();
  if (watcher.stdin instanceof Socket) watcher.stdin.unref();
}
