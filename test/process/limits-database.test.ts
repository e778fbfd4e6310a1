import { startApp, type TestApp } from '../support/app';
import { countCodes, expectRefusal, inParallel, post } from '../support/calls';
import { cloneDatabase, emptyDatabase, type TestDatabase } from '../support/database';
import { FaultProxy } from '../support/fault-proxy';
import { command, rowsOf } from '../support/operator';
import { e164, expectOk, insertAndSignIn, newPhone } from '../support/people';
import { testPool, type TestPool } from '../support/pool';
import { makeDataDir, startService } from '../support/started';
import { until } from '../support/until';

describe('with DATABASE_LIMITS_URL', () => {
  let limits: TestDatabase;
  let there: TestPool;
  let proxy: FaultProxy;
  let app: TestApp;

  beforeEach(async () => {
    limits = await cloneDatabase();
    there = testPool(limits.url, 2);
    proxy = await FaultProxy.start(limits.serviceUrl);
    const env = { DATABASE_LIMITS_URL: proxy.url, TRUST_PROXY: 'loopback', WRONG_CODES_PER_PHONE_DAY: '6' };
    // One test waits for the time that requests wait in an outage.
    app = await startApp(env, { patience: 1 });
  });
  afterEach(async () => {
    await app.close();
    await proxy.close();
    await there.close();
    await limits.drop();
  });

  const logIn = (password: string, { region, phone } = newPhone()) =>
    post(app.api, '/user/login', { region, phone, password });
  const told = (word: string) => app.logged().filter(({ msg }) => String(msg).includes(`database of limits ${word}`));

  // guard limits-database-1: with another database for limits, the counts are there
  // src/database/connections.ts
  // - limits: limits ?? counting,
  // + limits: counting,
  it('all counts are there and none in the other database, which has the audit trail', async () => {
    expect((await logIn('wrong-one')).body).toMatchObject({ code: 1000 });
    await until(async () => (await there.db('rate_limits').where({ used: 1 })).length > 0);
    expect(await app.db('rate_limits')).toEqual([]);
    await until(async () => (await app.db('security_events').where({ event: 'login_failed' })).length === 1);
    expect(await there.db('security_events')).toEqual([]);
  });

  it('expired counts are deleted there', async () => {
    const expired = there.db.raw(`now() - interval '1 hour'`);
    await there.db('rate_limits').insert({ key: 'old', used: 1, amount: 1, resets_at: expired });
    await app.sweep();
    expect(await there.db('rate_limits')).toEqual([]);
  });

  // guard limits-database-3: a code is not compared without a use of the budget
  // src/features/verification/verify-code-service.ts
  // - return await limiter.hold(caller, ...guesses);
  // + return await limiter.hold(caller);
  it('no more codes are compared than a budget allows, although many addresses try at the same time', async () => {
    const phone = newPhone();
    let compared = 0;
    for (let round = 0; round < 2; round += 1) {
      await there.db('rate_limits').whereLike('key', 'resend%').delete();
      await expectOk(app.api.post('/user/send_code').send(phone));
      const code = app.sms.codeFor(e164(phone));
      const wrong = code === '000000' ? '000001' : '000000';
      const answers = await inParallel(20, (index) =>
        post(app.api, '/user/verify_code', { ...phone, code: wrong }, { 'X-Forwarded-For': `10.9.${round}.${index}` }),
      );
      compared += countCodes(answers)['1000'] ?? 0;
    }
    expect(compared).toBe(6);
  });

  // guard limits-database-2: an outage of the database of limits is not one of the other database
  // src/database/connections.ts
  // - watched('the database of limits')
  // + watched('the database')
  it('an outage of it refuses what has a limit, and nothing else', async () => {
    const ann = await insertAndSignIn(app);
    proxy.refuse();
    expectRefusal(await logIn('wrong-one'), 503);
    await expectOk(ann.agent.post('/user/groups'));
    await expectOk(ann.agent.post('/user/sync/0'));
    expect((await app.api.get('/readyz')).status).toBe(200);
    expect(told('is unavailable')).toHaveLength(1);
    proxy.resume();
    await until(async () => (await logIn('wrong-one')).status === 200);
    expect(told('is available again')).toHaveLength(1);
  });

  it('operators see the counts of both the database and its addresses', async () => {
    const amount = 5;
    const ends = there.db.raw(`now() + interval '1 hour'`);
    await there.db('rate_limits').insert({ key: 'finds:somebody', used: amount, amount, resets_at: ends });
    const shown = await command(app, 'limits top', [], {}, { DATABASE_LIMITS_URL: limits.serviceUrl });
    expect(JSON.stringify(shown)).toContain('somebody');
    expect(rowsOf(shown, Object.keys(shown)[0] ?? '')).toHaveLength(1);
  });
});

describe('npm start with DATABASE_LIMITS_URL', () => {
  it('refuses a database without the tables, and says how to make them', async () => {
    const [database, empty] = [await cloneDatabase(), await emptyDatabase()];
    const env = { DATA_DIR: makeDataDir(), DATABASE_URL: database.url, DATABASE_LIMITS_URL: empty.url };
    const service = await startService(env);
    expect(await service.exited).toBe(1);
    expect(service.stderr).toMatch(/^Cannot start: DATABASE_LIMITS_URL \(.*\) lacks migrations: run npm run migrate /);
    for (const one of [database, empty]) await one.drop();
  });

  it('starts while it is away, with a warning', async () => {
    const database = await cloneDatabase();
    const away = 'postgresql://accounts_service@127.0.0.1:1/limits';
    const env = { DATA_DIR: makeDataDir(), DATABASE_URL: database.url, DATABASE_LIMITS_URL: away };
    const service = await (await startService(env)).untilReady();
    expect(service.stderr).toContain('operations with a limit are refused');
    await service.stop();
    await database.drop();
  });
});
