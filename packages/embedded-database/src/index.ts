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
  /** For the owner of the cluster and its tables. */
  readonly url: string;
  /** The same database for the role of the service. */
  readonly serviceUrl: string;
  stop(): Promise<void>;
}

type Announce = (line: string) => void;

interface Options {
  dataDir: string;
  /** What the service logs in as. */
  role: string;
  /** PostgreSQL's own settings, by name. */
  settings?: Record<string, string>;
  /** Gets a line about each step that takes long. */
  announce?: Announce;
}

const START_WITHIN_MS = 150_000;
/** How long a killed service's session may linger in the database. */
const LINGER_MS = 5_000;

/**
 * A PostgreSQL of the service's own, with its data in DATA_DIR/postgres. It listens on loopback only. When the service
 * is killed it goes on, and the next start takes it over.
 */
export async function startEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  return start({ ...options, dataDir }).catch((error: unknown) => {
    throw explained(error, dataDir);
  });
}

async function start({ dataDir, role, settings = {}, announce = () => undefined }: Options): Promise<EmbeddedPostgres> {
  // Closed to other users, except folders above it, which are made as mkdir makes them.
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

/** Starts the server if it does not run and claims it, until this service or another one owns it. */
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

/** On the port of the last start if that is free, so that clients can keep the address. */
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
  if (await cluster.postmaster()) announce('The database had died, and was started again');
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

/** Writes in one step: readers see the old content or the new one. Only the owner of DATA_DIR can read it. */
async function writeWhole(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content, { mode: 0o600 });
  // A user who once starts the service as root can start it without root again.
  const { uid, gid } = await stat(dirname(file));
  if (process.getuid?.() === 0) await chown(`${file}.new`, uid, gid);
  await rename(`${file}.new`, file);
}

/**
 * Only errors with a code come from the system or PostgreSQL. Others are mistakes in this code, and keep their stack.
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
