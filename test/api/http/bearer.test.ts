import { startApp, type TestApp } from '../../support/app';
import { cookieOf, expectBody, expectRefusal, post, reasonOf, sendRaw, type Answer } from '../../support/calls';
import { multipartForm, PNG } from '../../support/images';
import { instancesBeside } from '../../support/instances';
import { OPERATIONS, pathOf } from '../../support/operations';
import { field, insertPerson, newPassword, newPhone, verificationToken, type Person } from '../../support/people';
import { productionEnv } from '../../support/production';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';

const ORIGIN = 'https://web.example.com';
const { app } = stage({ env: { TRUST_PROXY: 'loopback', CORS_ORIGINS: ORIGIN } });
const instance = instancesBeside(() => app, { TRUST_PROXY: 'loopback' });
afterEach(async () => {
  await app.db('rate_limits').delete();
});

type Headers = Record<string, string>;

const ASKING = { 'X-Session': 'bearer' };
const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` });

function tokenIn({ headers }: Answer, name: 'x-session-token' | 'x-device-token' = 'x-session-token'): string {
  const token = String(headers[name] ?? '');
  if (token !== '') rememberSecret(token);
  return token;
}

async function logIn({ region, phone, password }: Person, headers: Headers = {}, on: TestApp = app): Promise<Answer> {
  const answer = await post(on.api, '/user/login', { region, phone, password }, { ...ASKING, ...headers });
  rememberSecret(String(field(field(answer.body, 'result'), 'token')));
  for (const name of ['x-session-token', 'x-device-token'] as const) tokenIn(answer, name);
  return answer;
}

async function signedIn(): Promise<{ person: Person; token: string }> {
  const person = await insertPerson(app);
  return { person, token: tokenIn(await logIn(person)) };
}

const call = (path: string, headers: Headers, body?: object, on: Pick<TestApp, 'url'> = app) =>
  sendRaw(on, path, { headers, ...(body && { body: JSON.stringify(body) }) });
const statusOf = async (headers: Headers) => (await call('/user/groups', headers)).status;
const makeDue = (id: string) =>
  app
    .db('session')
    .whereRaw(`sess ->> 'userId' = ?`, [id])
    .update({ sess: app.db.raw(`jsonb_set(sess::jsonb, '{renewedAt}', '1')::json`) });

describe('a login with X-Session: bearer', () => {
  // guard bearer-4: a client without cookies gets none
  // src/http/bearer.ts
  // - res.removeHeader('Set-Cookie');
  it('gets the session and the device in headers, and no cookie', async () => {
    const person = await insertPerson(app);
    const answer = await logIn(person);
    expect(answer.body).toEqual({ code: 200, result: { id: person.id, token: expect.any(String) as string } });
    expect(answer.headers).not.toHaveProperty('set-cookie');
    expect(tokenIn(answer)).toMatch(/^[\w-]{32}\.[A-Za-z0-9+/]{43}$/);
    expect(tokenIn(answer, 'x-device-token')).toMatch(new RegExp(`^${person.id}\\.`));
  });

  it('gets the same signed value that the cookie has', async () => {
    const { token } = await signedIn();
    expect(await statusOf({ Cookie: `sid=${encodeURIComponent(`s:${token}`)}` })).toBe(200);
    const answer = await post(app.api, '/user/login', await insertPerson(app));
    const value = decodeURIComponent(cookieOf(answer).slice('sid='.length));
    expect(await statusOf(bearer(rememberSecret(value.slice('s:'.length))))).toBe(200);
  });

  it('gets cookies as before without the header, or with another value', async () => {
    for (const headers of [{}, { 'X-Session': 'cookie' }] as Headers[]) {
      const answer = await post(app.api, '/user/login', await insertPerson(app), headers);
      expect(answer.headers['set-cookie']).toHaveLength(2);
      expect(answer.headers).not.toHaveProperty('x-session-token');
      cookieOf(answer);
    }
  });

  it('gets nothing when it is refused', async () => {
    const person = await insertPerson(app);
    const { headers } = await logIn({ ...person, password: 'wrong-one' });
    for (const name of ['set-cookie', 'x-session-token', 'x-device-token']) expect(headers).not.toHaveProperty(name);
  });

  it('replaces the session of its bearer token', async () => {
    const { person, token } = await signedIn();
    const next = tokenIn(await logIn(person, bearer(token)));
    expect(next).not.toBe(token);
    expect(await statusOf(bearer(token))).toBe(401);
    expect(await statusOf(bearer(next))).toBe(200);
  });

  it('works by a code, too, also when the answer was lost', async () => {
    const phone = newPhone();
    const body = { nickname: 'Ann', verification_token: await verificationToken(app, phone) };
    const answer = await post(app.api, '/user/register_by_token', body, ASKING);
    expect(answer.headers).not.toHaveProperty('set-cookie');
    const first = tokenIn(answer);
    expect(await statusOf(bearer(first))).toBe(200);
    const repeated = await post(app.api, '/user/register_by_token', body, { ...ASKING, ...bearer(first) });
    rememberSecret(String(field(field(repeated.body, 'result'), 'token')));
    expect(await statusOf(bearer(tokenIn(repeated)))).toBe(200);
    expect(await statusOf(bearer(first))).toBe(401);
  });
});

describe('a bearer token', () => {
  const own = OPERATIONS.filter(({ access }) => access === 'user' || access === 'reader').map(pathOf);

  it.each(own)('is the session of %s, like the cookie', async (path) => {
    const [one, other] = [await signedIn(), await signedIn()];
    const Cookie = `sid=${encodeURIComponent(`s:${other.token}`)}`;
    const byBearer = await call(path, bearer(one.token), {});
    const byCookie = await call(path, { Cookie }, {});
    expect(byBearer.status).not.toBe(401);
    expect([byBearer.status, reasonOf(byBearer)]).toEqual([byCookie.status, reasonOf(byCookie)]);
    expect(byBearer.headers).not.toHaveProperty('set-cookie');
  });

  it('opens the stream of changes', async () => {
    const { token } = await signedIn();
    const stop = new AbortController();
    const streamWith = (headers: Headers) => fetch(`${app.url}/user/changes`, { headers, signal: stop.signal });
    const answer = await streamWith(bearer(token));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect((await streamWith(bearer(`${token}x`))).status).toBe(401);
    stop.abort();
  });

  it('gets a token for an upload, which needs no session itself', async () => {
    const { token } = await signedIn();
    const { body } = await call('/user/get_image_token', bearer(token));
    const upload = rememberSecret(String(field(field(body, 'result'), 'token')));
    const form = multipartForm([
      ['token', upload],
      ['file', PNG],
    ]);
    expect((await sendRaw(app, '/files', form)).status).toBe(200);
  });

  it('may be sent with the scheme in any case', async () => {
    const { token } = await signedIn();
    for (const scheme of ['bearer', 'BEARER'])
      expect(await statusOf({ Authorization: `${scheme} ${token}` })).toBe(200);
  });

  it('is refused with 401 when it is forged, cut or changed', async () => {
    const { token } = await signedIn();
    const [sid = '', signature = ''] = token.split('.');
    const wrong = ['', 'x', '.', `${sid}.`, `.${signature}`, sid, `${token}x`, token.slice(0, -1), `s:${token}`];
    wrong.push(`${signature}.${sid}`, token.toUpperCase(), `${token}; sid=x`, encodeURIComponent(`s:${token}`));
    for (const one of wrong) {
      const answer = await call('/user/groups', bearer(one));
      expectRefusal(answer, 401, '', 'not_signed_in');
    }
    expect(await statusOf({ Authorization: `Basic ${token}` })).toBe(401);
    expect(await statusOf({ Authorization: token })).toBe(401);
    expect(await statusOf(bearer(token))).toBe(200);
  });

  it('ends with the session: by a logout, which sets no cookie, and by a new password', async () => {
    const one = await signedIn();
    const out = await call('/user/logout', bearer(one.token));
    expectBody(out, { code: 200 });
    expect(out.headers).not.toHaveProperty('set-cookie');
    expect(await statusOf(bearer(one.token))).toBe(401);
    const other = await signedIn();
    const reset = { password: newPassword(), verification_token: await verificationToken(app, other.person) };
    expectBody(await post(app.api, '/user/reset_password', reset), { code: 200 });
    expect(await statusOf(bearer(other.token))).toBe(401);
  });

  it('is sent again when use renews the session, and no cookie is', async () => {
    const { person, token } = await signedIn();
    for (const path of ['/user/groups', '/user/sessions', '/user/sync/0']) {
      await makeDue(person.id);
      const answer = await call(path, bearer(token));
      expect(tokenIn(answer)).toBe(token);
      expect(answer.headers).not.toHaveProperty('set-cookie');
      expect((await call(path, bearer(token))).headers).not.toHaveProperty('x-session-token');
    }
  });
});

describe('a bearer token beside cookies', () => {
  // guard bearer-2: a bearer token decides, and not a cookie beside it
  // src/http/bearer.ts
  // - req.headers.cookie = cookies.join('; ');
  // + req.headers.cookie = [req.headers.cookie, ...cookies].join('; ');
  it('decides: the cookie is ignored', async () => {
    const [one, other] = [await signedIn(), await signedIn()];
    const Cookie = `sid=${encodeURIComponent(`s:${other.token}`)}`;
    const { body } = await call('/user/sync/0', { ...bearer(one.token), Cookie });
    expect(field(field(field(body, 'result'), 'user'), 'id')).toBe(one.person.id);
  });

  it('that is not valid is a 401, whatever the cookie is', async () => {
    const { token } = await signedIn();
    const Cookie = `sid=${encodeURIComponent(`s:${token}`)}`;
    expect(await statusOf({ Cookie })).toBe(200);
    expect(await statusOf({ ...bearer(token.slice(0, -1)), Cookie })).toBe(401);
  });

  // guard bearer-3: the bearer of a proxy in front does not hide the cookie
  // src/http/bearer.ts
  // - const BEARER = /^Bearer +([\w-]+\.[A-Za-z0-9+/]+)$/i;
  // + const BEARER = /^Bearer +(.*)$/i;
  it('leaves the cookie alone where the bearer is not of this service, such as the JWT of a proxy', async () => {
    const { token } = await signedIn();
    const Cookie = `sid=${encodeURIComponent(`s:${token}`)}`;
    for (const foreign of ['eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ4In0.c2lnbmVk', 'opaque', ''])
      expect(await statusOf({ ...bearer(foreign), Cookie })).toBe(200);
  });

  // guard bearer-1: a script cannot have the session of a page's cookie sent in a header
  // src/http/bearer.ts
  // - req.headers.cookie = cookies.join('; ');
  // + req.headers.cookie = [...cookies, req.headers.cookie].join('; ');
  it('is never made of a cookie: a script in a page cannot have the session of the cookie sent in a header', async () => {
    const { person, token } = await signedIn();
    const Cookie = `sid=${encodeURIComponent(`s:${token}`)}`;
    for (const path of ['/user/groups', '/user/sessions', '/user/change_password']) {
      await makeDue(person.id);
      const body = { oldPassword: person.password, newPassword: newPassword() };
      const answer = await call(path, { ...ASKING, Cookie }, body);
      expectRefusal(answer, 401, '', 'not_signed_in');
      expect(answer.headers).not.toHaveProperty('x-session-token');
      expect(answer.headers).not.toHaveProperty('x-device-token');
    }
    await makeDue(person.id);
    expect((await call('/user/groups', { Cookie })).headers).toHaveProperty('set-cookie');
  });
});

describe('the device of a client without cookies', () => {
  it('has its own count of failures', async () => {
    const few = await instance({ LOGIN_FAILURES_PER_PHONE_DAY: '1' });
    const person = await insertPerson(app);
    const device = tokenIn(await logIn(person), 'x-device-token');
    const elsewhere = { 'X-Forwarded-For': '198.51.100.9' };
    const failed = await logIn({ ...person, password: 'wrong-one' }, { 'X-Forwarded-For': '10.0.0.1' }, few);
    expectBody(failed, { code: 1000 });
    expect((await logIn(person, elsewhere, few)).status).toBe(429);
    const changed = { ...elsewhere, 'X-Device-Token': device.replace(/\.[^.]*$/, '.forged') };
    expect((await logIn(person, changed, few)).status).toBe(429);
    expect((await logIn(person, { ...elsewhere, 'X-Device-Token': device }, few)).body).toMatchObject({ code: 200 });
  });

  it('gets another token when the password is changed', async () => {
    const person = await insertPerson(app);
    const answer = await logIn(person);
    const device = tokenIn(answer, 'x-device-token');
    const headers = { ...bearer(tokenIn(answer)), 'X-Device-Token': device };
    const passwords = { oldPassword: person.password, newPassword: newPassword() };
    const changed = await call('/user/change_password', headers, passwords);
    expectBody(changed, { code: 200 });
    expect(changed.headers).not.toHaveProperty('set-cookie');
    expect(tokenIn(changed, 'x-device-token')).toMatch(new RegExp(`^${person.id}\\.1\\.`));
  });
});

describe('pages of other origins', () => {
  it('may send and read these headers, if their origin is listed', async () => {
    const person = await insertPerson(app);
    const answer = await logIn(person, { Origin: ORIGIN });
    const exposed = String(answer.headers['access-control-expose-headers']).split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['X-Session-Token', 'X-Device-Token']));
    const headers = { Origin: ORIGIN, 'Access-Control-Request-Method': 'POST' };
    const preflight = await sendRaw(app, '/user/login', { method: 'OPTIONS', headers });
    const allowed = String(preflight.headers['access-control-allow-headers']).split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['Authorization', 'X-Session', 'X-Device-Token']));
  });

  it('are refused with a bearer token too, if it is not', async () => {
    const { token } = await signedIn();
    expectRefusal(
      await call('/user/groups', { ...bearer(token), Origin: 'https://evil.example' }),
      403,
      'CORS_ORIGINS',
    );
  });
});

describe('in production', () => {
  let production: TestApp;
  beforeAll(async () => {
    production = await startApp(productionEnv(), { databaseUrl: app.databaseUrl });
  });
  afterAll(() => production.close());

  const proxied = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': '203.0.113.7' };

  it('a session over HTTPS works as elsewhere', async () => {
    const answer = await logIn(await insertPerson(app), proxied, production);
    expect(answer.headers).not.toHaveProperty('set-cookie');
    expect(tokenIn(answer, 'x-device-token')).not.toBe('');
    const headers = { ...proxied, ...bearer(tokenIn(answer)) };
    expect((await call('/user/groups', headers, undefined, production)).status).toBe(200);
  });

  it('a login without HTTPS is refused', async () => {
    const answer = await logIn(await insertPerson(app), {}, production);
    expectRefusal(answer, 500, 'HTTPS', 'https_required');
    expect(answer.headers).not.toHaveProperty('x-session-token');
  });
});
