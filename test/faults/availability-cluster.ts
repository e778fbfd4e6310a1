import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectTo } from '../support/clusters';
import { installedPostgres } from '../support/installed-postgres';
import { OUTPUT } from '../support/paths';
import { AS_ORDINARY_USER, NOBODY, ROOT } from '../support/service-process';
import { until } from '../support/until';
import { hasProgram, isRoot } from '../support/machine';

const CONFIGURATION = join(ROOT, 'deploy', 'high-availability');
const NODES = [1, 2, 3];
const SUBNET = '10.77.9';
const HERE = `${SUBNET}.254`;
const BRIDGE = 'accounts-ha';
const PASSWORD = 'password-of-this-run';
/** Below it a leader that wakes up late can take its lock back, and what its successor has answered is lost. */
const LEAST_PATRONI = [3, 1] as const;
/** Far more than any recovery takes. */
const PATIENCE_MS = 180_000;

interface Role {
  node: number;
  role: 'primary' | 'sync' | 'standby';
}

/** Returns why a cluster of three nodes cannot be started on this machine. */
export function missingForCluster(): string | undefined {
  const missing = isRoot() ?? ['patroni', 'etcd', 'haproxy', 'ip'].map(hasProgram).find((why) => why !== undefined);
  if (missing !== undefined) return missing;
  return installedPostgres() === undefined ? 'PostgreSQL of a package is not installed' : olderPatroni();
}

function olderPatroni(): string | undefined {
  const { stdout } = spawnSync('patroni', ['--version'], { encoding: 'utf8' });
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
  const isOld = major < LEAST_PATRONI[0] || (major === LEAST_PATRONI[0] && minor < LEAST_PATRONI[1]);
  return isOld ? `Patroni ${major}.${minor} is older than ${LEAST_PATRONI.join('.')}` : undefined;
}

/**
 * Three nodes with etcd, Patroni and PostgreSQL, each in a network of its own as if it were a machine, and HAProxy in
 * front. The configuration is that of deploy/high-availability.
 */
export class AvailabilityCluster {
  private readonly folder = mkdtempSync(join(tmpdir(), 'accounts-nodes-'));
  private readonly etcds = new Map<number, ChildProcess>();
  private readonly managers = new Map<number, ChildProcess>();
  private haproxy: ChildProcess | undefined;

  /** `dcs` are settings of Patroni beside those of the configuration, such as `{ ttl: 20 }`. */
  static async start(dcs: Record<string, unknown> = {}): Promise<AvailabilityCluster> {
    const cluster = new AvailabilityCluster();
    try {
      await cluster.open(dcs);
    } catch (error) {
      await cluster.remove();
      throw error;
    }
    return cluster;
  }

  /** The superuser's address. */
  get url(): string {
    return addressOf('postgres');
  }

  get ownerUrl(): string {
    return addressOf('accounts_owner');
  }

  get serviceUrl(): string {
    return addressOf('accounts_service');
  }

  /** The address of the standby that commits wait for. */
  get replicaUrl(): string {
    return addressOf('accounts_service', 5433);
  }

  async leader(): Promise<number> {
    const roles = await this.roles();
    const leader = roles.find(({ role }) => role === 'primary');
    if (!leader) throw new Error(`no node leads: ${JSON.stringify(roles)}`);
    return leader.node;
  }

  async synchronousStandby(): Promise<number> {
    const roles = await this.roles();
    return roles.find(({ role }) => role === 'sync')?.node ?? 0;
  }

  /** Waits until one node leads, and both others follow it, one of them synchronously. */
  async untilWhole(): Promise<void> {
    await until(
      async () => {
        const roles = await this.roles();
        const has = (wanted: string) => roles.some(({ role }) => role === wanted);
        return roles.length === NODES.length && has('primary') && has('sync') && (await this.standbys()) === 2;
      },
      PATIENCE_MS,
      500,
    );
  }

  killPostgres(node: number): void {
    process.kill(this.postgresOf(node), 'SIGKILL');
  }

  /** Stops all processes of PostgreSQL where they are, as a disk does that does not answer, or lets them go on. */
  setPostgres(node: number, state: 'stalled' | 'running'): void {
    const pid = this.postgresOf(node);
    const signal = signalOf(state);
    // The first one first: it then starts no other.
    process.kill(pid, signal);
    spawnSync('pkill', [`-${signal}`, '-P', String(pid)]);
  }

  /** Stops all of a machine where it is, as one does whose host has no time for it. */
  setMachine(node: number, state: 'stalled' | 'running'): void {
    this.setPostgres(node, state);
    for (const child of [this.managers.get(node), this.etcds.get(node)]) child?.kill(signalOf(state));
  }

  killManager(node: number): void {
    this.managers.get(node)?.kill('SIGKILL');
  }

  killNode(node: number): void {
    this.killManager(node);
    this.killPostgres(node);
  }

  /** Starts what was killed, as a machine does when it is on again. */
  startNode(node: number): void {
    this.managers.set(node, inNetwork(node, ['patroni', 'patroni.yml'], this.environmentOf(node)));
  }

  killEtcd(node: number): void {
    this.etcds.get(node)?.kill('SIGKILL');
  }

  startEtcd(node: number): void {
    const address = `http://${SUBNET}.${node}`;
    const options = {
      name: `etcd${node}`,
      'data-dir': join(this.folder, `etcd${node}`),
      'listen-client-urls': `${address}:2379`,
      'advertise-client-urls': `${address}:2379`,
      'listen-peer-urls': `${address}:2380`,
      'initial-advertise-peer-urls': `${address}:2380`,
      'initial-cluster': NODES.map((other) => `etcd${other}=http://${SUBNET}.${other}:2380`).join(','),
    };
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    this.etcds.set(node, inNetwork(node, ['etcd', ...args]));
  }

  /** Cuts a node from all others and from the service, or connects it again. */
  setNetwork(node: number, state: 'up' | 'down'): void {
    ip('link', 'set', linkOf(node), state);
  }

  async switchover(): Promise<void> {
    const candidate = await this.synchronousStandby();
    const leader = await this.leader();
    await this.ask('POST', '/switchover', { leader: `node${leader}`, candidate: `node${candidate}` });
  }

  async remove(): Promise<void> {
    const children = [this.haproxy, ...this.managers.values(), ...this.etcds.values()];
    for (const child of children) child?.kill('SIGKILL');
    for (const node of NODES) spawnSync('pkill', ['-9', '-f', this.dataOf(node)]);
    removeNetworks();
    for (const child of children) if (child) await hasEnded(child);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async open(dcs: Record<string, unknown>): Promise<void> {
    mkdirSync(OUTPUT, { recursive: true });
    spawnSync('chown', [String(NOBODY), this.folder]);
    removeNetworks();
    makeNetworks();
    for (const node of NODES) this.startEtcd(node);
    for (const node of NODES) this.startNode(node);
    this.haproxy = spawn('haproxy', ['-q', '-f', join(CONFIGURATION, 'haproxy.cfg')], {
      stdio: 'ignore',
      env: { ...process.env, LISTEN: HERE, ...Object.fromEntries(NODES.map((n) => [`NODE${n}`, `${SUBNET}.${n}`])) },
    });
    await this.untilWhole();
    if (Object.keys(dcs).length > 0) await this.ask('PATCH', '/config', dcs);
  }

  /** Asks the leader's Patroni for a change. */
  private async ask(method: string, path: string, change: object): Promise<void> {
    const headers = { Authorization: `Basic ${btoa(`patroni:${PASSWORD}`)}` };
    const url = `http://${SUBNET}.${await this.leader()}:8008${path}`;
    const answer = await fetch(url, { method, body: JSON.stringify(change), headers });
    if (!answer.ok) throw new Error(await answer.text());
  }

  private async roles(): Promise<Role[]> {
    const all = await Promise.all(
      NODES.map(async (node): Promise<Role | undefined> => {
        for (const role of ['primary', 'sync', 'replica'] as const)
          if (await isAnsweredWith200(`http://${SUBNET}.${node}:8008/${role}`))
            return { node, role: role === 'replica' ? 'standby' : role };
        return undefined;
      }),
    );
    return all.filter((role) => role !== undefined);
  }

  private async standbys(): Promise<number> {
    try {
      const client = await connectTo(this.url);
      const { rows } = await client.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_replication WHERE state = 'streaming'`,
      );
      await client.end();
      return rows[0]?.count ?? 0;
    } catch {
      return 0;
    }
  }

  private postgresOf(node: number): number {
    return parseInt(readFileSync(join(this.dataOf(node), 'postmaster.pid'), 'utf8'), 10);
  }

  private dataOf(node: number): string {
    return join(this.folder, `postgres${node}`);
  }

  private environmentOf(node: number): Record<string, string> {
    const address = `${SUBNET}.${node}`;
    return {
      PATRONI_NAME: `node${node}`,
      PATRONI_ETCD3_HOSTS: NODES.map((other) => `'${SUBNET}.${other}:2379'`).join(','),
      PATRONI_RESTAPI_LISTEN: `${address}:8008`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `${address}:8008`,
      PATRONI_RESTAPI_USERNAME: 'patroni',
      PATRONI_RESTAPI_PASSWORD: PASSWORD,
      PATRONI_POSTGRESQL_LISTEN: `${address}:5432`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${address}:5432`,
      PATRONI_POSTGRESQL_DATA_DIR: this.dataOf(node),
      PATRONI_POSTGRESQL_BIN_DIR: installedPostgres() ?? '',
      PATRONI_POSTGRESQL_PGPASS: join(this.folder, `pgpass${node}`),
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_SUPERUSER_PASSWORD: PASSWORD,
      PATRONI_REPLICATION_USERNAME: 'replicator',
      PATRONI_REPLICATION_PASSWORD: PASSWORD,
      DATABASE_PASSWORD: PASSWORD,
      DATABASE_MIGRATION_PASSWORD: PASSWORD,
    };
  }
}

const signalOf = (state: 'stalled' | 'running') => (state === 'stalled' ? 'SIGSTOP' : 'SIGCONT');

function addressOf(user: string, port = 5432): string {
  return `postgresql://${user}:${PASSWORD}@${HERE}:${port}/accounts`;
}

async function isAnsweredWith200(url: string): Promise<boolean> {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    return status === 200;
  } catch {
    return false;
  }
}

function inNetwork(node: number, command: string[], env: Record<string, string> = {}): ChildProcess {
  const [program = '', ...args] = ['ip', 'netns', 'exec', networkOf(node), ...AS_ORDINARY_USER, ...command];
  const log = openSync(join(OUTPUT, `${command[0]}-${node}.log`), 'a');
  try {
    return spawn(program, args, {
      cwd: CONFIGURATION,
      stdio: ['ignore', log, log],
      env: { ...process.env, ...env },
    });
  } finally {
    closeSync(log);
  }
}

const networkOf = (node: number) => `accounts-node${node}`;
const linkOf = (node: number) => `acc-node${node}`;

function makeNetworks(): void {
  ip('link', 'add', BRIDGE, 'type', 'bridge');
  ip('addr', 'add', `${HERE}/24`, 'dev', BRIDGE);
  ip('link', 'set', BRIDGE, 'up');
  for (const node of NODES) {
    ip('netns', 'add', networkOf(node));
    ip('link', 'add', linkOf(node), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', networkOf(node));
    ip('link', 'set', linkOf(node), 'master', BRIDGE, 'up');
    ip('-n', networkOf(node), 'addr', 'add', `${SUBNET}.${node}/24`, 'dev', 'eth0');
    for (const device of ['lo', 'eth0']) ip('-n', networkOf(node), 'link', 'set', device, 'up');
  }
}

/** Also those that a killed run has left. */
function removeNetworks(): void {
  for (const node of NODES) spawnSync('ip', ['netns', 'del', networkOf(node)]);
  spawnSync('ip', ['link', 'del', BRIDGE]);
}

function ip(...args: string[]): void {
  const { status, stderr } = spawnSync('ip', args);
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr.toString()}`);
}

async function hasEnded(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve));
}
