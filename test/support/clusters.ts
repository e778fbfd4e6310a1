import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { migrate } from '../../src/database/migrations';
import { isAlive, startEmbeddedPostgres, type EmbeddedPostgres } from '../../packages/embedded-database/src';
import { SERVICE_ROLE } from '../../src/database/service-role';
import { newDataDir, postmasterPid, type DataDir } from './service-process';
import { copyAsStandby, copyFolder } from './standby-files';
import { until } from './until';

/** A PostgreSQL of one test. It is durable, and may be killed, copied and restored. */
export class TestCluster {
  private server: EmbeddedPostgres | undefined;

  private constructor(
    private readonly folder: DataDir,
    private readonly settings: Record<string, string>,
  ) {}

  /** Starts a cluster, on a disk of this size if given. Only root can make such a disk. */
  static async start(settings: Record<string, string> = {}, diskMegabytes?: number): Promise<TestCluster> {
    const folder = diskMegabytes === undefined ? newDataDir() : mountSmallDisk(diskMegabytes);
    const cluster = new TestCluster(folder, settings);
    await migrate(await cluster.start());
    return cluster;
  }

  /** Starts a copy of the run's cluster, which has the same system identifier. It takes a fraction of the time. */
  static async startCopy(settings: Record<string, string> = {}): Promise<TestCluster> {
    const cluster = new TestCluster(usedDataDir(), settings);
    await cluster.start();
    return cluster;
  }

  get path(): string {
    return this.folder.path;
  }

  /** The address for the owner of the cluster and its tables. */
  get url(): string {
    return this.running.url;
  }

  /** The address for the role of the service. */
  get serviceUrl(): string {
    return this.running.serviceUrl;
  }

  private get running(): EmbeddedPostgres {
    if (!this.server) throw new Error('this cluster does not run');
    return this.server;
  }

  async start(): Promise<string> {
    this.server = await startEmbeddedPostgres({
      role: SERVICE_ROLE,
      dataDir: this.folder.path,
      settings: this.settings,
    });
    return this.server.url;
  }

  async stop(): Promise<void> {
    await this.server?.stop();
    this.server = undefined;
  }

  async remove(): Promise<void> {
    await this.stop();
    this.folder.remove();
  }

  /** Kills the postmaster and its processes without notice. The embedded database starts it again by itself. */
  async killServer(): Promise<void> {
    const pid = postmasterPid(this.folder.path);
    process.kill(pid, 'SIGKILL');
    await until(async () => !isAlive(pid) && (await isAnswering(this.url)));
  }

  /** Kills the server, which is not started again. */
  async killForGood(): Promise<void> {
    process.kill(postmasterPid(this.folder.path), 'SIGKILL');
    await this.stop();
  }

  /** Fills the disk until the returned function is called. */
  fillDisk(): () => void {
    const ballast = join(this.folder.path, '..', 'ballast');
    spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k']);
    return () => rmSync(ballast);
  }

  /** Kills one process that serves a connection: PostgreSQL ends all others, recovers, and continues. */
  async killBackend(): Promise<void> {
    const victim = new Client(this.url);
    victim.on('error', () => undefined);
    await victim.connect();
    const { rows } = await victim.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const gone = new Promise((resolve) => victim.once('end', resolve));
    process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
    await gone;
    await until(() => isAnswering(this.url));
  }

  /** Copies the files as they are now: a cold copy after a stop, otherwise one that PostgreSQL has to recover. */
  snapshot(): string {
    const copy = `${this.folder.path}-snapshot`;
    rmSync(copy, { recursive: true, force: true });
    copyFolder(this.folder.path, copy);
    return copy;
  }

  putBack(copy: string): void {
    rmSync(this.folder.path, { recursive: true, force: true });
    copyFolder(copy, this.folder.path);
  }

  /** Starts a standby that follows this server, made from a base backup. */
  async standby(): Promise<TestCluster> {
    const standby = new TestCluster(newDataDir(), this.settings);
    await copyAsStandby(this.url, this.folder.path, standby.folder.path);
    await standby.start();
    return standby;
  }

  async promote(): Promise<void> {
    const client = await connectTo(this.url);
    await client.query('SELECT pg_promote()');
    await client.end();
  }
}

/** Returns a data folder as a first start has left it: a migrated database that is stopped. */
export function usedDataDir(): DataDir {
  const folder = newDataDir();
  copyCluster(process.env.TEST_CLUSTER ?? '', folder.path);
  return folder;
}

/** Copies the files of a cluster that is stopped. */
export function copyCluster(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const name of ['postgres', 'database-url']) copyFolder(join(from, name), join(to, name));
}

export async function connectTo(url: string): Promise<Client> {
  const client = new Client(url);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Returns all processes that PostgreSQL runs on a data folder: their working directory is the cluster's folder. */
export function processesIn(dataDir: string): number[] {
  const cwd = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`);
    } catch {
      return '';
    }
  };
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => cwd(pid).startsWith(dataDir)).map(Number);
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    await (await connectTo(url)).end();
    return true;
  } catch {
    return false;
  }
}

function mountSmallDisk(megabytes: number): DataDir {
  const folder = newDataDir();
  const parent = join(folder.path, '..');
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=711`, 'tmpfs', parent]);
  if (status !== 0) throw new Error(stderr.toString());
  return {
    path: folder.path,
    remove: () => {
      spawnSync('umount', ['--lazy', parent]);
      folder.remove();
    },
  };
}
