import crypto, { createHmac } from 'node:crypto';
import { tokenHash } from '../../../src/base/secrets';
import { startApp, type TestApp } from '../../support/app';
import { cookieOf, expectBody, expectRefusal, post, sendRaw, inParallel, type Answer } from '../../support/calls';
import { Gate } from '../../support/gate';
import { watchHashing } from '../../support/hashing';
import { itOnOneServer } from '../../support/on-one-server';
import {
  e164,
  insertAndLogIn,
  insertAndSignIn,
  insertPerson,
  newPassword,
  signIn,
  type Person,
} from '../../support/people';
import { productionEnv } from '../../support/production';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { LOCK_USER, whileHeld } from '../../support/waiting';

const MINUTE = 60_000;
const DAY = 86_400_000;

const { app, instance } = stage();
afterEach(() => jest.restoreAllMocks());

const login = ({ region, phone, password }: Person) => post(app.api, '/user/login', { region, phone, password });
const groups = (cookie: string, on = app) => sendRaw(on, '/user/groups', { headers: { Cookie: cookie } });
const sessionsOf = ({ id }: Person) => app.db('session').whereRaw(`sess ->> 'userId' = ?`, [id]);

async function signedIn(person?: Person): Promise<{ person: Person; cookie: string }> {
  const who = person ?? (await insertPerson(app));
  return { person: who, cookie: cookieOf(await login(who)) };
}

interface SessionRow {
  sess: Record<string, unknown>;
  expire: Date;
  xmin: string;
}

async function sessionOf(person: Person): Promise<SessionRow> {
  const rows: SessionRow[] = await sessionsOf(person).select('sess', 'expire', app.db.raw('xmin::text'));
  expect(rows).toHaveLength(1);
  const [row] = rows;
  if (!row) throw new Error('no session');
  return row;
}

/** Makes the session's dates some days older. */
async function age(person: Person, days: { createdAt?: number; renewedAt?: number }): Promise<void> {
  const { sess } = await sessionOf(person);
  for (const [name, count] of Object.entries(days)) sess[name] = Date.now() - count * DAY;
  await sessionsOf(person).update({ sess: JSON.stringify(sess) });
}

/** Returns a token for the person's phone, without a code. */
async function tokenFor(person: Person): Promise<string> {
  const token = rememberSecret(`token-${newPassword()}`);
  const expires_at = app.db.raw(`now() + interval '1 minute'`);
  const row = { token_hash: tokenHash(token), phone: e164(person), region: String(person.region), expires_at };
  await app.db('verification_tokens').insert(row);
  return token;
}

async function resetPassword(person: Person): Promise<Answer> {
  const verification_token = await tokenFor(person);
  return post(app.api, '/user/reset_password', { verification_token, password: newPassword() });
}

async function expectNoWayIn(person: Person, cookies: string[]): Promise<void> {
  expect(await sessionsOf(person)).toEqual([]);
  for (const cookie of cookies.filter(Boolean)) expectRefusal(await groups(cookie), 401);
}

describe('a session that is checked together with a read', () => {
  const ended: [string, (person: Person) => Promise<unknown>][] = [
    ['was ended', (person) => sessionsOf(person).delete()],
    ['has not been used for 30 days', (person) => sessionsOf(person).update({ expire: new Date(Date.now() - 2_000) })],
    ['is 90 days old', (person) => age(person, { createdAt: 90.01 })],
    ['is 90 days old and due for renewal', (person) => age(person, { createdAt: 90.01, renewedAt: 2 })],
    [
      'belongs to an older password',
      (person) => app.db('users').where({ id: person.id }).increment('credentials_version'),
    ],
    [
      'belongs to a closed account',
      (person) => app.db('users').where({ id: person.id }).update({ closed_at: new Date() }),
    ],
  ];
  const readsOf = (other: Person) => [
    `/user/${other.id}`,
    '/user/no_such_user',
    '/user/sync/0',
    '/user/sync/x',
    '/user/get_token',
  ];

  // guard sessions-7: a reader without a session learns that before anything else
  // src/http/operations-router.ts
  // - if (access === 'reader' && !req.signedIn && error instanceof BadRequest) await handled(entrance.user, req, res);
  // guard sessions-8: data that is read together with a session is returned only if the session is valid
  // src/features/sessions/joined-reads.ts
  // - const userId = await this.check(session);
  // + const userId = session ? String(session.userId) : 'nobody';
  it.each(ended)('does not allow reads when it %s', async (_how, end) => {
    const { person, cookie } = await signedIn();
    const paths = readsOf(await insertPerson(app));
    const statuses = () =>
      Promise.all(paths.map(async (path) => (await sendRaw(app, path, { headers: { Cookie: cookie } })).status));
    expect(await statuses()).toEqual([200, 404, 200, 400, 200]);
    await end(person);
    expect(await statuses()).toEqual([401, 401, 401, 401, 401]);
  });

  it('is renewed once a day', async () => {
    const { person, cookie } = await signedIn();
    await age(person, { createdAt: 2, renewedAt: 1.01 });
    const read = () => sendRaw(app, `/user/${person.id}`, { headers: { Cookie: cookie } });
    const answer = await read();
    expect(answer.status).toBe(200);
    expect(cookieOf(answer)).toBe(cookie);
    expect(Date.now() - Number((await sessionOf(person)).sess.renewedAt)).toBeLessThan(MINUTE);
    expect((await read()).headers).not.toHaveProperty('set-cookie');
  });
});

describe('/user/logout', () => {
  it('ends the session: logged in → logged out, with only code 200', async () => {
    const { person, cookie } = await signedIn();
    const answer = await sendRaw(app, '/user/logout', { headers: { Cookie: cookie } });
    expectBody(answer, { code: 200 });
    expect(answer.headers['set-cookie']?.[0]).toMatch(/^sid=; Path=\/; Expires=Thu, 01 Jan 1970/);
    await expectNoWayIn(person, [cookie]);
    expectRefusal(await sendRaw(app, '/user/logout', { headers: { Cookie: cookie } }), 401);
  });

  it('ends only this session', async () => {
    const { person, cookie } = await signedIn();
    const second = cookieOf(await login(person));
    expectBody(await sendRaw(app, '/user/logout', { headers: { Cookie: second } }), { code: 200 });
    expect((await groups(cookie)).status).toBe(200);
    expectRefusal(await groups(second), 401);
  });

  // guard sessions-14: every request checks its session in the database
  // src/features/sessions/session-reader.ts
  // - const session = await liveSession(this.reads, sid);
  // +     const known = ((this as unknown as { known?: Map<string, FoundSession> }).known ??= new Map());
  // +     const session = known.get(sid) ?? (await liveSession(this.reads, sid));
  // +     if (session) known.set(sid, session as FoundSession);
  it('ends the session on every instance', async () => {
    const { cookie } = await signedIn();
    const other = await instance();
    expect((await groups(cookie, other)).status).toBe(200);
    expectBody(await sendRaw(app, '/user/logout', { headers: { Cookie: cookie } }), { code: 200 });
    expectRefusal(await groups(cookie, other), 401);
  });
});

describe('a session', () => {
  it.each([
    ['after others', (cookie: string) => `a=b; ${cookie}`],
    ['after a tab', (cookie: string) => `a=b;\t${cookie}`],
    ['before a space', (cookie: string) => `${cookie} ; a=b`],
    ['with spaces around its sign', (cookie: string) => cookie.replace('=', ' = ')],
    ['in quotes', (cookie: string) => cookie.replace(/=(.*)/, '="$1"')],
  ])('is found by its cookie %s', async (_how, written) => {
    const { cookie } = await signedIn();
    expect((await groups(written(cookie))).status).toBe(200);
    expectRefusal(await groups(written(cookie.replace('sid=', 'xsid='))), 401);
  });

  // guard sessions-15: each session gets a new id from Node's CSPRNG
  // src/features/sessions/session-cookies.ts
  // - randomBytes(24).toString('base64url')
  // + Buffer.from(Array.from({ length: 24 }, () => 256 * Math.random())).toString('base64url')
  // guard sessions-16: the id of a session is too long to be guessed
  // src/features/sessions/session-cookies.ts
  // - randomBytes(24)
  // + randomBytes(8)
  it("has an id of 192 bits that Node's CSPRNG draws", async () => {
    const idIn = (cookie: string) =>
      decodeURIComponent(cookie)
        .replace(/^sid=s:/, '')
        .split('.')[0] ?? '';
    const draw = jest.spyOn(crypto, 'randomBytes');
    const { cookie } = await signedIn();
    const drawn = draw.mock.results.map(({ value }) => value as unknown).filter((value) => Buffer.isBuffer(value));
    expect(drawn.filter(({ length }) => length === 24).map((bytes) => bytes.toString('base64url'))).toEqual([
      idIn(cookie),
    ]);
    expect(Buffer.from(idIn(cookie), 'base64url')).toHaveLength(24);
  });

  it('is not written by reads within a day: no new row version, no new cookie', async () => {
    const { person, cookie } = await signedIn();
    const before = await sessionOf(person);
    for (const path of ['/user/groups', '/user/blacklist', '/user/get_token', '/user/sync/0', `/user/${person.id}`]) {
      const answer = await sendRaw(app, path, { headers: { Cookie: cookie } });
      expect(answer.status).toBe(200);
      expect(answer.headers).not.toHaveProperty('set-cookie');
    }
    expect(await sessionOf(person)).toEqual(before);
  });

  it.each([0, 2])(
    'allows nothing once the account is closed, even when it is due for renewal (%d days old)',
    async (days) => {
      const { person, cookie } = await signedIn();
      await age(person, { createdAt: days, renewedAt: days });
      await app.db('users').where({ id: person.id }).update({ closed_at: app.db.fn.now() });
      const before = await sessionOf(person);
      const paths = ['/user/groups', '/user/sync/0', '/user/get_token', '/user/get_image_token', '/user/logout'];
      for (const path of paths) expectRefusal(await sendRaw(app, path, { headers: { Cookie: cookie } }), 401);
      expect(await sessionOf(person)).toEqual(before);
      await app.db('users').where({ id: person.id }).update({ closed_at: null });
      expect((await groups(cookie)).status).toBe(200);
    },
  );

  /** Makes every update of a session fail, and counts them. */
  async function withoutUpdates(work: () => Promise<void>): Promise<number> {
    await app.db.raw(
      `CREATE SEQUENCE refused MINVALUE 0;
       CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
         BEGIN PERFORM nextval('refused'); RAISE 'no update'; END $$;
       CREATE TRIGGER refuse BEFORE UPDATE ON session FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
    try {
      await work();
      const { rows } = await app.db.raw<{ rows: { next: number }[] }>(`SELECT nextval('refused') AS next`);
      return rows[0]?.next ?? NaN;
    } finally {
      await app.db.raw('DROP TRIGGER refuse ON session; DROP FUNCTION refuse; DROP SEQUENCE refused');
    }
  }

  it('that a test inserts is like one that a login begins, but for what differs at each login', async () => {
    const inserted = await insertAndSignIn(app);
    const loggedIn = await insertAndLogIn(app);
    const shapeOf = async (person: Person) => {
      const { sess, expire } = await sessionOf(person);
      const { cookie, createdAt, renewedAt, userId, ...rest } = sess;
      const { expires, ...attributes } = cookie as Record<string, unknown>;
      expect(userId).toBe(person.id);
      expect(renewedAt).toBe(createdAt);
      expect(expires).toBe(expire.toISOString());
      const days = Math.round((expire.getTime() - Number(createdAt)) / DAY);
      return { attributes, days, ...rest };
    };
    expect(await shapeOf(inserted)).toEqual(await shapeOf(loggedIn));
    expect(
      inserted.agent.jar.getCookies({ path: '/', domain: '127.0.0.1', secure: false, script: false }),
    ).toHaveLength(1);
    expect((await post(inserted.agent, '/user/groups')).status).toBe(200);
  });

  // guard sessions-9: a login writes its session once
  // src/features/sessions/session-store.ts
  // -     if (data.renewedAt === data.createdAt) done();
  // -     else callbackify
  // + callbackify
  it('is written once at login', async () => {
    const updates = await withoutUpdates(async () => {
      const { person, cookie } = await signedIn();
      expect((await groups(cookie)).status).toBe(200);
      expect(await sessionOf(person)).toBeDefined();
    });
    expect(updates).toBe(0);
  });

  // guard sessions-10: a failure after a complete answer leaves it complete, and goes only to the logger
  // src/http/error-handler.ts
  // - if (!res.writableEnded) res.destroy();
  // + _next(error);
  // src/http/error-handler.ts
  // - answer(error, res, logger);
  // + answer(error, res, logger, _next);
  // src/http/error-handler.ts
  // - res: Response, logger: Logger): void {
  // + res: Response, logger: Logger, _next: (error: unknown) => void): void {
  it('stays valid when it cannot be renewed: the answer is complete, and errors go only to the logger', async () => {
    // Express is silent by itself under a test runner.
    const { NODE_ENV } = process.env;
    process.env.NODE_ENV = 'production';
    const talkative = await instance();
    process.env.NODE_ENV = NODE_ENV;
    const { person, cookie } = await signedIn();
    await age(person, { renewedAt: 2 });
    const stderr = jest.spyOn(process.stderr, 'write');
    const console = jest.spyOn(global.console, 'error').mockImplementation(() => undefined);
    const updates = await withoutUpdates(async () => {
      expectBody(await groups(cookie, talkative), { code: 200, result: [] });
      // express-session reports it a turn later.
      await new Promise(setImmediate);
    });
    expect(updates).toBe(1);
    expect(stderr).not.toHaveBeenCalled();
    expect(console).not.toHaveBeenCalled();
  });

  it('is renewed once a day for another 30 days', async () => {
    const { person, cookie } = await signedIn();
    await sessionsOf(person).update({ expire: new Date(Date.now() + DAY) });
    await age(person, { createdAt: 3, renewedAt: 1.01 });
    const renewed = await groups(cookie);
    const [set = ''] = renewed.headers['set-cookie'] ?? [];
    expect(cookieOf(renewed)).toBe(cookie);
    const expires = Date.parse(/Expires=([^;]+)/.exec(set)?.[1] ?? '');
    expect(Math.abs(expires - Date.now() - 30 * DAY)).toBeLessThan(MINUTE);
    const row = await sessionOf(person);
    expect(Math.abs(row.expire.getTime() - Date.now() - 30 * DAY)).toBeLessThan(MINUTE);
    expect((await groups(cookie)).headers).not.toHaveProperty('set-cookie');
    expect(await sessionOf(person)).toEqual(row);
  });

  // guard sessions-4: a session has a maximum age
  // src/features/sessions/session-cookies.ts
  // - if (!isWhole || this.left(session) <= 0)
  // + if (!isWhole)
  it('is not renewed beyond a total of 90 days', async () => {
    const { person, cookie } = await signedIn();
    await age(person, { createdAt: 89, renewedAt: 2 });
    const [set = ''] = (await groups(cookie)).headers['set-cookie'] ?? [];
    const expires = Date.parse(/Expires=([^;]+)/.exec(set)?.[1] ?? '');
    expect(Math.abs(expires - Date.now() - DAY)).toBeLessThan(MINUTE);
    await age(person, { createdAt: 90.01 });
    expectRefusal(await groups(cookie), 401);
  });

  // guard sessions-6: an expired session is refused
  // src/features/sessions/live-session.ts
  // - AND expire > now() AND closed_at IS NULL
  // + AND closed_at IS NULL
  it('ends when it has not been used for 30 days', async () => {
    const { person, cookie } = await signedIn();
    const { expire } = await sessionOf(person);
    expect(Math.abs(expire.getTime() - Date.now() - 30 * DAY)).toBeLessThan(MINUTE);
    await sessionsOf(person).update({ expire: new Date(Date.now() - 2_000) });
    expectRefusal(await groups(cookie), 401);
  });

  it('has the lifetimes of SESSION_DAYS and SESSION_MAX_DAYS', async () => {
    const brief = await instance({ SESSION_DAYS: '5', SESSION_MAX_DAYS: '6' });
    const person = await insertPerson(app);
    const answer = await post(brief.api, '/user/login', person);
    const expires = Date.parse(/Expires=([^;]+)/.exec(answer.headers['set-cookie']?.[0] ?? '')?.[1] ?? '');
    expect(Math.abs(expires - Date.now() - 5 * DAY)).toBeLessThan(MINUTE);
    await age(person, { createdAt: 6.01 });
    expectRefusal(await groups(cookieOf(answer), brief), 401);
  });

  it('is verified by any of SESSION_SECRETS and signed by the first', async () => {
    const [older, newer] = ['c'.repeat(32), 'd'.repeat(32)].map(rememberSecret);
    const before = await instance({ SESSION_SECRETS: `${older}` });
    const between = await instance({ SESSION_SECRETS: `${newer},${older}` });
    const after = await instance({ SESSION_SECRETS: `${newer}` });
    const person = await insertPerson(app);
    const old = cookieOf(await post(before.api, '/user/login', person));
    expect((await groups(old, between)).status).toBe(200);
    expectRefusal(await groups(old, after), 401);
    const young = cookieOf(await post(between.api, '/user/login', person));
    expect((await groups(young, after)).status).toBe(200);
  });

  // guard sessions-5: a session with a forged signature is refused
  // src/base/secrets.ts
  // - a.length === b.length && timingSafeEqual(a, b)
  // + a.length >= 0 && b.length > 0
  it("is refused with 401 if its cookie is tampered with, cut, foreign or not the service's", async () => {
    const { cookie } = await signedIn();
    const value = decodeURIComponent(cookie.slice('sid='.length));
    const [sid = '', signature = ''] = value.slice(2).split('.');
    const other = await signedIn();
    const otherSid = decodeURIComponent(other.cookie.slice('sid='.length)).slice(2).split('.')[0] ?? '';
    const flipped = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
    const forged = createHmac('sha256', 'another secret').update(sid).digest('base64').replace(/=+$/, '');
    const values = [
      `s:${sid}`,
      `s:${sid}.`,
      `s:.${signature}`,
      sid,
      `s:${sid}.${signature.slice(0, -1)}`,
      `s:${sid}.${forged}`,
      `s:${flipped(sid)}.${signature}`,
      `s:${sid}.${flipped(signature)}`,
      `s:${otherSid}.${signature}`,
      `${value}x`,
      value.slice(1),
      `x:${sid}.${signature}`,
      '',
      's:',
      's:.',
      'j:{"userId":"x"}',
      '\u00e9',
    ];
    for (const forgery of values.map(rememberSecret)) {
      const answer = await groups(`sid=${encodeURIComponent(forgery)}`);
      expectRefusal(answer, 401);
      expect(answer.headers).not.toHaveProperty('set-cookie');
    }
    for (const forgery of ['sid=%', 'sid=%E0%A4%A', 'sid', '=', ';;;', `${cookie}x`, `SID${cookie.slice(3)}`])
      expectRefusal(await groups(forgery), 401);
    expect((await groups(cookie)).status).toBe(200);
  });

  // guard sessions-1: a pending request does not bring an ended session back
  // src/features/sessions/sessions-repository.ts
  // - UPDATE session SET expire = :expires,
  // -         sess = jsonb_set(:data::jsonb, '{credentialsVersion}', (sess -> 'credentialsVersion')::jsonb)::json
  // -   WHERE sid = :sid
  // + INSERT INTO session (sess, expire, sid) VALUES (:data, :expires, :sid)
  // +   ON CONFLICT (sid) DO UPDATE SET sess = excluded.sess
  it('is not brought back by a pending request after it was ended', async () => {
    const { person, cookie } = await signedIn();
    await age(person, { renewedAt: 2 });
    // Being due for renewal, it would save its session at its end. It waits for its user's row.
    const rename = () => post(app.api, '/user/set_nickname', { nickname: 'late' }, { Cookie: cookie });
    const renamed = await whileHeld(app, LOCK_USER, [person.id], rename, async () =>
      expectBody(await sendRaw(app, '/user/logout', { headers: { Cookie: cookie } }), { code: 200 }),
    );
    expect(renamed.status).toBe(200);
    await expectNoWayIn(person, [cookie]);
  });
});

describe('a login with the old password during a reset leaves no session and no working cookie', () => {
  // guard sessions-3: a login is refused if its password was changed since it was compared
  // src/features/sessions/sessions-repository.ts
  // - WHERE id = :userId AND credentials_version = :credentialsVersion AND
  // + WHERE id = :userId AND (credentials_version = :credentialsVersion OR true) AND
  it('when it has read the old hash before the reset and begins its session after it', async () => {
    const person = await insertPerson(app);
    const comparing = new Gate();
    watchHashing({ before: ({ operation }) => (operation === 'compare' ? comparing.wait() : undefined) });
    const underWay = login(person);
    await comparing.reached;
    expectBody(await resetPassword(person), { code: 200 });
    comparing.open();
    const answer = await underWay;
    expectBody(answer, { code: 1000 });
    expect(answer.headers).not.toHaveProperty('set-cookie');
    await expectNoWayIn(person, []);
  });

  // guard sessions-2: a login during a reset waits for it
  // src/features/sessions/sessions-repository.ts
  // -    AND suspended_at IS NULL AND closed_at IS NULL
  // -      FOR SHARE`
  // + AND suspended_at IS NULL AND closed_at IS NULL`
  itOnOneServer('when it begins its session after the reset has ended all sessions and before it commits', async () => {
    const person = await insertPerson(app);
    await app.db.raw(`
      CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER hold AFTER UPDATE ON users DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION hold();`);
    const calls = [() => resetPassword(person), () => login(person)] as const;
    const [reset, answer] = await whileHeld(app, 'SELECT pg_advisory_xact_lock(7)', [], calls);
    await app.db.raw('DROP FUNCTION hold CASCADE');
    expectBody(reset, { code: 200 });
    expectBody(answer, { code: 1000 });
    expect(answer.headers).not.toHaveProperty('set-cookie');
    await expectNoWayIn(person, []);
  });

  it('when its session is there and the reset ends it before the answer is sent', async () => {
    const person = await insertPerson(app);
    await app.db.raw(`
      CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock(8); RETURN NEW; END $$;
      CREATE TRIGGER hold BEFORE INSERT ON session FOR EACH ROW EXECUTE FUNCTION hold();`);
    const calls = [() => login(person), () => resetPassword(person)] as const;
    const [answer, reset] = await whileHeld(app, 'SELECT pg_advisory_xact_lock(8)', [], calls);
    await app.db.raw('DROP FUNCTION hold CASCADE');
    expectBody(reset, { code: 200 });
    await expectNoWayIn(person, [cookieOf(answer)]);
  });

  it('at any moment: 25 rounds of logins during a reset', async () => {
    for (let round = 0; round < 25; round += 1) {
      const person = await insertPerson(app);
      const delay = (most: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * most));
      const [reset, ...answers] = await Promise.all([
        delay(6).then(() => resetPassword(person)),
        ...Array.from({ length: 4 }, () => delay(8).then(() => login(person))),
      ]);
      expectBody(reset, { code: 200 });
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      await expectNoWayIn(person, answers.map(cookieOf));
    }
  });

  it('and neither does one during a change_password', async () => {
    const { agent, ...person } = await insertAndSignIn(app);
    const comparing = new Gate();
    const hashing = watchHashing({ before: () => (hashing.compared.length === 1 ? comparing.wait() : undefined) });
    const underWay = login(person);
    await comparing.reached;
    const change = { oldPassword: person.password, newPassword: newPassword() };
    expectBody(await post(agent, '/user/change_password', change), { code: 200 });
    comparing.open();
    expectBody(await underWay, { code: 1000 });
    expect(hashing.compared).toHaveLength(2);
    expect(await sessionsOf(person)).toHaveLength(1);
    expect((await post(agent, '/user/groups')).status).toBe(200);
  });
});

describe('sessions in production', () => {
  let production: TestApp;
  beforeAll(async () => {
    production = await startApp(productionEnv(), { databaseUrl: app.databaseUrl });
  });
  afterAll(() => production.close());

  /** Headers from a proxy that terminates HTTPS. */
  const proxied = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '203.0.113.7' };

  // guard sessions-11: the cookie is sent only over HTTPS
  // src/http/cookies.ts
  // - secure: production,
  // + secure: false,
  // guard sessions-12: the cookie is not sent with requests from other sites
  // src/http/cookies.ts
  // - sameSite: 'lax',
  // + sameSite: 'none',
  // guard sessions-13: the cookie belongs only to this host
  // src/http/cookies.ts
  // - production ? `__Host-${name}` : name
  // + name
  it('have the cookie __Host-sid: Secure, HttpOnly, SameSite=Lax, Path=/, no Domain', async () => {
    const person = await insertPerson(app);
    const answer = await post(production.api, '/user/login', person, proxied);
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^__Host-sid=s%3A/);
    const attributes = cookie.split('; ').slice(1);
    expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']));
    expect(cookie).not.toMatch(/domain/i);
    const headers = { ...proxied, Cookie: cookieOf(answer) };
    expect((await sendRaw(production, '/user/groups', { headers })).status).toBe(200);
    const out = await sendRaw(production, '/user/logout', { headers });
    expectBody(out, { code: 200 });
    expect(out.headers['set-cookie']?.[0]).toMatch(/^__Host-sid=; .*Secure/);
    expectRefusal(await sendRaw(production, '/user/groups', { headers }), 401);
  });

  it('are refused with a clear 500 when the request did not come over HTTPS', async () => {
    const person = await insertPerson(app);
    for (const headers of [{}, { 'X-Forwarded-Proto': 'http' }]) {
      const answer = await post(production.api, '/user/login', person, headers);
      expectRefusal(answer, 500, 'HTTPS');
      expect(answer.headers).not.toHaveProperty('set-cookie');
    }
    expect(await sessionsOf(person)).toEqual([]);
  });

  it('are not found by the name of the development cookie', async () => {
    const answer = await post(production.api, '/user/login', await insertPerson(app), proxied);
    const value = cookieOf(answer).split('=')[1] ?? '';
    expectRefusal(await sendRaw(production, '/user/groups', { headers: { ...proxied, Cookie: `sid=${value}` } }), 401);
  });
});

describe('sessions of several users', () => {
  it('stay separate: 20 concurrent users each see themselves', async () => {
    const signInSome = () => inParallel(10, async () => signIn(app, await insertPerson(app)));
    const people = [...(await signInSome()), ...(await signInSome())];
    const answers = await Promise.all(people.map(({ agent }) => post(agent, '/user/get_token')));
    for (const [index, { body }] of answers.entries()) {
      const { result } = body as { result: { id: string; token: string } };
      expect(result.id).toBe(people[index]?.id);
    }
  });
});
