import { SILENCE_MS } from '../../../src/database/connection-watch';
import { DEADLINE_MS } from '../../../src/http/deadline';
import { startApp, type Env, type TestApp } from '../../support/app';
import { expectBody, expectRefusal, post, inParallel } from '../../support/calls';
import { FaultProxy } from '../../support/fault-proxy';
import { PATIENCE } from '../../support/patience';
import {
  insertAndLogIn,
  insertAndSignIn,
  insertPerson,
  registrationOf,
  type SignedInPerson,
} from '../../support/people';
import { realTime } from '../../support/real-time';
import { stage } from '../../support/stage';
import { connectWriter } from '../../support/sync';
import { until } from '../../support/until';

/** An undisturbed instance, to look at what the database really holds. */
const { app: witness } = stage();
let proxy: FaultProxy;
let app: TestApp;

async function startBehindProxy(env: Env = {}, patience = 1): Promise<void> {
  proxy = await FaultProxy.start(witness.databaseUrl);
  app = await startApp(env, { databaseUrl: proxy.url, dataDir: witness.dataDir, patience });
}

afterEach(async () => {
  proxy.resume();
  await app.close();
  await proxy.close();
});

const nicknameOf = async ({ id }: { id: string }) =>
  (await witness.db('users').where({ id }).first<{ nickname: string }>('nickname')).nickname;

const rename = ({ agent }: SignedInPerson, nickname: string) => post(agent, '/user/set_nickname', { nickname });

describe('a connection whose statement timed out', () => {
  /** Lets a registration get stuck at a statement, and expects that later writes are kept. */
  async function writtenAfterStuck(statement: string) {
    await startBehindProxy({ DATABASE_POOL_MAX: '1' });
    const people = await inParallel(3, () => insertAndSignIn(app));
    const registration = await registrationOf(app);
    proxy.stallAt(statement);
    const stuck = post(app.api, '/user/register', registration);
    await until(() => proxy.stalled);
    expectRefusal(await stuck, 503, '', 'overloaded');
    proxy.resume();
    for (const person of people) expectBody(await rename(person, 'Kept'), { code: 200 });
    for (const person of people) expect(await nicknameOf(person)).toBe('Kept');
    return { people, registration };
  }

  // guard connections-1: a connection whose statement timed out is dropped before that statement can run among others
  // src/database/pool.ts
  // - connectionTimeoutMillis: patience * 2_000,
  // + connectionTimeoutMillis: patience * 2_000, query_timeout: 5_000,
  // src/database/connection-watch.ts
  // - >= this.patience * SILENCE_MS
  // + >= 1e9
  // src/database/pool.ts
  // - !client.isClean
  // + false
  it('is not reused after a BEGIN that got stuck, so that later writes are committed', async () => {
    const { people } = await writtenAfterStuck('BEGIN;');
    const [ann, bob] = people;
    expectBody(await post(ann?.agent ?? app.api, '/user/add_to_blacklist', { friendId: bob?.id }), { code: 200 });
    expect(await witness.db('blacklist').where({ user_id: ann?.id }).pluck('friend_id')).toEqual([bob?.id]);
  });

  it('is not reused after a statement that got stuck, so that no late ROLLBACK hits later writes', async () => {
    const { registration } = await writtenAfterStuck('insert into "users"');
    // Nothing is half done: the token is still valid.
    expect((await post(app.api, '/user/register', registration)).body).toMatchObject({ code: 200 });
  });

  // guard connections-2: a connection that is returned within a transaction is dropped
  // src/database/pool.ts
  // - !client.isClean
  // + false
  it('is not reused when it is returned to the pool within a transaction', async () => {
    await startBehindProxy({ DATABASE_POOL_MAX: '1' });
    const person = await insertAndSignIn(app);
    await app.serviceDb.raw('BEGIN');
    expectBody(await rename(person, 'Kept'), { code: 200 });
    expect(await nicknameOf(person)).toBe('Kept');
  });
});

describe('the log', () => {
  // guard connections-7: a refusal because of overload or an outage is one line in the log
  // src/http/error-handler.ts
  // - if (appError.status === 503 && appError.cause === undefined) res.locals.unavailable = errorForLog(error).message;
  // + if (appError.status === 503 && appError.cause === undefined) logger.warn({ requestId: res.req.id }, 'unavailable');
  it('has one line when the database goes down and one when it is back', async () => {
    await startBehindProxy();
    const person = await insertAndSignIn(app);
    proxy.refuse();
    for (let count = 0; count < 5; count += 1) expectRefusal(await rename(person, 'Lost'), 503);
    proxy.resume();
    await until(async () => (await rename(person, 'Found')).status === 200);
    await until(() => lines('the database is available again').length > 0);
    expect(lines('the database is unavailable')).toHaveLength(1);
    expect(lines('the database is available again')).toEqual([
      expect.objectContaining({ awayMs: expect.any(Number) as number }),
    ]);
    // There is also a line for each request refused in that time, with the reason and without a stack.
    const [refused, ...more] = app.logged().filter(({ status }) => status === 503);
    expect(refused).toMatchObject({ route: '/user/set_nickname', cause: expect.stringMatching(/./) as string });
    expect(app.logged().filter(({ requestId }) => requestId === refused?.requestId)).toEqual([refused]);
    expect(more.length).toBeGreaterThanOrEqual(4);
  });

  const lines = (msg: string) => app.logged().filter((line) => line.msg === msg);
});

describe('connections that fall silent', () => {
  // guard connections-3: a silent connection is dropped
  // src/database/connection-watch.ts
  // - >= this.patience * SILENCE_MS
  // + >= 1e9
  // guard connections-4: when a connection is silent, idle ones are dropped too
  // src/database/connection-watch.ts
  // - if (client.readyForQuery || silent.includes(client))
  // + if (silent.includes(client))
  it('are replaced within two time-outs, also after a quiet time, when new ones work', async () => {
    await startBehindProxy();
    const people = await inParallel(3, () => insertPerson(app));
    const login = (index: number) => post(app.api, '/user/login', people[index % people.length]);
    for (const answer of await inParallel(12, login)) expect(answer.status).toBe(200);
    await realTime(6_500);

    proxy.mute();
    const statuses: number[] = [];
    await until(async () => {
      statuses.push((await login(0)).status);
      return statuses.at(-1) === 200;
    });
    // Each of the others has waited for one time-out.
    expect(statuses.length - 1).toBeLessThanOrEqual(2);

    // All of them, not only the one that was found.
    for (const answer of await inParallel(12, login)) expect(answer.status).toBe(200);
    await until(async () => (await app.api.get('/readyz')).status === 200);
  });

  it('fail the reads and writes waiting on them before the deadline of a request', async () => {
    await startBehindProxy();
    const person = await insertAndSignIn(app);
    await post(person.agent, '/user/sync/0');
    proxy.stall();
    const answers = await Promise.all([
      rename(person, 'Lost'),
      post(person.agent, `/user/${person.id}`),
      post(person.agent, '/user/sync/0'),
      post(app.api, '/user/login', person),
    ]);
    for (const answer of answers) expectRefusal(answer, 503, '', 'overloaded');
    expect(SILENCE_MS).toBeLessThan(DEADLINE_MS);
    proxy.resume();
    await until(async () => (await rename(person, 'Found')).status === 200);
    expect(await nicknameOf(person)).toBe('Found');
  });
});

describe('a locked row', () => {
  // guard connections-5: a locked row keeps a request waiting for at most a second
  // src/database/pool.ts
  // - lock_timeout: patience * 1_000,
  it('keeps a request waiting for one second, and then frees its connection', async () => {
    await startBehindProxy();
    const person = await insertAndSignIn(app);
    const holder = await connectWriter(witness);
    await holder.query('BEGIN');
    await holder.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [person.id]);
    expectRefusal(await rename(person, 'Waits'), 503, '', 'overloaded');
    expect((await app.serviceDb.raw<{ rows: object[] }>('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '1s' }]);
    await holder.end();
  });

  // guard connections-6: waiting writes of one user leave connections for others
  // src/load/queues.ts
  // - per: 'user', share: 2, waiting: 100, refusal
  // + per: 'user', share: 1_000, waiting: 100, refusal
  it('leaves connections to other users, however many requests wait for it', async () => {
    await startBehindProxy({}, PATIENCE);
    const [person, other] = [await insertAndSignIn(app), await insertAndLogIn(app)];
    const holder = await connectWriter(witness);
    await holder.query('BEGIN');
    await holder.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [person.id]);
    const stuck = inParallel(60, (index) =>
      index % 2 === 0 ? rename(person, `Waits ${index}`) : post(app.api, '/user/login', person),
    );
    for (let count = 0; count < 8; count += 1) {
      expectBody(await rename(other, `Other ${count}`), { code: 200 });
      expect((await post(app.api, '/user/login', other)).status).toBe(200);
    }
    await holder.end();
    for (const { status } of await stuck) expect([200, 429, 503]).toContain(status);
  });
});
