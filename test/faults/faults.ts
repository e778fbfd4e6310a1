import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectTo, processesIn, TestCluster } from '../support/clusters';
import { moveAll } from '../support/move';
import { Pgbouncer } from '../support/pgbouncer';
import { startTwilioStandIn, type TwilioStandIn } from '../support/stand-ins/twilio';
import { until } from '../support/until';
import { ROOT } from '../support/service-process';
import { AVAILABILITY } from './availability';
import { DISTRIBUTED } from './distributed';
import { TELLING } from './telling';
import { throughTwilio } from './twilio-inbox';
import { hasProgram, isRoot } from '../support/machine';
import { RoughClients } from './rough-clients';
import type { Setting, World } from './world';

export interface Row {
  cells: string[];
  isGood: boolean;
}

export interface Table {
  /** The first column has the fault's title. */
  head: string[];
  /** Judges a run when people have stopped. */
  judge: (world: World, title: string) => Promise<Row>;
}

export interface Fault {
  name: string;
  /** The title in the table. */
  title: string;
  /** A name for several faults, which --only takes too. */
  group?: string;
  /** Included in the short run, which every push plays. */
  short?: true;
  /** Returns why it cannot be played on this machine. */
  missing?: () => string | undefined;
  setting?: () => Setting | Promise<Setting>;
  /** Requires that no call fails, not even with a 503. */
  unnoticed?: true;
  /** The longest that a call may take. */
  longestMs?: number;
  /** Time for which it is watched afterwards. Default: a few seconds. */
  afterMs?: number;
  /** A table of its own, with other columns. */
  table?: Table;
  /** Plays the fault, and resolves when it has ended. */
  play: (world: World) => Promise<void>;
  /** Repairs what is still broken, while people go on. */
  heal?: () => Promise<void>;
  tidyUp?: () => Promise<void> | void;
}

const END_ALL = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'user-account-service' AND pid <> pg_backend_pid()`;

export async function sql(world: World, statement: string): Promise<void> {
  const client = await connectTo(world.cluster.url);
  await client.query(statement);
  await client.end();
}

async function useUpIds(world: World, count: number): Promise<void> {
  const client = await connectTo(world.cluster.url);
  for (let n = 0; n < count; n += 1) await client.query('BEGIN; SELECT pg_current_xact_id(); ROLLBACK');
  await client.end();
}

const stall =
  (milliseconds: number): Fault['play'] =>
  async ({ proxy }) => {
    proxy.stall();
    await sleep(milliseconds);
    proxy.resume();
  };

let twilio: TwilioStandIn | undefined;
let pgbouncer: Pgbouncer | undefined;
let proxyProgram: ChildProcess | undefined;
let folder = '';

function newScratchFolder(): string {
  folder = mkdtempSync(join(tmpdir(), 'accounts-faults-'));
  spawnSync('chmod', ['777', folder]);
  return folder;
}

async function endProxy(): Promise<void> {
  const program = proxyProgram;
  proxyProgram = undefined;
  const ended = program && new Promise((resolve) => program.once('exit', resolve));
  program?.kill('SIGTERM');
  await ended;
  if (folder) rmSync(folder, { recursive: true, force: true });
  folder = '';
}

export const FAULTS: Fault[] = [
  { name: 'none', title: 'none', play: () => sleep(5_000) },

  // --- the connection to the database
  { name: 'stall-3', title: 'the connections to the database stall for 3 s', play: stall(3_000) },
  {
    name: 'stall',
    title: 'they stall for 5.6 s from the beginning of a transaction, then all backends are terminated, three times',
    short: true,
    play: repeat(
      3,
      async (world) => {
        const { proxy } = world;
        proxy.stallAt('BEGIN;');
        await until(() => proxy.stalled);
        await sleep(5_600);
        proxy.resume();
        // This rolls back anything that runs in a transaction which no caller has begun.
        await sleep(700);
        await sql(world, END_ALL);
      },
      1_500,
    ),
  },
  { name: 'stall-20', title: 'they stall for 20 s', play: stall(20_000) },
  {
    name: 'mute',
    title: 'all existing connections fall silent, new ones work',
    short: true,
    play: async ({ proxy }) => proxy.mute(),
  },
  {
    name: 'mute-quiet',
    title: 'all existing connections fall silent after 15 quiet seconds',
    play: async (world) => {
      await world.pause();
      await sleep(15_000);
      world.proxy.mute();
      world.resume();
    },
  },
  {
    name: 'cut',
    title: 'all connections break, each second, ten times',
    play: repeat(10, async ({ proxy }) => proxy.cut(), 1_000),
  },

  // --- PostgreSQL
  {
    name: 'terminate',
    title: 'an operator terminates all backends, each second, five times',
    short: true,
    play: repeat(5, (world) => sql(world, END_ALL), 1_000),
  },
  {
    name: 'crash',
    title:
      'kill -9 of one process of PostgreSQL, three times, each after transaction ids that were not written to disk',
    short: true,
    play: repeat(
      3,
      async (world) => {
        await useUpIds(world, 20);
        await Promise.all(world.people.map((person) => person.synchronise()));
        await world.cluster.killBackend();
      },
      3_000,
    ),
  },
  { name: 'kill-server', title: 'kill -9 of the whole PostgreSQL', play: ({ cluster }) => cluster.killServer() },
  {
    name: 'restart-server',
    title: 'PostgreSQL is shut down for 3 s',
    play: async ({ cluster }) => {
      await cluster.stop();
      await sleep(3_000);
      await cluster.start();
    },
  },
  {
    name: 'freeze',
    title: 'PostgreSQL is frozen for 7 s',
    play: async ({ cluster }) => {
      const pids = processesIn(cluster.path);
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      await sleep(7_000);
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    },
  },
  {
    name: 'snapshot',
    title: 'a disk snapshot is restored, 500 transaction ids older',
    short: true,
    play: async (world) => {
      const { cluster } = world;
      await world.pause();
      // Synchronises now, so that nobody has to log in between the snapshot and its restore.
      await Promise.all(world.people.map((person) => person.synchronise()));
      await sql(world, 'CHECKPOINT');
      const copy = cluster.snapshot();
      await useUpIds(world, 500);
      await Promise.all(world.people.map((person) => person.synchronise()));
      await cluster.stop();
      cluster.putBack(copy);
      await cluster.start();
      world.resume();
    },
  },
  {
    name: 'failover',
    title: 'the primary dies, a synchronous standby takes over',
    play: (world) => world.failOver(),
  },
  {
    name: 'move',
    title: 'all is moved to another PostgreSQL, and the service restarted',
    setting: () => ({ postgres: { wal_level: 'logical' } }),
    play: async (world) => {
      const [left, next] = [world.cluster, await TestCluster.start({ max_connections: '200' })];
      await moveAll(left.url, next.url);
      world.cluster = next;
      await world.useDatabase({ url: next.url, ownerUrl: next.url, serviceUrl: next.serviceUrl });
      await left.remove();
    },
  },

  // --- locks
  {
    name: 'lock',
    title: 'another session locks the rows of five users and a group for 8 s',
    short: true,
    play: async (world) => {
      const client = await connectTo(world.cluster.url);
      await client.query('BEGIN');
      const ids = world.people.slice(0, 5).map(({ id }) => id);
      await client.query('SELECT FROM users WHERE id = ANY ($1) ORDER BY id FOR UPDATE', [ids]);
      await client.query(`SELECT FROM groups WHERE id = 'red' FOR UPDATE`);
      await sleep(8_000);
      await client.end();
    },
  },
  {
    name: 'lock-table',
    title: 'another session locks the whole table of limits for 6 s',
    play: async (world) => {
      const client = await connectTo(world.cluster.url);
      await client.query('BEGIN; LOCK TABLE rate_limits IN ACCESS EXCLUSIVE MODE');
      await sleep(6_000);
      await client.end();
    },
  },
  {
    name: 'migrate',
    title: 'an instance migrates while a reader holds a lock for 8 s',
    play: async (world) => {
      // As if the newest migration were not applied yet.
      await sql(world, `DELETE FROM knex_migrations WHERE name = '0010_captchas_png_only'`);
      const client = await connectTo(world.cluster.url);
      await client.query('BEGIN; SELECT FROM captchas LIMIT 1');
      const migrating = world.startInstance(1);
      await sleep(8_000);
      await client.end();
      await migrating;
    },
  },

  // --- the service
  {
    name: 'kill',
    title: 'kill -9 of the service, three times',
    short: true,
    play: repeat(
      3,
      async (world) => {
        const [killed] = world.instances;
        killed?.signal('SIGKILL');
        await killed?.exited;
        await world.startInstance(0);
      },
      2_000,
    ),
  },
  {
    name: 'rolling',
    title: 'two instances behind HAProxy are restarted in turn, twice, during malformed and slow requests',
    unnoticed: true,
    missing: () => hasProgram('haproxy'),
    setting: () => ({ instances: 2, env: { LEAVE_SECONDS: '3' } }),
    play: (world) => restartBehind(world, startHaproxy(world)),
    tidyUp: endProxy,
  },
  {
    name: 'rolling-caddy',
    title: 'such restarts with the Caddyfile of the compose file',
    unnoticed: true,
    missing: () => hasProgram('caddy'),
    setting: () => ({ instances: 2, env: { LEAVE_SECONDS: '3' } }),
    play: (world) => restartBehind(world, startCaddy(world)),
    tidyUp: endProxy,
  },

  // --- others
  {
    name: 'sms',
    title: 'the SMS provider does not answer for 40 s',
    afterMs: 40_000,
    setting: async () => {
      twilio = await startTwilioStandIn();
      return throughTwilio(twilio);
    },
    play: async () => {
      twilio?.behave('hang');
      await sleep(40_000);
      twilio?.behave('accept');
    },
    tidyUp: () => twilio?.close(),
  },
  {
    name: 'disk-full',
    title: "the database's disk is full for 5 s",
    missing: isRoot,
    play: async ({ cluster }) => {
      const free = cluster.fillDisk();
      await sleep(5_000);
      free();
    },
    setting: () => ({ diskMegabytes: 400 }),
  },
  {
    name: 'pgbouncer',
    title: 'an operator terminates connections of PgBouncer',
    missing: () => hasProgram('pgbouncer') ?? isRoot(),
    setting: () => ({
      env: { DATABASE_PREPARE: 'off', AUTO_MIGRATE: 'off' },
      databaseUrl: async ({ proxy }) => {
        pgbouncer ??= await Pgbouncer.start({ accounts: proxy.url });
        return pgbouncer.urlOf('accounts');
      },
    }),
    play: repeat(3, (world) => sql(world, END_ALL), 2_000),
    tidyUp: async () => {
      await pgbouncer?.stop();
      pgbouncer = undefined;
    },
  },

  // --- three nodes
  ...AVAILABILITY,
  ...DISTRIBUTED,

  // --- telling others of events
  ...TELLING,
];

function repeat(times: number, play: Fault['play'], pauseMs: number): Fault['play'] {
  return async (world) => {
    for (let count = 0; count < times; count += 1) {
      if (count > 0) await sleep(pauseMs);
      await play(world);
    }
  };
}

async function restartBehind(world: World, socket: string): Promise<void> {
  await until(() => existsSync(socket));
  world.calls.sendThrough(socket);
  const rough = new RoughClients(() => connect(socket));
  try {
    await sleep(3_000);
    for (const index of [0, 1, 0, 1]) {
      const instance = world.instances[index];
      const { port } = new URL(instance?.url ?? '');
      await instance?.stop();
      await world.startInstance(index, { PORT: port });
      await sleep(2_000);
    }
  } finally {
    await rough.stop();
  }
}

/** Starts Caddy, which listens on a socket here. */
function startCaddy(world: World): string {
  const socket = join(newScratchFolder(), 'caddy.sock');
  const config = readFileSync(join(ROOT, 'deploy', 'Caddyfile'), 'utf8');
  writeFileSync(
    join(folder, 'Caddyfile'),
    config.replace('{$SITE}, https://127.0.0.1 {', `http:// {\n\tbind unix/${socket}`),
  );
  const instances = world.instances.map(({ url }) => new URL(url).host).join(' ');
  proxyProgram = spawn('caddy', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, INSTANCES: instances, IMAGE_INSTANCES: instances },
  });
  return socket;
}

function startHaproxy(world: World): string {
  const socket = join(newScratchFolder(), 'haproxy.sock');
  const servers = world.instances.map(({ url }, index) => `  server s${index} ${new URL(url).host} check`);
  const config = [
    'defaults',
    '  mode http',
    '  timeout connect 2s',
    '  timeout client 30s',
    '  timeout server 30s',
    'frontend all',
    `  bind ${socket} mode 666`,
    '  default_backend service',
    'backend service',
    '  option httpchk GET /readyz',
    '  default-server inter 500ms fall 2 rise 1',
    '  option redispatch',
    '  retries 3',
    '  retry-on conn-failure',
    ...servers,
  ];
  writeFileSync(join(folder, 'haproxy.cfg'), `${config.join('\n')}\n`);
  proxyProgram = spawn('haproxy', ['-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' });
  return socket;
}
