import { startApp, type TestApp } from '../../support/app';
import {
  cookieOf,
  countCodes,
  deviceCookieOf,
  expectBody,
  expectRefusal,
  post,
  sendRaw,
  retryAfterOf,
  inParallel,
  type Answer,
} from '../../support/calls';
import { instancesBeside } from '../../support/instances';
import { insertPerson, newPassword, newPhone, verificationToken, type Person } from '../../support/people';
import { productionEnv } from '../../support/production';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';

const { app } = stage();
afterEach(async () => {
  await app.db('rate_limits').delete();
});

/** Another instance on the same database, which trusts X-Forwarded-For. */
const instance = instancesBeside(() => app, { TRUST_PROXY: 'loopback' });

const HOME = '198.51.100.9';
/** Where devices are signed in to first, so that tries from home are known by their cookie only. */
const AWAY = '192.0.2.1';
const setCookie = ({ headers }: Answer) => headers['set-cookie'] ?? [];
const sessionOf = (sid: string) => app.db('session').where({ sid: decodeURIComponent(sid).slice(6).split('.')[0] });

function login(on: TestApp, person: Pick<Person, 'region' | 'phone' | 'password'>, cookie = '', address = HOME) {
  const { region, phone, password } = person;
  const headers = { 'X-Forwarded-For': address, ...(cookie && { Cookie: cookie }) };
  return post(on.api, '/user/login', { region, phone, password }, headers);
}

const wrongly = (person: Person) => ({ ...person, password: 'wrong-one' });

/** Returns the cookie of a device on which the person has logged in. */
async function deviceOf(person: Person, on = app): Promise<string> {
  const answer = await login(on, person, '', AWAY);
  expect(answer.body).toMatchObject({ code: 200 });
  return deviceCookieOf(answer);
}

/** Uses up, as strangers, the failures of a day that unknown places have for this phone. */
async function lockOut(person: Person, on: TestApp): Promise<void> {
  const fail = (index: number) => login(on, wrongly(person), '', `10.0.0.${index}`);
  const codes = countCodes(await inParallel(6, fail));
  expect(codes).toEqual({ 1000: 4, 429: 2 });
}

const FEW = { LOGIN_FAILURES_PER_PHONE_DAY: '4' };

describe('the cookie of a device', () => {
  // guard device-cookies-6: the session cookie is the first of an answer
  // src/http/cookies.ts
  // - if (set.length > 1)
  // + if (set.length > 2)
  it('comes second after a login: for a year, HttpOnly, SameSite=Lax, Path=/, and without the phone', async () => {
    const person = await insertPerson(app);
    const [first = '', second = '', ...more] = setCookie(await login(app, person));
    expect(more).toEqual([]);
    expect(first).toMatch(/^sid=/);
    const [pair = '', ...attributes] = second.split('; ');
    rememberSecret(pair.slice('device='.length));
    expect(pair).toMatch(new RegExp(`^device=${person.id}\\.0\\.[\\w-]{22}\\.\\d{13}\\.[\\w-]{43}$`));
    expect(pair).not.toContain(String(person.phone));
    expect(attributes.filter((attribute) => !attribute.startsWith('Expires='))).toEqual([
      `Max-Age=${365 * 86_400}`,
      'Path=/',
      'HttpOnly',
      'SameSite=Lax',
    ]);
  });

  it('is a new one at each login', async () => {
    const person = await insertPerson(app);
    const first = await deviceOf(person);
    const second = deviceCookieOf(await login(app, person, first));
    expect(second).not.toBe(first);
  });

  // guard device-cookies-7: a client that keeps one cookie is not given another to mistake for it
  // src/features/auth/auth-router.ts
  // - if (device) devices.set(res, account);
  // + devices.set(res, account);
  it('does not replace a session, and sessions work without it', async () => {
    const person = await insertPerson(app);
    const answer = await login(app, person);
    expectRefusal(await sendRaw(app, '/user/groups', { headers: { Cookie: deviceCookieOf(answer) } }), 401);
    const headers = { Cookie: cookieOf(answer) };
    expectBody(await sendRaw(app, '/user/groups', { headers }), { code: 200, result: [] });
    const change = { oldPassword: person.password, newPassword: newPassword() };
    const changed = await post(app.api, '/user/change_password', change, headers);
    expectBody(changed, { code: 200 });
    // A client without a device cookie does not get one now, where it would be the first cookie.
    expect(setCookie(changed)).toEqual([]);
    expectBody(await sendRaw(app, '/user/logout', { headers }), { code: 200 });
  });

  it('stays after a logout, which ends only the session', async () => {
    const limited = await instance(FEW);
    const person = await insertPerson(app);
    const answer = await login(limited, person);
    const device = deviceCookieOf(answer);
    const out = await sendRaw(limited, '/user/logout', { headers: { Cookie: `${cookieOf(answer)}; ${device}` } });
    expectBody(out, { code: 200 });
    expect(setCookie(out)).toEqual([expect.stringMatching(/^sid=;/)]);
    await lockOut(person, limited);
    expect((await login(limited, person, device)).body).toMatchObject({ code: 200 });
  });

  it('is not set by a refused login', async () => {
    const person = await insertPerson(app);
    const device = await deviceOf(person);
    expect(setCookie(await login(app, wrongly(person), device))).toEqual([]);
    expect(setCookie(await login(app, { ...newPhone(), password: 'wrong-one' }, device))).toEqual([]);
  });
});

describe('a known device', () => {
  let limited: TestApp;
  beforeAll(async () => {
    const { databaseUrl, dataDir } = app;
    limited = await startApp({ TRUST_PROXY: 'loopback', ...FEW }, { databaseUrl, dataDir });
  });
  afterAll(() => limited.close());

  it('can log in however often strangers have failed, while a new device cannot', async () => {
    const person = await insertPerson(app);
    const device = await deviceOf(person);
    await lockOut(person, limited);
    expectRefusal(await login(limited, person), 429);
    expect((await login(limited, person, device)).body).toMatchObject({ code: 200 });
    // Other places are still locked out.
    expectRefusal(await login(limited, person, '', '192.0.2.2'), 429);
  });

  it('can log in when strangers at the same address have used up its failures', async () => {
    const limited = await instance({ LOGIN_FAILURES_PER_IP: '3', LOGIN_FAILURES_PER_PHONE_AND_IP: '2' });
    const [person, other] = [await insertPerson(app), await insertPerson(app)];
    const device = await deviceOf(person);
    for (const tried of [person, person, other]) expectBody(await login(limited, wrongly(tried)), { code: 1000 });
    expectRefusal(await login(limited, person), 429);
    expect((await login(limited, person, device)).body).toMatchObject({ code: 200 });
  });

  it('is refused after 10 failures of its own in 15 minutes, counted over two instances; other devices are not', async () => {
    const [first, second] = [await instance(), await instance()];
    const person = await insertPerson(app);
    const [stolen, other] = [await deviceOf(person), await deviceOf(person)];
    const guess = (index: number) =>
      login(index % 2 === 0 ? first : second, wrongly(person), stolen, `10.0.1.${index}`);
    expect(countCodes(await inParallel(50, guess))).toEqual({ 1000: 10, 429: 40 });
    const refused = await login(second, person, stolen);
    expectRefusal(refused, 429);
    expect(retryAfterOf(refused)).toBeGreaterThan(14 * 60);
    expect(await app.db('rate_limits').whereLike('key', 'login_failures_p%')).toEqual([]);
    for (const cookie of ['', other]) expect((await login(first, person, cookie)).body).toMatchObject({ code: 200 });
  });

  // guard device-cookies-1: 20 failed logins per device and day
  // src/features/auth/login-attempts.ts
  // - { limit: 'loginFailuresPerDeviceDay', subject },
  it('is refused after 20 failures in a day', async () => {
    const person = await insertPerson(app);
    const device = await deviceOf(person);
    for (let failure = 0; failure < 20; failure += 1) {
      if (failure === 10) await app.db('rate_limits').whereLike('key', 'login_failures_d:%').delete();
      expectBody(await login(app, wrongly(person), device), { code: 1000 });
    }
    await app.db('rate_limits').whereLike('key', 'login_failures_d:%').delete();
    const refused = await login(app, person, device);
    expectRefusal(refused, 429);
    expect(retryAfterOf(refused)).toBeGreaterThan(23 * 3_600);
  });

  it('counts only failures, and its cookie is not stored anywhere', async () => {
    const person = await insertPerson(app);
    const device = await deviceOf(person);
    for (let count = 0; count < 12; count += 1)
      expect((await login(app, person, device)).body).toMatchObject({ code: 200 });
    await inParallel(10, () => login(app, wrongly(person), device));
    await login(app, wrongly(person), device);
    const met = app.db('security_events').where({ event: 'limit_met', user_id: person.id }).pluck<string[]>('detail');
    expect(await met).toEqual(['login_failures_d']);
    const kept = JSON.stringify([
      await app.db('rate_limits'),
      await app.db('security_events'),
      await app.db('session'),
    ]);
    expect(kept).not.toContain(device.slice(device.lastIndexOf('.') + 1));
  });

  // guard device-cookies-5: strangers cannot keep a known device from changing the password
  // src/features/auth/own-password.ts
  // - const device = from && deviceOf(account, from);
  // + const device = from && deviceOf(undefined, from);
  it('can change the password whatever strangers do, and stays known, while other devices become unknown', async () => {
    const person = await insertPerson(app);
    const answer = await login(limited, person, '', AWAY);
    const [session, device, other] = [cookieOf(answer), deviceCookieOf(answer), await deviceOf(person)];
    await lockOut(person, limited);
    const change = { oldPassword: person.password, newPassword: newPassword() };
    const changeWith = (cookie: string, body = change) =>
      post(limited.api, '/user/change_password', body, { Cookie: cookie, 'X-Forwarded-For': HOME });
    expectRefusal(await changeWith(session), 429);
    for (let failure = 0; failure < 9; failure += 1)
      expectRefusal(await changeWith(`${session}; ${device}`, { ...change, oldPassword: 'wrong-one' }), 400);
    const changed = await changeWith(`${session}; ${device}`);
    expectBody(changed, { code: 200 });
    const renewed = deviceCookieOf(changed);
    const now = { ...person, password: change.newPassword };
    for (const cookie of [device, other]) expectRefusal(await login(limited, now, cookie, '192.0.2.2'), 429);
    expect((await login(limited, now, renewed)).body).toMatchObject({ code: 200 });
  });

  it('shares its 10 failures between login and change_password', async () => {
    const person = await insertPerson(app);
    const answer = await login(app, person);
    const headers = { Cookie: `${cookieOf(answer)}; ${deviceCookieOf(answer)}` };
    const change = { oldPassword: 'wrong-one', newPassword: newPassword() };
    for (let failure = 0; failure < 5; failure += 1) {
      expectRefusal(await post(app.api, '/user/change_password', change, headers), 400);
      expectBody(await login(app, wrongly(person), deviceCookieOf(answer)), { code: 1000 });
    }
    const right = { ...change, oldPassword: person.password };
    expectRefusal(await post(app.api, '/user/change_password', right, headers), 429);
  });

  // guard device-cookies-4: the device cookie is worth nothing under another password
  // src/features/auth/own-password.ts
  // - account?.id === device.userId && account.credentialsVersion === device.credentialsVersion;
  // + account?.id === device.userId;
  it('becomes unknown after a reset, so that cookies a thief has collected are worth nothing', async () => {
    const person = await insertPerson(app);
    const device = await deviceOf(person);
    const reset = { verification_token: await verificationToken(app, person), password: newPassword() };
    expectBody(await post(app.api, '/user/reset_password', reset), { code: 200 });
    await lockOut(person, limited);
    expectRefusal(await login(limited, { ...person, password: reset.password }, device), 429);
  });

  it('is unknown for a phone without an account, and for a closed account', async () => {
    const person = await insertPerson(app);
    const device = await deviceOf(person);
    expectBody(await login(app, { ...newPhone(), password: 'wrong-one' }, device), { code: 1000 });
    await app.db('users').where({ id: person.id }).update({ closed_at: app.db.fn.now() });
    expectBody(await login(app, person, device), { code: 1000 });
    expect(await app.db('rate_limits').whereLike('key', 'login_failures_d%')).toEqual([]);
    expect(await app.db('rate_limits').whereLike('key', 'login_failures_p:%')).toHaveLength(2);
  });

  // guard device-cookies-2: the device cookie is signed
  // src/features/auth/device-cookies.ts
  // - signature(key, signed)))) return undefined;
  // + signature(key, signed)) || signed)) return undefined;
  // guard device-cookies-3: the device cookie is worth nothing for another account
  // src/features/auth/own-password.ts
  // - account?.id === device.userId && account.credentialsVersion
  // + account?.credentialsVersion
  it.each<[string, (cookie: string, other: string) => string]>([
    ['without its signature', (cookie) => cookie.slice(0, cookie.lastIndexOf('.') + 1)],
    ['cut', (cookie) => cookie.slice(0, -1)],
    ['with a signature of another', (cookie, other) => withPart(cookie, 4, partsOf(other)[4])],
    ['with another id', (cookie, other) => withPart(cookie, 2, partsOf(other)[2])],
    ['with another version', (cookie) => withPart(cookie, 1, '1')],
    ['with a later date', (cookie) => withPart(cookie, 3, String(Date.now() + 1))],
    ["with the account's id in another's", (cookie, other) => withPart(other, 0, partsOf(cookie)[0])],
    ['of another account', (_cookie, other) => other],
    ['empty', () => 'device='],
    ['made of dots only', () => 'device=....'],
    ['that cannot be decoded', () => 'device=%E0%A4%A'],
    ['of 8,000 letters', () => `device=${'x'.repeat(8_000)}`],
  ])('is not recognised by a cookie %s', async (_case, forge) => {
    const [person, other] = [await insertPerson(app), await insertPerson(app)];
    const forged = forge(await deviceOf(person), await deviceOf(other));
    await lockOut(person, limited);
    expectRefusal(await login(limited, person, forged), 429);
    expect(await app.db('rate_limits').whereLike('key', 'login_failures_d%')).toEqual([]);
  });

  it('is recognised with every secret that is still listed', async () => {
    const [older, newer] = ['c'.repeat(32), 'd'.repeat(32)].map(rememberSecret);
    const before = await instance({ ...FEW, SESSION_SECRETS: `${older}` });
    const between = await instance({ ...FEW, SESSION_SECRETS: `${newer},${older}` });
    const after = await instance({ ...FEW, SESSION_SECRETS: `${newer}` });
    const person = await insertPerson(app);
    const device = await deviceOf(person, before);
    await lockOut(person, before);
    expectRefusal(await login(after, person, device), 429);
    const answer = await login(between, person, device);
    expect(answer.body).toMatchObject({ code: 200 });
    expect((await login(after, person, deviceCookieOf(answer))).body).toMatchObject({ code: 200 });
  });
});

describe('the session cookie', () => {
  it('comes first when an answer renews both it and the device cookie', async () => {
    const person = await insertPerson(app);
    const answer = await login(app, person);
    const renewedAt = Date.now() - 2 * 86_400_000;
    const moved = await sessionOf(cookieOf(answer)).update({
      sess: app.db.raw(`(sess::jsonb || jsonb_build_object('renewedAt', ?::bigint))::json`, [renewedAt]),
    });
    expect(moved).toBe(1);
    const headers = { Cookie: `${deviceCookieOf(answer)}; ${cookieOf(answer)}` };
    const change = { oldPassword: person.password, newPassword: newPassword() };
    const changed = await post(app.api, '/user/change_password', change, headers);
    expectBody(changed, { code: 200 });
    deviceCookieOf(changed);
    expect(setCookie(changed).map((cookie) => cookie.split('=')[0])).toEqual(['sid', 'device']);
  });
});

describe('the device cookie in production', () => {
  const proxied = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': HOME };

  // guard device-cookies-8: the device cookie is tied to the host
  // src/http/cookies.ts
  // - production ? `__Host-${name}` : name
  // + production && name === 'sid' ? `__Host-${name}` : name
  it('is __Host-device: Secure, HttpOnly, SameSite=Lax, Path=/, no Domain, and second', async () => {
    const production = await startApp(productionEnv(), { databaseUrl: app.databaseUrl });
    const person = await insertPerson(app);
    const { region, phone, password } = person;
    const answer = await post(production.api, '/user/login', { region, phone, password }, proxied);
    const [first = '', second = ''] = setCookie(answer);
    expect(first).toMatch(/^__Host-sid=/);
    expect(second.startsWith(`${deviceCookieOf(answer)};`)).toBe(true);
    expect(second).toMatch(/^__Host-device=/);
    const attributes = second.split('; ').slice(1);
    expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax']));
    expect(second).not.toMatch(/domain/i);
    // The name that another host of the domain could set is ignored.
    const bare = deviceCookieOf(answer).replace('__Host-', '');
    for (const [cookie, key] of [
      [bare, 'login_failures_p:%'],
      [deviceCookieOf(answer), 'login_failures_d:%'],
    ] as const) {
      const wrong = { region, phone, password: 'wrong-one' };
      expectBody(await post(production.api, '/user/login', wrong, { ...proxied, Cookie: cookie }), { code: 1000 });
      expect(await app.db('rate_limits').whereLike('key', key)).toHaveLength(1);
    }
    await production.close();
  });
});

function partsOf(cookie: string): string[] {
  return cookie.slice('device='.length).split('.');
}

function withPart(cookie: string, index: number, part = ''): string {
  return `device=${partsOf(cookie)
    .map((own, at) => (at === index ? part : own))
    .join('.')}`;
}
