import { availableParallelism } from 'node:os';
import { jwtVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import {
  cookieOf,
  countCodes,
  expectBody,
  expectRefusal,
  post,
  sendRaw,
  retryAfterOf,
  inParallel,
  type Answer,
} from '../../support/calls';
import { Gate } from '../../support/gate';
import { watchHashing } from '../../support/hashing';
import { field, insertPerson, newPhone, register, type Person } from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { watchStatements } from '../../support/statements';
import { until } from '../../support/until';

const { app, instance } = stage();
afterEach(() => jest.restoreAllMocks());

const login = ({ region, phone, password }: Pick<Person, 'region' | 'phone' | 'password'>, on = app) =>
  post(on.api, '/user/login', { region, phone, password });

const sessionsOf = ({ id }: Person) => app.db('session').whereRaw(`sess ->> 'userId' = ?`, [id]);
const setCookie = ({ headers }: Answer) => headers['set-cookie'] ?? [];

describe('/user/login', () => {
  it('sets a cookie for the right phone and password: anonymous → logged in', async () => {
    const person = await register(app);
    const answer = await login(person);
    const token = field(field(answer.body, 'result'), 'token');
    expectBody(answer, { code: 200, result: { id: person.id, token: expect.any(String) as string } });
    expect(String(token)).not.toBe('');
    expect(setCookie(answer)).toHaveLength(2);
    const groups = await sendRaw(app, '/user/groups', { headers: { Cookie: cookieOf(answer) } });
    expectBody(groups, { code: 200, result: [] });
    expect(await sessionsOf(person)).toHaveLength(1);
  });

  // guard login-1: scripts cannot read the cookie
  // src/http/cookies.ts
  // - httpOnly: true,
  // + httpOnly: false,
  it('sets sid: HttpOnly, SameSite=Lax, Path=/, 30 days, for this host', async () => {
    const [cookie = ''] = setCookie(await login(await insertPerson(app)));
    const [pair = '', ...attributes] = cookie.split('; ');
    expect(pair).toMatch(/^sid=s%3A[A-Za-z0-9_-]{32}\.[A-Za-z0-9%]+$/);
    const expires = attributes.find((attribute) => attribute.startsWith('Expires='))?.slice(8) ?? '';
    expect(attributes.filter((attribute) => !attribute.startsWith('Expires=')).sort()).toEqual([
      'HttpOnly',
      'Path=/',
      'SameSite=Lax',
    ]);
    expect(Math.abs(Date.parse(expires) - Date.now() - 30 * 86_400_000)).toBeLessThan(5_000);
  });

  it('returns a messaging token of that user, which the published keys verify', async () => {
    const person = await insertPerson(app);
    const answer = await login(person);
    const keys = createLocalJWKSet(
      (await sendRaw(app, '/.well-known/jwks.json', { method: 'GET' })).body as JSONWebKeySet,
    );
    const token = String(field(field(answer.body, 'result'), 'token'));
    const { payload } = await jwtVerify(token, keys, { issuer: app.url });
    expect(payload.sub).toBe(person.id);
  });

  it('takes region and phone as numbers or strings, with the leading zero or without', async () => {
    const { phone, password } = await insertPerson(app);
    for (const written of [
      { region: '44', phone: String(phone) },
      { region: 44, phone: `0${phone}` },
    ])
      expect((await post(app.api, '/user/login', { ...written, password })).body).toMatchObject({ code: 200 });
  });

  it('answers 1000 to a wrong password: stays anonymous', async () => {
    const person = await insertPerson(app);
    for (const password of [`${person.password}x`, person.password.toUpperCase(), person.password.slice(0, -1)]) {
      const answer = await login({ ...person, password });
      expectBody(answer, { code: 1000 });
      expect(setCookie(answer)).toEqual([]);
    }
    expect(await sessionsOf(person)).toEqual([]);
  });

  it('gives an unknown phone the same answer as a wrong password: same body, same headers', async () => {
    const person = await insertPerson(app);
    const shown = ({ status, body, headers }: Answer) => ({ status, body, headers: Object.keys(headers).sort() });
    const wrong = shown(await login({ ...person, password: 'wrong-one' }));
    const unknown = shown(await login({ ...newPhone(), password: 'wrong-one' }));
    expect(unknown).toEqual(wrong);
    expect(unknown.body).toEqual({ code: 1000 });
  });

  it('compares a password even for an unknown phone', async () => {
    const hashing = watchHashing();
    await login({ ...newPhone(), password: 'wrong-one' });
    expect(hashing.compared).toEqual(['wrong-one']);
  });

  it('answers 1000 for a closed account', async () => {
    const person = await insertPerson(app);
    await app.db('users').where({ id: person.id }).update({ closed_at: app.db.fn.now() });
    expectBody(await login(person), { code: 1000 });
  });

  it.each(['region', 'phone', 'password'])('answers 400 without %s', async (missing) => {
    const body = { ...newPhone(), password: 'secret1', [missing]: undefined };
    expectRefusal(await post(app.api, '/user/login', body), 400, missing);
  });

  it('begins a new session each time, under an id that the client did not choose', async () => {
    const person = await insertPerson(app);
    const first = cookieOf(await login(person));
    const again = await post(app.api, '/user/login', person, { Cookie: first });
    const second = cookieOf(again);
    expect(second).toMatch(/^sid=s%3A/);
    expect(second).not.toBe(first);
    expectRefusal(await sendRaw(app, '/user/groups', { headers: { Cookie: first } }), 401);
    expect((await sendRaw(app, '/user/groups', { headers: { Cookie: second } })).status).toBe(200);
    const chosen = 'sid=s%3Achosen-by-somebody-else.sig';
    expect(cookieOf(await post(app.api, '/user/login', person, { Cookie: chosen }))).not.toContain('chosen');
  });

  it('leaves nothing of another user who was signed in before', async () => {
    const [ann, bob] = [await insertPerson(app, 'Ann'), await insertPerson(app, 'Bob')];
    const anns = cookieOf(await login(ann));
    const bobs = cookieOf(await post(app.api, '/user/login', bob, { Cookie: anns }));
    const { body } = await sendRaw(app, '/user/get_token', { headers: { Cookie: bobs } });
    expect(field(field(body, 'result'), 'id')).toBe(bob.id);
    expect(await sessionsOf(ann)).toEqual([]);
  });

  it('keeps the session when the password is wrong', async () => {
    const person = await insertPerson(app);
    const cookie = cookieOf(await login(person));
    expectBody(await post(app.api, '/user/login', { ...person, password: 'wrong-one' }, { Cookie: cookie }), {
      code: 1000,
    });
    expect((await sendRaw(app, '/user/groups', { headers: { Cookie: cookie } })).status).toBe(200);
  });

  it('rehashes the password when the configured cost has risen, and keeps sessions', async () => {
    const person = await insertPerson(app);
    const cookie = cookieOf(await login(person));
    const hashOf = async () => String(field(await app.db('users').where({ id: person.id }).first(), 'password_hash'));
    expect(await hashOf()).toMatch(/^\$2b\$04\$/);
    const costly = await instance({ BCRYPT_COST: '5' });
    expectBody(await login({ ...person, password: 'wrong-one' }, costly), { code: 1000 });
    expect(await hashOf()).toMatch(/^\$2b\$04\$/);
    expect((await login(person, costly)).body).toMatchObject({ code: 200 });
    const rehashed = await hashOf();
    expect(rehashed).toMatch(/^\$2b\$05\$/);
    expect((await login(person, costly)).body).toMatchObject({ code: 200 });
    expect(await hashOf()).toBe(rehashed);
    expect((await login(person)).body).toMatchObject({ code: 200 });
    expect(await hashOf()).toBe(rehashed);
    expect((await sendRaw(app, '/user/groups', { headers: { Cookie: cookie } })).status).toBe(200);
  });

  it('answers 500 without a session while the messaging provider is down', async () => {
    const rongcloud = {
      MESSAGING_PROVIDER: 'rongcloud',
      RONGCLOUD_APP_KEY: 'key',
      RONGCLOUD_APP_SECRET: rememberSecret('rongcloud-secret'),
      RONGCLOUD_API_URL: 'http://127.0.0.1:9',
    };
    const away = await instance(rongcloud);
    const person = await insertPerson(app);
    const answer = await login(person, away);
    expectRefusal(answer, 500);
    expect(setCookie(answer)).toEqual([]);
    expect(await sessionsOf(person)).toEqual([]);
  });
});

describe('/user/login after failures', () => {
  it('answers 429 after 10 from one address in 15 minutes, even to the right password, until the window has passed', async () => {
    const person = await insertPerson(app);
    for (let failure = 0; failure < 10; failure += 1)
      expectBody(await login({ ...person, password: 'wrong-one' }), { code: 1000 });
    for (const password of ['wrong-one', person.password]) {
      const refused = await login({ ...person, password });
      expectRefusal(refused, 429);
      expect(retryAfterOf(refused)).toBeGreaterThan(14 * 60);
      expect(retryAfterOf(refused)).toBeLessThanOrEqual(15 * 60);
    }
    await app
      .db('rate_limits')
      .whereLike('key', `login_failures_pa:+44${person.phone}%`)
      .update({ resets_at: app.db.fn.now() });
    // For a moment the instance remembers what was full.
    await until(async () => (await login(person)).status === 200);
  });

  // guard login-4: 20 failed logins per phone, address and day
  // src/features/auth/login-attempts.ts
  // - { limit: 'loginFailuresPerPhoneAndAddressDay', subject: pair },
  it('answers 429 after 20 from one address in a day, so that one stranger cannot lock the owner out', async () => {
    const person = await insertPerson(app);
    const nextQuarter = () =>
      app.db('rate_limits').where('key', `login_failures_pa:+44${person.phone} 127.0.0.1`).delete();
    for (let failure = 0; failure < 20; failure += 1) {
      if (failure === 10) await nextQuarter();
      expectBody(await login({ ...person, password: 'wrong-one' }), { code: 1000 });
    }
    await nextQuarter();
    const refused = await login({ ...person, password: 'wrong-one' });
    expectRefusal(refused, 429);
    expect(retryAfterOf(refused)).toBeGreaterThan(23 * 3_600);
    // A fifth of what locks the phone for everybody.
    const used = app.db('rate_limits').where('key', `login_failures_p:+44${person.phone}`).pluck<number[]>('used');
    expect(await used).toEqual([20]);
  });

  it('counts an unknown phone like a known one', async () => {
    const nobody = { ...newPhone(), password: 'wrong-one' };
    for (let failure = 0; failure < 10; failure += 1) expectBody(await login(nobody), { code: 1000 });
    expectRefusal(await login(nobody), 429);
  });

  it('counts only failures', async () => {
    const person = await insertPerson(app);
    for (let count = 0; count < 12; count += 1) expect((await login(person)).body).toMatchObject({ code: 200 });
    for (let failure = 0; failure < 10; failure += 1)
      expectBody(await login({ ...person, password: 'wrong-one' }), { code: 1000 });
    expectRefusal(await login(person), 429);
  });

  it('allows ten right logins of one phone and address at once, and tells others to retry in two seconds', async () => {
    const person = await insertPerson(app);
    const gate = new Gate();
    watchHashing({ before: () => gate.wait() });
    const answers: Answer[] = [];
    const logins = inParallel(20, async () => answers.push(await login(person)));
    await until(() => answers.length === 10);
    for (const answer of answers) {
      expectRefusal(answer, 429);
      expect(retryAfterOf(answer)).toBe(2);
    }
    gate.open();
    await logins;
    expect(countCodes(answers)).toEqual({ 200: 10, 429: 10 });
    expect((await login(person)).status).toBe(200);
    const failures = await app
      .db('rate_limits')
      .whereLike('key', `login_failures_p%:+44${person.phone}%`)
      .select('used');
    expect(failures).toEqual([]);
    // A place that is only held is not a limit that was reached.
    const requests = answers.map(({ headers }) => String(headers['x-request-id']));
    expect(await app.db('security_events').where({ event: 'limit_met' }).whereIn('request_id', requests)).toEqual([]);
  });

  it('refuses most of 300 concurrent right logins of one phone, with at most ten statements for each', async () => {
    const impatient = await instance({}, { patience: 1 });
    const person = await insertPerson(app);
    const statements = watchStatements('');
    let answered = 0;
    // All calls wait while this holds the limits, so that 300 are there at once even on a slow machine.
    const { calls } = await app.db.transaction(async (trx) => {
      await trx.raw('LOCK TABLE rate_limits IN SHARE MODE');
      const calls = inParallel(300, () => login(person, impatient).finally(() => (answered += 1)));
      await until(() => answered >= 280);
      return { calls };
    });
    const answers = await calls;
    expect(statements.sent.length).toBeLessThanOrEqual(300 * 10);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThanOrEqual(280);
    for (const answer of refused) expect([429, 503]).toContain(answer.status);
    for (const answer of refused) expect(retryAfterOf(answer)).toBeGreaterThan(0);
    await until(async () => (await login(person)).status === 200);
  });

  // guard login-2: right logins are limited
  // src/features/auth/login-attempts.ts
  // - this.beginWith(rightLogins(one.phone, one.caller), one)
  // + this.beginWith([], one)
  it('limits right logins in production: 60 an hour per phone and address, 500 a day per phone', async () => {
    const limited = await instance({ LOGINS_PER_PHONE_AND_IP_HOUR: '3', LOGINS_PER_PHONE_DAY: '4' });
    const person = await insertPerson(app);
    for (let count = 0; count < 3; count += 1) expect((await login(person, limited)).status).toBe(200);
    const refused = await login(person, limited);
    expectRefusal(refused, 429);
    expect(setCookie(refused)).toEqual([]);
    expect(await sessionsOf(person)).toHaveLength(3);
  });

  // guard login-3: one phone fills at most a quarter of the hashing queue
  // src/load/queues.ts
  // - per: 'account', share: hashes / 4,
  // + per: 'account', share: Infinity,
  it('leaves three quarters of the hashing queue to other phones, however many addresses try one', async () => {
    const proxied = await instance({ TRUST_PROXY: '1' });
    const person = await insertPerson(app);
    const gate = new Gate();
    watchHashing({ before: () => gate.wait() });
    const answers: Answer[] = [];
    const { region, phone, password } = person;
    const loginFrom = async (index: number) => {
      const answer = await post(
        proxied.api,
        '/user/login',
        { region, phone, password },
        { 'X-Forwarded-For': `10.1.0.${index}` },
      );
      answers.push(answer);
    };
    const quarter = Math.ceil((25 * Math.min(8, 2 * availableParallelism())) / 4);
    const logins = inParallel(quarter + 10, loginFrom);
    await until(() => answers.length >= 10);
    expect(countCodes(answers)).toEqual({ 429: 10 });
    gate.open();
    await logins;
    expect(countCodes(answers)).toEqual({ 200: quarter, 429: 10 });
  });

  it('compares at most 10 of 50 wrong passwords at once', async () => {
    const person = await insertPerson(app);
    const hashing = watchHashing();
    const answers = await inParallel(50, () => login({ ...person, password: 'wrong-one' }));
    const codes = answers.map(({ body }) => field(body, 'code'));
    expect(codes.filter((code) => code === 1000)).toHaveLength(10);
    expect(codes.filter((code) => code === 429)).toHaveLength(40);
    expect(hashing.compared).toHaveLength(10);
    expectRefusal(await login(person), 429);
  });
});
