import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { migrate } from '../../src/database/migrations';
import { startApp, type TestApp } from '../support/app';
import { CitusCluster, missingForCitus } from '../support/citus';
import { insertPerson, type SignedInPerson } from '../support/people';
import { OUTPUT } from '../support/paths';
import { insertGroup } from '../support/sync';

/**
 * npm run distributed-cost: what an operation costs the servers of a Citus, and one PostgreSQL beside them: the time of
 * their processors, in turns. CITUS_BIN is the folder with the programs of a PostgreSQL that has Citus.
 */
const ROUNDS = 3;
const FRIENDS = 20;
const GROUPS = 2;

interface Side {
  app: TestApp;
  ann: SignedInPerson;
  version: number;
}

type Operation = (side: Side, count: number) => Promise<unknown>;

const OPERATIONS: Record<string, { times: number; run: Operation }> = {
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

async function main(): Promise<void> {
  const missing = missingForCitus();
  if (missing !== undefined) return void process.stdout.write(`Nothing is measured: ${missing}.\n`);
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
        for (const key of ['one', 'several'] as const) {
          const before = cpuOf(cluster);
          for (let count = 0; count < times; count += 1) await run(sides[key], count);
          spent[key] += cpuOf(cluster) - before;
        }
      const [one, several] = [spent.one / (ROUNDS * times), spent.several / (ROUNDS * times)];
      lines.push(`| ${name} | ${one.toFixed(2)} ms | ${several.toFixed(2)} ms | ${(several / one).toFixed(1)} |`);
    }
    process.stdout.write(`${lines.join('\n')}\n`);
    for (const { app } of Object.values(sides)) await app.close();
  } finally {
    cluster.remove();
  }
}

async function sideOf(ownerUrl: string, databaseUrl: string): Promise<Side> {
  await migrate(ownerUrl);
  const app = await startApp({ CHANGES_PER_USER_HOUR: '0' }, { databaseUrl });
  const person = await insertPerson(app, 'Ann');
  const ann: SignedInPerson = { ...person, agent: app.agent() };
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
  const { version } = (await ok(ann.agent.post('/user/sync/0'))) as { version: number };
  return { app, ann, version };
}

/** Returns the result of a call that must succeed. */
async function ok(asked: PromiseLike<{ status: number; body: unknown }>): Promise<unknown> {
  const { status, body } = await asked;
  const { code, result } = body as { code: number; result?: unknown };
  if (status !== 200 || code !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return result;
}

/** Milliseconds of the processors that the servers have used, with their processes that have ended. */
function cpuOf(cluster: CitusCluster): number {
  const parents = new Set(cluster.processes());
  const ticks = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ticksOf(Number(pid), parents))
    .reduce((sum, one) => sum + one, 0);
  return ticks * 10;
}

function ticksOf(pid: number, parents: Set<number>): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15);
    if (parents.has(pid)) return user + system + childrenUser + childrenSystem;
    return parents.has(parent) ? user + system : 0;
  } catch {
    // It has ended.
    return 0;
  }
}

void main();
