import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuOfTrees } from '../../bench/cpu.mjs';

const require = createRequire(import.meta.url);
// The tests' helpers are TypeScript.
require('../../scripts/launch/typescript.cjs');
const { migrate } = require('../../src/database/migrations');
const { startApp } = require('../support/app');
const { CitusCluster, missingForCitus } = require('../support/citus');
const { insertPerson } = require('../support/people');
const { OUTPUT } = require('../support/paths');
const { insertGroup } = require('../support/sync');

/**
 * npm run distributed-cost: what an operation costs the servers of a Citus, and one PostgreSQL in turns with it: the time of
 * their processors, and until the answer. Then what an idle instance costs. CITUS_BIN is the folder with the
 * programs of a PostgreSQL that has Citus. With --first only the first Citus is measured.
 */
const ROUNDS = 3;
const FRIENDS = 20;
const MANY_FRIENDS = 50;
const GROUPS = 2;
const CODES = 30;
const IDLE_SECONDS = 20;
const IDLE = 'an idle instance, a second';

const OPERATIONS = {
  'a profile': { times: 400, run: ({ ann }) => ok(ann.agent.post(`/user/${ann.id}`)) },
  'a sync with nothing new': {
    times: 200,
    run: ({ ann, version }) => ok(ann.agent.post(`/user/sync/${version}`)),
  },
  [`a new nickname, with ${FRIENDS} friends and ${GROUPS} groups`]: {
    times: 60,
    run: ({ ann }, count) => ok(ann.agent.post('/user/set_nickname').send({ nickname: `Ann ${count}` })),
  },
  [`a new nickname, with ${MANY_FRIENDS} friends`]: {
    times: 30,
    run: ({ pat }, count) => ok(pat.agent.post('/user/set_nickname').send({ nickname: `Pat ${count}` })),
  },
  'an entry of the blacklist': {
    times: 100,
    run: ({ ann }, count) =>
      ok(ann.agent.post('/user/add_to_blacklist').send({ friendId: `friend-${count % FRIENDS}` })),
  },
  'a login, without its bcrypt': { times: 60, run: ({ app, pat }) => logIn(app.agent(), pat) },
  'a code for a phone with an account': {
    times: CODES,
    run: ({ app, toSend }) => {
      const { region, phone } = toSend.pop();
      return ok(app.api.post('/user/send_code').send({ region, phone }));
    },
  },
};

/** Without limits that these calls would meet. */
const SETTINGS = {
  CHANGES_PER_USER_HOUR: '0',
  LOGINS_PER_PHONE_AND_IP_HOUR: '0',
  SEND_CODE_PER_IP_HOUR: '0',
};

/** The first is compared with one PostgreSQL, in turns. */
const CLUSTERS = [
  { workers: 2, parts: 32 },
  { workers: 2, parts: 8 },
  { workers: 2, parts: 64 },
  { workers: 4, parts: 32 },
];

async function main() {
  const missing = missingForCitus();
  if (missing !== undefined) return process.stdout.write(`Nothing is measured: ${missing}.\n`);
  mkdirSync(OUTPUT, { recursive: true });
  const columns = [];
  const clusters = process.argv.includes('--first') ? CLUSTERS.slice(0, 1) : CLUSTERS;
  for (const cluster of clusters) columns.push(...(await measure(cluster, columns.length === 0)));
  const lines = [
    row(
      'operation',
      columns.map(({ title }) => title),
    ),
    row(
      '---',
      columns.map(() => '---'),
    ),
  ];
  for (const name of [...Object.keys(OPERATIONS), IDLE])
    lines.push(
      row(
        name,
        columns.map(({ cells }) => cells[name]),
      ),
    );
  process.stdout.write(`${lines.join('\n')}\n`);
}

const row = (first, cells) => `| ${[first, ...cells].join(' | ')} |`;

/** Returns what each operation costs on a Citus, and on one PostgreSQL of its first server. */
async function measure({ workers, parts }, isBesideOne) {
  const cluster = await CitusCluster.start(workers);
  const sides = [];
  const idle = () => cpuWhile(cluster, () => sleep(IDLE_SECONDS * 1_000));
  const add = async (title, urls) => {
    await migrate(urls.url);
    const before = await idle();
    const side = await sideOf(urls.serviceUrl);
    const perSecond = Math.max(0, (await idle()) - before) / IDLE_SECONDS;
    sides.push({ title, idle: perSecond, ...side });
  };
  try {
    process.env.TEST_POSTGRES_URL = cluster.url;
    process.env.TEST_POSTGRES_SERVICE_URL = cluster.serviceUrl;
    if (isBesideOne) {
      await cluster.sql('CREATE DATABASE alone', 0, 'postgres');
      await add('one PostgreSQL', cluster.inDatabase('alone'));
    }
    await cluster.sql(`ALTER DATABASE accounts SET citus.shard_count = ${parts}`);
    await add(`${workers} workers, ${parts} parts`, cluster);
    const columns = sides.map(({ title, idle }) => ({ title, cells: { [IDLE]: `${idle.toFixed(1)} ms` } }));
    for (const [name, { times, run }] of Object.entries(OPERATIONS)) {
      const spent = sides.map(() => ({ cpu: 0, ms: 0 }));
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [index, side] of sides.entries()) {
          const begun = performance.now();
          spent[index].cpu += await cpuWhile(cluster, async () => {
            for (let count = 0; count < times; count += 1) await run(side, count);
          });
          spent[index].ms += performance.now() - begun;
        }
      for (const [index, { cpu, ms }] of spent.entries()) {
        const [each, took] = [cpu, ms].map((sum) => (sum / (ROUNDS * times)).toFixed(2));
        columns[index].cells[name] = `${each} ms, ${took} ms`;
      }
    }
    return columns;
  } finally {
    for (const { app } of sides) await app.close();
    cluster.remove();
  }
}

/** Returns the time of the servers' processors, in milliseconds. */
async function cpuWhile(cluster, work) {
  const before = cpuOfTrees(cluster.processes());
  await work();
  return (cpuOfTrees(cluster.processes()) - before) * 1_000;
}

async function sideOf(databaseUrl) {
  const app = await startApp(SETTINGS, { databaseUrl });
  const [ann, pat] = [await signedIn(app, 'Ann'), await signedIn(app, 'Pat')];
  for (let index = 0; index < MANY_FRIENDS; index += 1) {
    const friend = await insertPerson(app, `Friend ${index}`, `friend-${index}`);
    for (const { id } of index < FRIENDS ? [ann, pat] : [pat])
      for (const [one, other] of [
        [id, friend.id],
        [friend.id, id],
      ])
        await app.db('friendships').insert({ user_id: one, friend_id: other, status: 20 });
  }
  const members = Array.from({ length: 5 }, (_, index) => ({ id: `friend-${index}` }));
  for (let index = 0; index < GROUPS; index += 1) {
    const people = [ann, ...members];
    for (const { id } of people) await app.db.raw('SELECT user_joins(?, ?)', [id, `group-${index}`]);
    await insertGroup(app, `group-${index}`, people);
  }
  const toSend = [];
  for (let index = 0; index < CODES * ROUNDS; index += 1) toSend.push(await insertPerson(app));
  const { version } = await ok(ann.agent.post('/user/sync/0'));
  return { app, ann, pat, toSend, version };
}

async function signedIn(app, nickname) {
  const person = { ...(await insertPerson(app, nickname)), agent: app.agent() };
  await logIn(person.agent, person);
  return person;
}

const logIn = (agent, { region, phone, password }) => ok(agent.post('/user/login').send({ region, phone, password }));

/** Returns the result of a call that must succeed. */
async function ok(asked) {
  const { status, body } = await asked;
  if (status !== 200 || body.code !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body.result;
}

await main();
