import { chown, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../errors';
import { locateBinaries } from './embedded-postgres/binaries';
import { Cluster, type Postmaster } from './embedded-postgres/cluster';
import { EmbeddedPostgresError, orWhen } from './embedded-postgres/error';
import { claim, DATABASE, USER, type Ownership } from './embedded-postgres/ownership';
import { isAlive } from './embedded-postgres/processes';
import { chooseRunAs } from './embedded-postgres/run-as';

export { EmbeddedPostgresError };

export interface EmbeddedPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

interface Options {
  dataDir: string;
  /** PostgreSQL's own settings, by name. */
  settings?: Record<string, string>;
  /** Told of what takes a while, for whoever waits. */
  announce?: (line: string) => void;
}

interface Owned {
  ownership: Ownership;
  postmaster: Postmaster;
}

const START_WITHIN_MS = 150_000;
/** How long a killed service's session may linger in the database. */
const LINGER_MS = 5_000;

/**
 * A PostgreSQL of the service's own, with its data in DATA_DIR/postgres, for whoever has no database at hand. It
 * listens on loopback alone. It outlives a service that is killed; the next start then takes it over.
 */
export async function startEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  try {
    return await start({ ...options, dataDir });
  } catch (error) {
    throw explained(error, dataDir);
  }
}

async function start({ dataDir, settings = {}, announce = () => undefined }: Options): Promise<EmbeddedPostgres> {
  const binaries = locateBinaries();
  await makeDataDir(dataDir);
  const chosen = await chooseRunAs({ binaries, dataDir, cluster: join(dataDir, 'postgres') });
  const cluster = new Cluster(dataDir, binaries, chosen, settings);
  const orphan = await cluster.postmaster();
  const owned = await own(cluster, dataDir, announce);
  if (owned.postmaster.pid === orphan?.pid) announce(`Took over the database that an earlier start left running`);
  try {
    return await serve(cluster, owned, dataDir, announce);
  } catch (error) {
    await shutDown(cluster, owned);
    throw error;
  }
}

/** Starts what is not running and claims what is, until this service is the one owner or another one is. */
async function own(cluster: Cluster, dataDir: string, announce: (line: string) => void): Promise<Owned> {
  const begun = Date.now();
  let port = await lastPort(dataDir);
  while (Date.now() - begun < START_WITHIN_MS) {
    const postmaster = await cluster.postmaster();
    if (!postmaster) {
      port = await startServer(cluster, port, announce);
      continue;
    }
    const owned = await tryToOwn(cluster, postmaster, dataDir, begun);
    if (owned) return owned;
    await sleep(50);
  }
  throw new EmbeddedPostgresError(`the database in ${dataDir} does not answer: see ${cluster.log}`);
}

/** Returns the port to try next time, should the server not last. */
async function startServer(cluster: Cluster, wanted: number, announce: (line: string) => void): Promise<number> {
  if (!(await cluster.exists())) {
    announce(`Creating a PostgreSQL database in ${cluster.folder} (only the first start does this)`);
    await cluster.create();
  }
  const port = (await freePort(wanted)) ?? (await freePort(0)) ?? 0;
  return (await cluster.start(port)) === 'port taken' ? 0 : port;
}

async function tryToOwn(
  cluster: Cluster,
  postmaster: Postmaster,
  dataDir: string,
  begun: number,
): Promise<Owned | undefined> {
  if (!postmaster.port) return undefined;
  const outcome = await claim({ port: postmaster.port, password: await cluster.password() });
  if (outcome.state === 'ours') return { ownership: outcome.ownership, postmaster };
  if (outcome.state === 'away') return undefined;
  const { by } = outcome;
  if (by && !isAlive(by) && Date.now() - begun < LINGER_MS) return undefined;
  throw new EmbeddedPostgresError(
    `another service${by ? ` (process ${by})` : ''} is already running on ${dataDir}: stop it, or set DATA_DIR to another folder for this one`,
  );
}

async function serve(
  cluster: Cluster,
  owned: Owned,
  dataDir: string,
  announce: (line: string) => void,
): Promise<EmbeddedPostgres> {
  await cluster.sweep();
  await owned.ownership.createDatabase();
  owned.ownership.reviveBy(() => revive(cluster, owned.postmaster, announce));
  const url = `postgresql://${USER}:${await cluster.password()}@127.0.0.1:${owned.postmaster.port}/${DATABASE}?sslmode=disable`;
  await writeWhole(join(dataDir, 'database-url'), `${url}\n`);
  let stopped: Promise<void> | undefined;
  return { url, stop: () => (stopped ??= shutDown(cluster, owned)) };
}

/** Starts a server that has died under us, on its old port, where everybody looks for it. */
async function revive(cluster: Cluster, { port }: Postmaster, announce: (line: string) => void): Promise<void> {
  if (!port || (await cluster.postmaster())) return;
  await cluster.start(port);
  if (await cluster.postmaster()) announce('The database had died, and was started again');
}

/** The claim goes last: another start must not take over a server that is about to end. */
async function shutDown(cluster: Cluster, { ownership, postmaster }: Owned): Promise<void> {
  await ownership.stopWatching();
  try {
    await cluster.stop(postmaster);
  } finally {
    await ownership.release();
  }
}

/** Closed to other users; the folders above it, where they are missing, are made as mkdir makes them. */
async function makeDataDir(dataDir: string): Promise<void> {
  const unsafe = /["$`\\\n]/.exec(dataDir);
  if (unsafe) throw new EmbeddedPostgresError(`DATA_DIR ${dataDir} must not contain ${unsafe[0]}: set another one`);
  await mkdir(dirname(dataDir), { recursive: true });
  await orWhen('EEXIST', undefined, mkdir(dataDir, { mode: 0o700 }));
}

/** The port of the start before, so that an address noted elsewhere stays good; 0 when there was none. */
async function lastPort(dataDir: string): Promise<number> {
  const url = (await orWhen('ENOENT', '', readFile(join(dataDir, 'database-url'), 'utf8'))).trim();
  return URL.canParse(url) ? Number(new URL(url).port) : 0;
}

function freePort(wanted: number): Promise<number | undefined> {
  return new Promise((settle) => {
    const server = createServer();
    server.once('error', () => settle(undefined));
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => settle(address && typeof address === 'object' ? address.port : undefined));
    });
  });
}

/** Readers see the old content or the new one, never a part; nobody but the owner of DATA_DIR sees any. */
async function writeWhole(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content, { mode: 0o600 });
  // Somebody who once starts as root must be able to start as themselves again.
  const { uid, gid } = await stat(dirname(file));
  if (process.getuid?.() === 0) await chown(`${file}.new`, uid, gid);
  await rename(`${file}.new`, file);
}

function explained(error: unknown, dataDir: string): unknown {
  const code = codeOf(error);
  // Without a code it is no obstacle outside, but a mistake of ours, which needs its stack.
  if (code === undefined) return error;
  if (code === '28P01') {
    return new EmbeddedPostgresError(
      `the database in ${dataDir} refuses the password kept in ${join(dataDir, 'postgres', 'password')}: put the right one there, or set DATABASE_URL`,
      { cause: error },
    );
  }
  const problem = `cannot keep a database in DATA_DIR ${dataDir}, ${messageOf(error)}`;
  return new EmbeddedPostgresError(`${problem}: ${remedy(code)}, or set DATABASE_URL`, { cause: error });
}

function remedy(code: string | undefined): string {
  if (code === 'ENOSPC') return 'free some disk space';
  // System calls fail with a name that begins so, statements with an SQLSTATE, which does not.
  return code?.startsWith('E') ? 'set DATA_DIR to a folder that this user may write' : 'see postgres.log there';
}

function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}
