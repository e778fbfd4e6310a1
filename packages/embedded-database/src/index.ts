import { chmod, chown, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from './cluster';
import { codeOf, EmbeddedPostgresError } from './error';
import { claim, Ownership, type Claim } from './ownership';
import { isAlive } from './processes';
import { findPrograms } from './programs';

export { EmbeddedPostgresError, isAlive };

export interface EmbeddedPostgres {
  /** URL for the owner of the cluster and its tables. */
  readonly url: string;
  /** URL of the same database for the role of the service. */
  readonly serviceUrl: string;
  stop(): Promise<void>;
}

type Announce = (line: string) => void;

interface Options {
  dataDir: string;
  /** Role that the service logs in as. */
  role: string;
  /** PostgreSQL's own settings, by name. */
  settings?: Record<string, string>;
  /** Called with a line about each step that takes long. */
  announce?: Announce;
}

const START_WITHIN_MS = 150_000;
/** Time for which the session of a killed service may remain in the database. */
const LINGER_MS = 5_000;

/**
 * Starts a PostgreSQL for the service, with its data in DATA_DIR/postgres. It listens on loopback only. It survives a
 * killed service, and the next start takes it over.
 */
export async function startEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  return start({ ...options, dataDir }).catch((error: unknown) => {
    throw explained(error, dataDir);
  });
}

async function start({ dataDir, role, settings = {}, announce = () => undefined }: Options): Promise<EmbeddedPostgres> {
  // Other users cannot enter it. Folders above it get the default mode of mkdir.
  if (await mkdir(dataDir, { recursive: true })) await chmod(dataDir, 0o700);
  const cluster = new Cluster(dataDir, await findPrograms(dataDir), settings);
  const ownership = await own(cluster, announce);
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= ownership.release(() => cluster.stop()));
  try {
    await cluster.sweep();
    const url = await ownership.openDatabase();
    const serviceUrl = await ownership.openServiceRole(role, await cluster.passwordOf(role));
    await writeWhole(cluster.addressFile, `${url}\n`);
    return { url, serviceUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts the server if it does not run, and claims it, until this service or another one owns it. */
async function own(cluster: Cluster, announce: Announce): Promise<Ownership> {
  const begun = Date.now();
  const orphan = await cluster.postmaster();
  while (Date.now() - begun < START_WITHIN_MS) {
    const postmaster = await cluster.postmaster();
    if (!postmaster) {
      await startServer(cluster, announce);
      continue;
    }
    const { pid, port } = postmaster;
    const server = await cluster.server(port);
    const claimed = await claim(server);
    if (claimed.state === 'ours') {
      if (pid === orphan?.pid) announce('Took over the database that an earlier start left running');
      return new Ownership(server, claimed.client, () => startAgain(cluster, port, announce));
    }
    refuseIfTaken(claimed, cluster.dataDir, Date.now() - begun);
    await sleep(50);
  }
  throw new EmbeddedPostgresError(`the database in ${cluster.dataDir} does not answer: see ${cluster.log}`);
}

/** Starts the server, on the port of the last start if that is free, so that clients can keep the address. */
async function startServer(cluster: Cluster, announce: Announce): Promise<void> {
  if (!(await cluster.exists())) {
    announce(`Creating a PostgreSQL database in ${cluster.folder} (only the first start does this)`);
    await cluster.create();
  }
  const url = (await readFile(cluster.addressFile, 'utf8').catch(() => '')).trim();
  const lastPort = URL.canParse(url) ? Number(new URL(url).port) : 0;
  await cluster.start((await freePort(lastPort)) ?? (await freePort(0)) ?? 0);
}

/** Starts a server that has died, on its old port. */
async function startAgain(cluster: Cluster, port: number, announce: Announce): Promise<void> {
  if (await cluster.postmaster()) return;
  await cluster.start(port);
  if (await cluster.postmaster()) announce('The database had stopped, and was restarted');
}

function refuseIfTaken(claimed: Claim, dataDir: string, waitedMs: number): void {
  if (claimed.state !== 'taken' || (!isAlive(claimed.by) && waitedMs < LINGER_MS)) return;
  throw new EmbeddedPostgresError(
    `another service (process ${claimed.by}) is already running on ${dataDir}: stop it, or set DATA_DIR to another folder for this one`,
  );
}

function freePort(wanted: number): Promise<number | undefined> {
  return new Promise((settle) => {
    const server = createServer().once('error', () => settle(undefined));
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => settle(port));
    });
  });
}

/** Writes a file atomically, readable only by the owner of DATA_DIR. */
async function writeWhole(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content, { mode: 0o600 });
  // After a start as root, a start without root must still work.
  const { uid, gid } = await stat(dirname(file));
  if (process.getuid?.() === 0) await chown(`${file}.new`, uid, gid);
  await rename(`${file}.new`, file);
}

/**
 * Adds a remedy to errors with a code, which come from the system or PostgreSQL. Others are bugs, and keep their stack.
 */
function explained(error: unknown, dataDir: string): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const { message } = error as Error;
  return new EmbeddedPostgresError(
    `cannot keep a database in DATA_DIR ${dataDir}, ${message}: ${remedyFor(code)}, or set DATABASE_URL`,
    { cause: error },
  );
}

function remedyFor(code: string): string {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'make room on that disk';
  // Codes of system calls begin with E, those of PostgreSQL do not.
  return code.startsWith('E') ? 'set DATA_DIR to a folder that this user may write' : 'see postgres.log there';
}
