import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import { cpuOfTrees } from '../../bench/cpu.mjs';

const require = createRequire(import.meta.url);
// The tests' helpers are TypeScript, and the service imports some modules only when it needs them.
require('tsx/cjs');
await import('tsx/esm');
const { migrate } = require('../../src/database/migrations');
const { startApp } = require('../support/app');
const { CitusCluster, missingForCitus } = require('../support/citus');
const { insertPerson } = require('../support/people');
const { OUTPUT } = require('../support/paths');
const { insertGroup } = require('../support/sync');

/**
 * npm run distributed-cost: what an operation costs the servers of a Citus, and one PostgreSQL in turns with it: the time of
 * their processors, and until the answer. CITUS_BIN is the folder with the programs of a PostgreSQL that has Citus.
 */
const ROUNDS = 3;
const FRIENDS = 20;
const GROUPS = 2;

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
  'an entry of the blacklist': {
    times: 100,
    run: ({ ann }, count) =>
      ok(ann.agent.post('/user/add_to_blacklist').send({ friendId: `friend-${count % FRIENDS}` })),
  },
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
  for (const cluster of CLUSTERS) columns.push(...(await measure(cluster, columns.length === 0)));
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
  for (const name of Object.keys(OPERATIONS))
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
  try {
    process.env.TEST_POSTGRES_URL = cluster.url;
    process.env.TEST_POSTGRES_SERVICE_URL = cluster.serviceUrl;
    if (isBesideOne) {
      await cluster.sql('CREATE DATABASE alone', 0, 'postgres');
      const alone = cluster.inDatabase('alone');
      sides.push({ title: 'one PostgreSQL', ...(await sideOf(alone.url, alone.serviceUrl)) });
    }
    await cluster.sql(`ALTER DATABASE accounts SET citus.shard_count = ${parts}`);
    const title = `${workers} workers, ${parts} parts`;
    sides.push({ title, ...(await sideOf(cluster.url, cluster.serviceUrl)) });
    const columns = sides.map((side) => ({ title: side.title, cells: {} }));
    for (const [name, { times, run }] of Object.entries(OPERATIONS)) {
      const spent = sides.map(() => ({ cpu: 0, ms: 0 }));
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [index, side] of sides.entries()) {
          const [cpu, begun] = [cpuOfTrees(cluster.processes()), performance.now()];
          for (let count = 0; count < times; count += 1) await run(side, count);
          spent[index].ms += performance.now() - begun;
          spent[index].cpu += (cpuOfTrees(cluster.processes()) - cpu) * 1_000;
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

async function sideOf(ownerUrl, databaseUrl) {
  await migrate(ownerUrl);
  const app = await startApp({ CHANGES_PER_USER_HOUR: '0' }, { databaseUrl });
  const person = await insertPerson(app, 'Ann');
  const ann = { ...person, agent: app.agent() };
  const { region, phone, password } = person;
  await ok(ann.agent.post('/user/login').send({ region, phone, password }));
  for (let index = 0; index < FRIENDS; index += 1) {
    const friend = await insertPerson(app, `Friend ${index}`, `friend-${index}`);
    await app.db('friendships').insert([
      { user_id: ann.id, friend_id: friend.id, status: 20 },
      { user_id: friend.id, friend_id: ann.id, status: 20 },
    ]);
  }
  const members = Array.from({ length: 5 }, (_, index) => ({ id: `friend-${index}` }));
  for (let index = 0; index < GROUPS; index += 1) {
    const people = [ann, ...members];
    for (const { id } of people) await app.db.raw('SELECT user_joins(?, ?)', [id, `group-${index}`]);
    await insertGroup(app, `group-${index}`, people);
  }
  const { version } = await ok(ann.agent.post('/user/sync/0'));
  return { app, ann, version };
}

/** Returns the result of a call that must succeed. */
async function ok(asked) {
  const { status, body } = await asked;
  if (status !== 200 || body.code !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body.result;
}

await main();
