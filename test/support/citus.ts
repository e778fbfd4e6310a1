import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVICE_ROLE } from '../../src/database/service-role';
import { connectTo } from './clusters';
import { runProgram } from './installed-postgres';
import { NOBODY, postmasterPid } from './service-process';
import { until } from './until';

const DATABASE = 'accounts';
/** Programs of a PostgreSQL with Citus. */
const programs = process.env.CITUS_BIN ?? '';

/** Returns why no Citus can be started on this machine. */
export function missingForCitus(): string | undefined {
  return existsSync(join(programs, 'initdb'))
    ? undefined
    : 'CITUS_BIN is not the folder with the programs of a PostgreSQL that has Citus';
}

/** Settings beside PostgreSQL's own. A transaction that a crash has left half committed is ended within seconds. */
const SETTINGS = {
  shared_preload_libraries: 'citus',
  wal_level: 'logical',
  fsync: 'off',
  max_connections: '200',
  max_prepared_transactions: '200',
  max_worker_processes: '40',
  'citus.node_conninfo': 'sslmode=prefer',
  'citus.recover_2pc_interval': '2s',
};

/** A Citus with a coordinator, server 0, and workers. Each has an address of its own, as if it were a machine. */
export class CitusCluster {
  private readonly folder = mkdtempSync(join(tmpdir(), 'accounts-citus-'));
  private readonly hosts: string[] = [];

  static async start(workers = 2): Promise<CitusCluster> {
    const cluster = new CitusCluster();
    try {
      if (process.getuid?.() === 0) chownSync(cluster.folder, NOBODY, NOBODY);
      for (let server = 0; server <= workers; server += 1) await cluster.addServer();
      await cluster.sql(`SELECT citus_set_coordinator_host('${cluster.hosts[0]}', 5432)`);
      for (let server = 1; server <= workers; server += 1) await cluster.join(server);
      return cluster;
    } catch (error) {
      cluster.remove();
      throw error;
    }
  }

  get url(): string {
    return this.addressOf(0, 'postgres');
  }

  get serviceUrl(): string {
    return this.addressOf(0, SERVICE_ROLE);
  }

  /** Addresses of another database of server 0, for its superuser and for the role of the service. */
  inDatabase(name: string): { url: string; serviceUrl: string } {
    return { url: this.addressOf(0, 'postgres', name), serviceUrl: this.addressOf(0, SERVICE_ROLE, name) };
  }

  /** Ids of the servers' first processes. */
  processes(): number[] {
    return [...this.hosts.keys()].map((server) => postmasterPid(this.folderOf(server)));
  }

  /** Makes a server, which belongs to no cluster yet, and returns its number. */
  async addServer(): Promise<number> {
    const server = this.hosts.push(`127.77.${process.pid % 250}.${this.hosts.length + 1}`) - 1;
    const auth = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    this.run('initdb', [`--pgdata=${this.filesOf(server)}`, ...auth]);
    this.startServer(server);
    await this.sql(`CREATE DATABASE ${DATABASE}`, server, 'postgres');
    await this.sql(`CREATE ROLE ${SERVICE_ROLE} LOGIN`, server);
    await this.sql(`ALTER ROLE ${SERVICE_ROLE} SET lock_timeout = '1s'`, server);
    await this.sql('CREATE EXTENSION citus', server);
    return server;
  }

  /** Makes a server a worker, without shards so far. */
  async join(server: number): Promise<void> {
    await this.sql(`SELECT citus_add_node('${this.hosts[server]}', 5432)`);
  }

  /** Moves shards until all workers have as many, while they are used. */
  async rebalance(): Promise<void> {
    await this.sql(`SELECT citus_rebalance_start(shard_transfer_mode => 'force_logical')`);
    await this.sql('SELECT citus_rebalance_wait()');
  }

  async shardsOn(server: number): Promise<number> {
    const rows = await this.sql(
      `SELECT count(*)::integer AS shards FROM citus_shards WHERE nodename = '${this.hosts[server]}'`,
    );
    return Number(rows[0]?.shards);
  }

  kill(server: number): void {
    process.kill(postmasterPid(this.folderOf(server)), 'SIGKILL');
  }

  startServer(server: number): void {
    const host = this.hosts[server] ?? '';
    const settings = { ...SETTINGS, 'citus.local_hostname': host, listen_addresses: host, unix_socket_directories: '' };
    const options = Object.entries(settings).map(([name, value]) => `-c ${name}='${value}'`);
    const log = join(this.folder, `${server}.log`);
    this.run('pg_ctl', [
      'start',
      '--wait',
      `--pgdata=${this.filesOf(server)}`,
      `--log=${log}`,
      `--options=${options.join(' ')}`,
    ]);
  }

  /** Starts a killed server once its processes are gone. */
  async startAgain(server: number): Promise<void> {
    await until(() => {
      try {
        this.startServer(server);
        return true;
      } catch {
        return false;
      }
    });
  }

  async sql(statement: string, server = 0, database = DATABASE): Promise<Record<string, unknown>[]> {
    const client = await connectTo(this.addressOf(server, 'postgres', database));
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end();
    }
  }

  remove(): void {
    for (const server of this.hosts.keys())
      try {
        this.run('pg_ctl', ['stop', '--wait', '--mode=immediate', `--pgdata=${this.filesOf(server)}`]);
      } catch {
        // It was killed, or has never started.
      }
    rmSync(this.folder, { recursive: true, force: true });
  }

  private addressOf(server: number, role: string, database = DATABASE): string {
    return `postgres://${role}:password@${this.hosts[server]}:5432/${database}`;
  }

  private folderOf(server: number): string {
    return join(this.folder, String(server));
  }

  private filesOf(server: number): string {
    return join(this.folderOf(server), 'postgres');
  }

  private run(program: string, args: string[]): void {
    runProgram(programs, program, args);
  }
}

/** Copies the tables that are spread over servers for one transaction, under their names, so that it may ask for anything. */
export async function copyDistributed(run: (sql: string) => Promise<{ rows: { name: string }[] }>): Promise<void> {
  const { rows } = await run(
    `SELECT relname AS name FROM pg_dist_partition JOIN pg_class ON oid = logicalrelid WHERE partmethod = 'h'`,
  );
  for (const { name } of rows) await run(`CREATE TEMP TABLE ${name} ON COMMIT DROP AS SELECT * FROM public.${name}`);
}
