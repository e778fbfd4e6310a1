import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { URL } from 'node:url';
import { watched } from '../cpu.mjs';
import { CONNECTIONS, subject } from '../load.mjs';
import { target } from '../measure.mjs';
import { person, post, readRequests, SQL } from '../people.mjs';
import { startService } from '../processes.mjs';
import { horizon } from '../seed.mjs';

const CLIENTS = 10_000;
const IDLE_SECONDS = 60;
const READ_SECONDS = 60;
const WAIT_SECONDS = 50;
const MOST = 5_000;
/** Number of waiting clients that a change concerns: all members of a group. */
const CONCERNED = [1, 100, MOST];

export const title = 'Clients that wait for a change';

export async function run(bench) {
  for (const count of CONCERNED)
    await bench.postgres.fill('bench', [
      `INSERT INTO groups (id, name, creator_id) VALUES ('waiting-${count}', 'Waiting', '${person(0).id}')`,
      `INSERT INTO group_members (group_id, member_id)
         SELECT 'waiting-${count}', ${SQL.id('n')} FROM generate_series(0, ${count - 1}) AS n`,
    ]);
  const server = await startService(bench, { isObserved: true });
  const loads = await readLoads(bench, server);
  const [, fifth] = loads;
  const alone = await times(bench, loads);
  const before = (await server.ask('settle')).rss;
  const version = await horizon(bench.postgres, 'bench');
  const clients = new Clients(bench, server, version);
  await clients.connect();
  const kilobytes = ((await server.ask('settle')).rss - before) / CLIENTS / 1_000;
  const idle = await watched(bench, [server.pid], () => sleep(IDLE_SECONDS * 1_000));
  const figures = [
    { name: `memory of each of ${CLIENTS} waiting clients`, unit: 'kB', values: [kilobytes] },
    { name: 'CPU of the service in a minute without changes', unit: 's', values: [idle.cpu?.server] },
    { name: 'CPU of PostgreSQL in that minute', unit: 's', values: [idle.cpu?.postgres] },
  ];
  for (const count of CONCERNED) figures.push(...(await changes(bench, server, clients, count)));
  const besideChanges = await timesBesideChanges(bench, clients, fifth);
  // Until the waits of those who heard of the last change have ended at different times.
  await sleep(IDLE_SECONDS * 1_000);
  const besideWaiting = await times(bench, loads);
  const { rss } = await server.ask('look');
  figures.push({ name: 'memory of the service after these reads', unit: 'MB', values: [rss / 1_000_000] });
  clients.close();
  // Until the memory of the clients is free.
  await server.ask('settle');
  const besideAsking = await timesBesideAsking(bench, { server, version, loads });
  await server.ask('settle');
  const after = await times(bench, loads);
  const without = Object.fromEntries(loads.map(({ rate }) => [rate, (alone[rate] + after[rate]) / 2]));
  figures.push(
    ...loads.map(({ rate }) => ({
      name: `p99 of reads ${rate} beside clients that ask as often, ratio to reads without clients`,
      values: [besideAsking[rate] / without[rate]],
    })),
    {
      name: `p99 of reads ${fifth.rate} beside changes that concern ${MOST}, that ratio`,
      values: [besideChanges / without[fifth.rate]],
    },
  );
  const checks = loads.map(({ rate }) =>
    target(
      `p99 of reads ${rate} beside ${CLIENTS} waiting clients, ratio to reads without`,
      'at most',
      2.5,
      besideWaiting[rate] / without[rate],
    ),
  );
  return { figures: figures.map((figure) => ({ unit: '', ...figure })), checks };
}

/** Shows what of the clients' cost is their calls, and what is the waiting. */
async function timesBesideAsking(bench, { server, version, loads }) {
  bench.say('  beside clients that ask as often, and do not wait:');
  const clients = new Clients(bench, server, version, { pauses: true });
  await clients.connect();
  await sleep(IDLE_SECONDS * 1_000);
  const found = await times(bench, loads);
  clients.close();
  return found;
}

/** Returns the p99 of reads while the most clients hear of one change after the other. */
async function timesBesideChanges(bench, clients, load) {
  bench.say(`  beside changes that concern ${MOST}:`);
  let isOver = false;
  const reading = times(bench, [load]).finally(() => (isOver = true));
  while (!isOver) {
    await rename(bench, clients, MOST);
    await sleep(1_000);
  }
  return (await reading)[load.rate];
}

/** Returns reads as fast as they are answered, and about a fifth as many. */
async function readLoads(bench, server) {
  const full = subject(bench, server, 'reads', readRequests(bench));
  await full.run(full.warmUpSeconds);
  const { rate, p50 } = await full.run(bench.options.seconds);
  const pauseMs = Math.round((5_000 * CONNECTIONS) / rate - p50 / 2);
  const fifth = subject(bench, server, 'a fifth of the reads', readRequests(bench), { pauseMs });
  return [
    { rate: 'at the full rate', reads: full },
    { rate: 'at a fifth of it', reads: fifth },
  ];
}

/** Returns the p99 of each load, over a minute: a short run may miss a stop of V8, or consist of one. */
async function times(bench, loads) {
  const found = {};
  for (const { rate, reads } of loads) {
    const run = await reads.run(READ_SECONDS);
    bench.say(`  reads ${rate}: ${run.rate.toFixed(0)}/s, p50 ${run.p50.toFixed(1)} ms, p99 ${run.p99.toFixed(1)} ms`);
    found[rate] = run.p99;
  }
  return found;
}

/** Renames a group of this number of waiting clients, in each round. */
async function changes(bench, server, clients, count) {
  const [first, last, cpu] = [[], [], []];
  for (let round = 0; round < bench.options.rounds; round += 1) {
    let times;
    const used = await watched(bench, [server.pid], async () => (times = await rename(bench, clients, count)));
    // Until the answered clients wait again.
    await sleep(1_000);
    first.push(Math.min(...times));
    last.push(Math.max(...times));
    cpu.push(used.cpu && used.cpu.server + used.cpu.postgres);
  }
  const whom = count === 1 ? 'a change that concerns 1' : `a change that concerns ${count}`;
  return [
    { name: `${whom}: until the first is answered`, unit: 'ms', values: first },
    { name: `${whom}: until the last is answered`, unit: 'ms', values: last },
    { name: `${whom}: CPU of both`, unit: 's', values: cpu },
  ];
}

/** Returns the times after which its waiting members have heard of a group's new name. */
async function rename(bench, clients, count) {
  const heard = clients.nextAnswers(count);
  const begun = performance.now();
  const name = `UPDATE groups SET name = 'Waiting ${begun}' WHERE id = 'waiting-${count}'`;
  await bench.postgres.run('bench', [name]);
  return (await heard).map((at) => at - begun);
}

/** Clients that always have a call under way that waits, or, if they pause, wait between their calls. */
class Clients {
  sockets = [];
  answers = [];
  wanted = 0;

  constructor(bench, server, version, { pauses = false } = {}) {
    this.bench = bench;
    this.server = server;
    this.version = version;
    this.pauses = pauses;
  }

  async connect() {
    const { hostname, port } = new URL(this.server.url);
    for (let index = 0; index < CLIENTS; index += 1) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      this.sockets.push(socket);
      this.waitOn(socket, index);
      // As they would arrive: within some seconds.
      if (index % 100 === 99) await sleep(50);
    }
    await sleep(2_000);
  }

  /** Resolves with the times of this number of answers. */
  async nextAnswers(count) {
    this.answers = [];
    this.wanted = count;
    return new Promise((resolve) => (this.resolve = resolve));
  }

  close() {
    for (const socket of this.sockets) socket.destroy();
  }

  waitOn(socket, index) {
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (part) => {
      text += part;
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? NaN);
      const isWhole = Number.isNaN(length) ? text.endsWith('0\r\n\r\n') : Buffer.byteLength(text) >= head + 4 + length;
      if (head < 0 || !isWhole) return;
      if (!text.includes(' 200 ')) this.bench.failed += 1;
      const isChange = text.includes('"name":"Waiting ');
      const version = Number(/"version":(\d+)/.exec(text)?.[1] ?? this.version);
      text = '';
      this.next(socket, index, version);
      if (!isChange) return;
      this.answers.push(performance.now());
      if (this.answers.length === this.wanted) this.resolve(this.answers);
    });
    // Their waits end at different times, as those of people who came at different times.
    this.next(socket, index, this.version, 1 + (index % WAIT_SECONDS));
  }

  next(socket, index, version, wait = WAIT_SECONDS) {
    if (!this.pauses) {
      this.ask(socket, index, version, { wait });
      return;
    }
    // As long as the service lets a call wait.
    const pause = wait * (0.8 + 0.2 * Math.random());
    setTimeout(() => this.ask(socket, index, version, {}), pause * 1_000).unref();
  }

  ask(socket, index, version, options) {
    if (socket.destroyed) return;
    const { path, headers } = post(this.bench, index, `/user/sync/${version}`);
    const body = JSON.stringify(options);
    const lines = { ...headers, Host: 'bench', 'Content-Type': 'application/json', 'Content-Length': body.length };
    const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`);
  }
}
