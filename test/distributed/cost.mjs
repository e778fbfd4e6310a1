import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
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
 * npm run distributed-cost: what an operation costs the servers of a Citus, and one PostgreSQL beside them: the time of
 * their processors, in turns. CITUS_BIN is the folder with the programs of a PostgreSQL that has Citus.
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

async function main() {
  const missing = missingForCitus();
  if (missing !== undefined) return process.stdout.write(`Nothing is measured: ${missing}.\n`);
  mkdirSync(OUTPUT, { recursive: true });
  const cluster = await CitusCluster.start();
  try {
    await cluster.sql('CREATE DATABASE alone', 0, 'postgres');
    const alone = cluster.inDatabase('alone');
    process.env.TEST_POSTGRES_URL = cluster.url;
    process.env.TEST_POSTGRES_SERVICE_URL = cluster.serviceUrl;
    const sides = {
      one: await sideOf(alone.url, alone.serviceUrl),
      several: await sideOf(cluster.url, cluster.serviceUrl),
    };
    const lines = ['| operation | one PostgreSQL | Citus, two workers | ratio |', '|---|---|---|---|'];
    for (const [name, { times, run }] of Object.entries(OPERATIONS)) {
      const spent = { one: 0, several: 0 };
      for (let round = 0; round < ROUNDS; round += 1)
        for (const key of ['one', 'several']) {
          const before = cpuOfTrees(cluster.processes());
          for (let count = 0; count < times; count += 1) await run(sides[key], count);
          spent[key] += cpuOfTrees(cluster.processes()) - before;
        }
      const [one, several] = [spent.one, spent.several].map((seconds) => (seconds * 1_000) / (ROUNDS * times));
      lines.push(`| ${name} | ${one.toFixed(2)} ms | ${several.toFixed(2)} ms | ${(several / one).toFixed(1)} |`);
    }
    process.stdout.write(`${lines.join('\n')}\n`);
    for (const { app } of Object.values(sides)) await app.close();
  } finally {
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
