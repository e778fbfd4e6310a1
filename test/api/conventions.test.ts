import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { SILENCE_MS } from '../../src/database/connection-watch';
import { startApp, type TestApp } from '../support/app';
import {
  cookieOf,
  countCodes,
  expectBody,
  expectRefusal,
  post,
  sendRaw,
  retryAfterOf,
  inParallel,
} from '../support/calls';
import { itOnOneServer } from '../support/on-one-server';
import { fieldsOf, OPERATIONS, pathOf, refusalOfBody, refusalOfParams } from '../support/operations';
import { field, insertAndSignIn, insertPerson, newPassword, newPhone, type Person } from '../support/people';
import { PATIENCE } from '../support/patience';
import { serviceRequestIds, requestLinesOf } from '../support/request-ids';
import { stage } from '../support/stage';
import { until } from '../support/until';
import { withFailures } from '../support/waiting';

const [LOGIN, OPEN] = [true, false].map((needed) =>
  OPERATIONS.filter(({ access }) => ['user', 'reader'].includes(access) === needed).map(pathOf),
) as [string[], string[]];
const WITH_BODY = OPERATIONS.filter(({ body }) => body !== undefined).map(pathOf);
const WITHOUT_BODY = OPERATIONS.filter(({ body }) => body === undefined).map(pathOf);

const tooLarge = JSON.stringify({ nickname: 'x'.repeat(17 * 1_024) });

const { app } = stage({ env: { CORS_ORIGINS: 'https://web.example.com,http://localhost:3000' } });

/** Valid fields for every operation that takes a body. */
const someBody = () => ({
  ...newPhone(),
  password: 'secret1',
  nickname: 'Ann',
  code: '000000',
  friendId: 'nobody',
  userId: 'nobody',
  groupId: 'nobody',
  memberIds: ['nobody'],
  name: 'Hikers',
  bulletin: '',
  displayName: '',
  portraitUri: 'https://a.b/c.png',
});

/** Accepts a boolean, and a list that may be empty. */
const isRightFor = (name: string, value: unknown) =>
  (name === 'findable' && value === true) || (name === 'memberIds' && Array.isArray(value));

async function cookieFor(person: Person): Promise<string> {
  const { region, phone, password } = person;
  return cookieOf(await post(app.api, '/user/login', { region, phone, password }));
}

/** Returns the fields that a refusal names. */
const namedBy = (refusal: unknown) => (field(refusal, 'details') as { path: string }[]).map(({ path }) => path);

describe('methods and paths', () => {
  // guard conventions-11: GET does not run any operation
  // src/http/operations-router.ts
  // - if (req.method !== 'POST') throw new MethodNotAllowed('POST');
  it.each(OPERATIONS.map(pathOf))('%s accepts POST only, and answers 405 with Allow otherwise', async (path) => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await sendRaw(app, path, { method });
      expectRefusal(answer, 405, 'POST');
      expect(answer.headers).toMatchObject({ allow: 'POST', 'cache-control': 'no-store' });
    }
    expect(await sendRaw(app, path, { method: 'HEAD' })).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  it.each(['/user', '/users/1', '/user/find/44', '/user/find/44/1/2', '/user/sync/1/2', '/user/a/b', '/captcha/x'])(
    'an unknown path is answered with 404: %s',
    async (path) => expectRefusal(await sendRaw(app, path, { body: '{}' }), 404),
  );

  it('an unknown path or a wrong method is refused before the body is read', async () => {
    expectRefusal(await sendRaw(app, '/user/no/such', { body: tooLarge }), 404);
    expectRefusal(await sendRaw(app, '/user/login', { method: 'PUT', body: '{"broken' }), 405);
  });

  it.each(['/user/%', '/user/%zz', '/user/find/44/%ff', '/user/sync/%c3%28'])(
    'a path that cannot be decoded is answered with 400: %s',
    async (path) => expectRefusal(await sendRaw(app, path), 400, 'path'),
  );

  it('fixed paths match before /user/:id, and no user id can equal one of their words', async () => {
    const { agent } = await insertAndSignIn(app);
    expectBody(await post(agent, '/user/blacklist'), { code: 200, result: [] });
    for (const id of ['login', 'Blacklist', 'sync', 'FIND'])
      await expect(app.db('users').insert({ id, nickname: 'x' })).rejects.toThrow('users_id_no_path');
    expectRefusal(await post(agent, '/user/sync'), 404);
    expectRefusal(await post(agent, '/user/find'), 404);
  });
});

describe('request bodies', () => {
  let cookie: string;
  beforeAll(async () => {
    cookie = await cookieFor(await insertPerson(app));
  });

  it.each(OPERATIONS.map(pathOf))(
    '%s answers 413 to a body of more than 16 KiB, before it asks for a session',
    async (path) => {
      const answer = await sendRaw(app, path, { body: tooLarge });
      expectRefusal(answer, 413, 'body');
      expect(answer.headers['cache-control']).toBe('no-store');
    },
  );

  it('may have up to 16 KiB, to the byte', async () => {
    const phone = newPhone();
    const empty = JSON.stringify({ ...phone, ignored: '' });
    const padded = (size: number) => JSON.stringify({ ...phone, ignored: 'x'.repeat(size - empty.length) });
    expectBody(await sendRaw(app, '/user/check_phone_available', { body: padded(16_384) }), {
      code: 200,
      result: true,
    });
    expectRefusal(await sendRaw(app, '/user/check_phone_available', { body: padded(16_385) }), 413);
  });

  it.each(WITH_BODY)(
    '%s answers 400 to a body that is not a JSON object, before it asks for a session',
    async (path) => {
      for (const body of [
        '{"region": 44',
        'region=44&phone=7911123456',
        '[]',
        '[{}]',
        '"text"',
        '1',
        'null',
        'true',
        ' ',
      ])
        expectRefusal(await sendRaw(app, path, { body }), 400, 'body');
      expectRefusal(await sendRaw(app, path, { body: Buffer.from('{"nickname": "\xff"}', 'latin1') }), 400, 'body');
    },
  );

  it.each(WITHOUT_BODY)('%s ignores any small body', async (path) => {
    const signedIn = await insertPerson(app);
    const cookie = await cookieFor(signedIn);
    const found = path.startsWith('/user/find') ? `/user/find/44/${signedIn.phone}` : path;
    const target = path === '/user/abcdefghijkl' ? `/user/${signedIn.id}` : found;
    const friend = { user_id: signedIn.id, friend_id: 'abcdefghijkl', status: 20 };
    if (path.startsWith('/friendship/')) await app.db('friendships').insert(friend);
    const group = { id: 'abcdefghijkl', name: 'Hikers', creator_id: signedIn.id };
    await app.db('groups').insert(group).onConflict('id').ignore();
    await app.db('group_members').insert({ group_id: group.id, member_id: signedIn.id });
    for (const body of ['{"broken', '[1]', Buffer.from([0xff, 0, 1])])
      expect(
        (await sendRaw(app, target, { body, headers: { Cookie: path === '/user/logout' ? '' : cookie } })).status,
      ).toBe(path === '/user/logout' ? 401 : 200);
    if (path === '/user/logout')
      expectBody(await sendRaw(app, target, { body: '{"broken', headers: { Cookie: cookie } }), { code: 200 });
  });

  it.each([
    undefined,
    'application/json',
    'application/json; charset=nonsense',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'text/plain',
    'nonsense',
    '',
  ])('are read as JSON whatever the content type says: %s', async (type) => {
    const headers = type === undefined ? {} : { 'Content-Type': type };
    const body = JSON.stringify(newPhone());
    expectBody(await sendRaw(app, '/user/check_phone_available', { body, headers }), { code: 200, result: true });
  });

  it('that are missing get an answer naming every missing field', async () => {
    const answer = await sendRaw(app, '/user/login');
    expectRefusal(answer, 400);
    expect(field(answer.body, 'details')).toEqual(
      ['region', 'phone', 'password'].map((path) => ({ path, message: expect.any(String) as string })),
    );
  });

  // guard conventions-6: each field is validated
  // src/features/verification/verification-schemas.ts
  // - verifyCode: described(bytes(0, 8_192), {
  // + verifyCode: described(z.any(), {
  // guard conventions-7: each parameter in a path is validated
  // src/features/users/users-schemas.ts
  // - z.object({ id: otherId })
  // + z.object({ id: z.string() })
  // guard conventions-8: the service validates bodies, whatever clients do
  // src/http/operations-router.ts
  // - (parse(body, jsonBody(req)) as object)
  // + jsonBody(req)
  it.each(OPERATIONS.filter(({ body, params }) => body ?? params))(
    'with an invalid field get a 400 that names it: each field of $path',
    async (operation) => {
      const { path, params, body } = operation;
      const [fields, parameters] = [fieldsOf(body, 'input'), fieldsOf(params, 'input')];
      for (const name of fields)
        for (const wrong of [{}, true, [], 'a\0b', 'x'.repeat(9_000)].filter((one) => !isRightFor(name, one)))
          expect(namedBy(refusalOfBody(operation, { ...someBody(), [name]: wrong }))).toContain(name);
      for (const name of parameters)
        for (const wrong of ['\0', ' ', '-', "'", 'x'.repeat(65)].filter((text) => !/id$/i.test(name) || text !== '-'))
          expect(namedBy(refusalOfParams(operation, { [name]: wrong }))).toContain(name);

      const wrong = Object.fromEntries(fields.map((name) => [name, {}]));
      const answer = await post(app.api, path.replace(/:\w+/g, '%20'), wrong, { Cookie: cookie });
      expectRefusal(answer, 400);
      expect(namedBy(answer.body)).toEqual(expect.arrayContaining([...fields, ...parameters]));
    },
  );

  it('may be chunked, or begin with a byte order mark', async () => {
    const json = JSON.stringify(newPhone());
    const headers = { 'Transfer-Encoding': 'chunked' };
    expect((await sendRaw(app, '/user/check_phone_available', { body: json, headers })).status).toBe(200);
    expect((await sendRaw(app, '/user/check_phone_available', { body: `\ufeff${json}` })).status).toBe(200);
  });

  it('may be gzipped, with up to 16 KiB of unpacked content', async () => {
    const call = (body: Buffer, encoding = 'gzip') =>
      sendRaw(app, '/user/check_phone_available', { body, headers: { 'Content-Encoding': encoding } });
    expectBody(await call(gzipSync(JSON.stringify(newPhone()))), { code: 200, result: true });
    expectRefusal(await call(gzipSync(tooLarge)), 413, 'body');
    expectRefusal(await call(Buffer.from(JSON.stringify(newPhone()))), 400, 'body');
    expectRefusal(await call(Buffer.from(JSON.stringify(newPhone())), 'nonsense'), 400, 'body');
  });

  it('may have unknown fields, even __proto__ and constructor, which are ignored', async () => {
    const { region, phone } = newPhone();
    const body = `{"region": ${region}, "phone": ${phone}, "more": [1], "__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}`;
    expectBody(await sendRaw(app, '/user/check_phone_available', { body }), { code: 200, result: true });
    expect({}).not.toHaveProperty('polluted');
    const inherited = await sendRaw(app, '/user/check_phone_available', {
      body: '{"__proto__": {"region": 44, "phone": 1}}',
    });
    expectRefusal(inherited, 400, 'region');
  });
});

describe('sessions on Login operations', () => {
  // guard conventions-12: operations that need a session refuse callers without one
  // src/http/operations-router.ts
  // - (access === 'anyone' ? [] : [entrance[access]])
  // + (access === 'visitor' ? [entrance[access]] : [])
  // src/http/operation.ts
  // - if (this.req.signedIn === undefined) throw new NotSignedIn(); return this.req.signedIn;
  // + return this.req.signedIn ?? { userId: 'abcdefghijkl', sid: '', credentialsVersion: 0 };
  it.each(LOGIN)('%s answers 401 without a session', async (path) => {
    expectRefusal(await sendRaw(app, path), 401, 'needs a session: log in first');
  });

  it.each(['user', 'group'])(
    'an answer to a misspelt word after /%s/ says that it was taken for an id',
    async (resource) => {
      expectRefusal(await sendRaw(app, `/${resource}/logn`), 401, `/${resource}/:id needs a session`);
    },
  );

  it.each(WITH_BODY.filter((path) => LOGIN.includes(path)))(
    '%s asks for a session before it checks fields',
    async (path) => expectRefusal(await sendRaw(app, path, { body: '{}' }), 401),
  );

  it.each(OPEN)('%s needs no session', async (path) => {
    expect((await sendRaw(app, path, { body: JSON.stringify(someBody()) })).status).not.toBe(401);
  });

  it('are asked for before a version, a phone or an id in the path is checked', async () => {
    for (const path of ['/user/sync/x', '/user/find/0/0', '/user/not.an.id', '/user/nobody'])
      expectRefusal(await sendRaw(app, path), 401);
  });

  it('are answered with 401 whatever is wrong with the cookie', async () => {
    const cookie = await cookieFor(await insertPerson(app));
    expectBody(await sendRaw(app, '/user/groups', { headers: { Cookie: cookie } }), { code: 200, result: [] });
    const name = 'sid=';
    const value = cookie.slice(name.length);
    const wrong = [
      '',
      'x',
      's%3A',
      's%3A.',
      '%',
      '%zz',
      's%3Aabc.def',
      '"',
      `${value}x`,
      value.slice(0, -1),
      value.toUpperCase(),
      decodeURIComponent(value).slice(2),
      value.replace('s%3A', 'j%3A'),
      'x'.repeat(4_000),
      '__proto__',
      '%00',
    ];
    for (const text of wrong)
      expectRefusal(await sendRaw(app, '/user/groups', { headers: { Cookie: `${name}${text}` } }), 401);
    expectRefusal(await sendRaw(app, '/user/groups', { headers: { Cookie: `SID=${value}` } }), 401);
  });
});

describe('answers', () => {
  it('are JSON, never stored, with code and result and no other keys', async () => {
    const phone = newPhone();
    const available = await post(app.api, '/user/check_phone_available', phone);
    expect(Object.keys(available.body as object)).toEqual(['code', 'result']);
    const sent = await post(app.api, '/user/send_code', phone);
    expect(Object.keys(sent.body as object)).toEqual(['code']);
    const refused = await post(app.api, '/user/check_phone_available', {});
    const unknown = await post(app.api, '/user/no/such');
    const noSession = await post(app.api, '/user/groups');
    const crossSite = await post(app.api, '/user/groups', {}, { Origin: 'https://evil.example' });
    for (const { headers } of [available, sent, refused, unknown, noSession, crossSite]) {
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' });
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(headers).not.toHaveProperty('etag');
    }
  });

  // guard conventions-4: security headers limit what browsers may do with answers
  // src/http/head.ts
  // - Object.entries(SAME_HEADERS)
  // + Object.entries(SAME_HEADERS).slice(-1)
  it('tell browsers not to run, frame, sniff or pass on anything', async () => {
    for (const { headers } of [await post(app.api, '/user/groups'), await sendRaw(app, '/healthz', { method: 'GET' })])
      expect(headers).toMatchObject({
        'content-security-policy': "default-src 'none';object-src 'none';base-uri 'none';frame-ancestors 'none'",
        'strict-transport-security': 'max-age=31536000; includeSubDomains',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'SAMEORIGIN',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      });
  });

  // guard conventions-15: a client's request id is accepted if it is well-formed
  // src/http/request-log.ts
  // - /^[A-Za-z0-9._-]{1,64}$/.test(given)
  // + given !== ''
  it("carry the client's request id when it is well-formed", async () => {
    const sane = 'A-z0.9_'.padEnd(64, 'x');
    const answered = async (id: string) =>
      (await sendRaw(app, '/user/groups', { headers: { 'X-Request-Id': id } })).headers['x-request-id'];
    expect(await answered(sane)).toBe(sane);
    for (const insane of [`${sane}y`, 'a b', '<script>', ''])
      expect(await answered(insane)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  // guard conventions-5: the request log masks addresses
  // src/http/request-log.ts
  // - maskedAddress(req.sentFrom)
  // + req.sentFrom
  it("are logged with the service's request id, the client's id, and a masked address", async () => {
    const proxied = await startApp({ TRUST_PROXY: 'loopback' }, { databaseUrl: app.databaseUrl, dataDir: app.dataDir });
    const call = async (id: string, address: string) => {
      await sendRaw(proxied, '/user/groups', { headers: { 'X-Request-Id': id, 'X-Forwarded-For': address } });
      const [line] = await requestLinesOf(id);
      return line;
    };
    const requestId = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string;
    expect(await call('masked-4', '203.0.113.77')).toMatchObject({
      requestId,
      clientRequestId: 'masked-4',
      address: '203.0.113.0/24',
      route: '/user/groups',
    });
    expect(await call('masked-6', '2001:db8:1:2::9')).toMatchObject({ requestId, address: '2001:db8:1::/48' });
    await proxied.close();
  });

  it('are logged only at debug level for health checks, which come every few seconds', async () => {
    for (const path of ['/healthz', '/readyz', '/elsewhere'])
      await sendRaw(app, path, { method: 'GET', headers: { 'X-Request-Id': `asked-${path.slice(1)}` } });
    const [debug, info] = [{ level: 20 }, { level: 30 }];
    expect(await requestLinesOf('asked-healthz')).toMatchObject([debug]);
    expect(await requestLinesOf('asked-readyz')).toMatchObject([debug]);
    expect(await requestLinesOf('asked-elsewhere')).toMatchObject([info]);
  });

  // guard conventions-13: refused access is logged
  // src/http/request-log.ts
  // - const { req } = this;
  // +     const { req } = this;
  // +     if (this.statusCode === 401 || this.statusCode === 403) return;
  it('are also logged when they refuse access with 401 or 403', async () => {
    const status = async (id: string, headers: Record<string, string>) => {
      const answer = await sendRaw(app, '/user/groups', { headers: { 'X-Request-Id': id, ...headers } });
      const reason = field(answer.body, 'reason');
      expect(await requestLinesOf(id)).toMatchObject([
        { clientRequestId: id, method: 'POST', status: answer.status, reason },
      ]);
      return answer.status;
    };
    expect(await status('no-session', {})).toBe(401);
    expect(await status('forged-session', { Cookie: 'sid=s%3Aabc.def' })).toBe(401);
    expect(await status('foreign-page', { Origin: 'https://evil.example' })).toBe(403);
  });

  it('are logged with the reason of a return code, which has no status of its own', async () => {
    await sendRaw(app, '/user/login', {
      body: JSON.stringify({ ...newPhone(), password: newPassword() }),
      headers: { 'X-Request-Id': 'no-account' },
    });
    expect(await requestLinesOf('no-account')).toMatchObject([{ status: 200, reason: 'wrong_credentials' }]);
  });

  it('carry a new request id when the client sent none', async () => {
    const [first, second] = [await sendRaw(app, '/user/groups'), await sendRaw(app, '/user/groups')];
    expect(first.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  });
});

describe('cross-site requests', () => {
  const call = (headers: Record<string, string>, method = 'POST') =>
    sendRaw(app, '/user/check_phone_available', {
      method,
      headers,
      body: method === 'POST' ? JSON.stringify(newPhone()) : '',
    });

  // guard conventions-3: other sites cannot send requests
  // src/http/cross-site.ts
  // - if (WRITING.includes(req.method)) refuseForeign(req);
  it.each<Record<string, string>>([
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' },
    { Origin: 'https://evil.example' },
    { Origin: 'https://web.example.com.evil.example' },
    { Origin: 'http://web.example.com' },
    { Origin: 'null' },
  ])('are refused with 403: %j', async (headers) => {
    const answer = await call(headers);
    expectRefusal(answer, 403, 'CORS_ORIGINS');
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it.each<Record<string, string>>([
    {},
    { 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'none' },
    { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://accounts.example.com' },
  ])('are allowed from the same origin and from no page: %j', async (headers) => {
    expectBody(await call(headers), { code: 200, result: true });
  });

  it('are allowed when their origin is the host itself', async () => {
    expectBody(await call({ Origin: app.url }), { code: 200, result: true });
    expectBody(await call({ Origin: app.url.replace('http:', 'https:') }), { code: 200, result: true });
    expectRefusal(await call({ Origin: app.url.replace('http:', 'capacitor:') }), 403, 'CORS_ORIGINS');
  });

  describe('where clients come over HTTPS', () => {
    const HOST = 'accounts.example.com';
    let secure: TestApp;
    beforeAll(async () => {
      const env = { PUBLIC_URL: `https://${HOST}`, CORS_ORIGINS: `capacitor://listed.example` };
      secure = await startApp(env, { databaseUrl: app.databaseUrl, dataDir: app.dataDir });
    });
    afterAll(() => secure.close());

    const from = (Origin: string) =>
      sendRaw(secure, '/user/check_phone_available', {
        headers: { Host: HOST, Origin },
        body: JSON.stringify(newPhone()),
      });

    // guard conventions-2: an origin is compared with PUBLIC_URL, and not with Host
    // src/http/cross-site.ts
    // - publicOrigin === undefined ?
    // + publicOrigin ?
    it('are refused when origin and host agree with each other, but not with PUBLIC_URL', async () => {
      const headers = { Host: 'evil.example', Origin: 'https://evil.example' };
      expectRefusal(await sendRaw(secure, '/user/groups', { headers }), 403, 'CORS_ORIGINS');
    });

    it('are allowed from PUBLIC_URL through a proxy that puts its own name into Host', async () => {
      const headers = { Host: '127.0.0.1:8585', Origin: `https://${HOST}` };
      const body = JSON.stringify(newPhone());
      expectBody(await sendRaw(secure, '/user/check_phone_available', { headers, body }), { code: 200, result: true });
    });

    // guard conventions-1: an origin with another scheme on the same host is another site
    // src/http/cross-site.ts
    // - : [publicOrigin]
    // + : ['http', 'https', 'capacitor', 'ionic'].map((scheme) => `${scheme}:${publicOrigin.split(':')[1]}`)
    it.each([`http://${HOST}`, `capacitor://${HOST}`, `ionic://${HOST}`])(
      'are refused from %s: the same host, but anybody can make such a page',
      async (origin) => {
        expectRefusal(await from(origin), 403, 'CORS_ORIGINS');
      },
    );

    it('are allowed from the same host over HTTPS, and from an app in CORS_ORIGINS', async () => {
      for (const origin of [`https://${HOST}`, 'capacitor://listed.example'])
        expectBody(await from(origin), { code: 200, result: true });
    });
  });

  it.each(['https://web.example.com', 'http://localhost:3000'])(
    'are allowed from %s, which is in CORS_ORIGINS',
    async (origin) => {
      const answer = await call({ Origin: origin, 'Sec-Fetch-Site': 'cross-site' });
      expectBody(answer, { code: 200, result: true });
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        vary: 'Origin',
      });
      const preflight = await call({ Origin: origin, 'Access-Control-Request-Method': 'POST' }, 'OPTIONS');
      expect(preflight).toMatchObject({
        status: 204,
        headers: {
          'access-control-allow-origin': origin,
          // PUT and DELETE, with these headers, are for images uploaded in parts.
          'access-control-allow-methods': 'POST, PUT, DELETE',
          'access-control-allow-headers': expect.stringContaining(
            'Content-Type, X-Request-Id, Authorization, Content-MD5',
          ) as string,
        },
      });
    },
  );

  // guard conventions-10: CORS is closed except for listed origins
  // src/http/cross-site.ts
  // - origin !== undefined && allowed.includes(origin)
  // + origin !== undefined
  it('get no CORS permission in a preflight', async () => {
    const preflight = await call(
      { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' },
      'OPTIONS',
    );
    expectRefusal(preflight, 405);
    expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('requests in TLS early data, as marked by the proxy', () => {
  const early = (path: string, method: string) => sendRaw(app, path, { method, headers: { 'Early-Data': '1' } });

  // guard conventions-9: requests in TLS early data do not write anything
  // src/http/early-data.ts
  // - req.headers['early-data'] !== undefined
  // + false
  it.each([
    ['POST', '/user/send_code'],
    ['POST', '/files'],
    ['PUT', '/buckets/x/objects/x/uploads/x/1'],
    ['DELETE', '/buckets/x/objects/x/uploads/x'],
  ])('are refused with 425 when they write: %s %s', async (method, path) => {
    expectRefusal(await early(path, method), 425, 'early data', 'too_early');
  });

  it('are answered when they only read', async () => {
    expectBody(await early('/healthz', 'GET'), { code: 200 });
  });
});

describe('health', () => {
  it('/healthz answers while the process lives, /readyz while the database answers and its migrations are applied', async () => {
    for (const path of ['/healthz', '/readyz']) expectBody(await sendRaw(app, path, { method: 'GET' }), { code: 200 });
  });
});

describe('internal failures', () => {
  // guard conventions-16: an internal error does not show any detail
  // src/http/error-handler.ts
  // - new Failed('internal_error', 'internal error')
  // + new Failed(String(error))
  it('are answered with 500 by every operation, without any detail', async () => {
    const broken = await startApp();
    const { region, phone, password } = await insertPerson(broken);
    const cookie = cookieOf(await post(broken.api, '/user/login', { region, phone, password }));
    const tables = ['session', 'rate_limits', 'phones', 'verification_codes', 'verification_tokens', 'captchas'];
    for (const table of tables) await broken.db.raw('ALTER TABLE ?? RENAME TO ??', [table, `no_${table}`]);
    const fields = {
      region,
      phone,
      password,
      nickname: 'Ann',
      code: '1',
      verification_token: 'x',
      friendId: 'x',
      id: 'x',
    };
    try {
      for (const path of OPERATIONS.map(pathOf).filter((one) => one !== '/user/logout')) {
        const answer = await post(broken.api, path, fields, { Cookie: cookie });
        expect({ path, status: answer.status, body: answer.body }).toEqual({
          path,
          status: 500,
          body: { code: 500, reason: 'internal_error', message: 'internal error' },
        });
      }
    } finally {
      await broken.close();
    }
  });

  // guard conventions-14: an unexpected error is logged
  // src/http/error-handler.ts
  // - log(logger, error, appError, res);
  it('are logged with the cause and the id of the request', async () => {
    const broken = await startApp();
    await broken.db.raw('ALTER TABLE phones RENAME TO no_phones');
    try {
      const headers = { 'X-Request-Id': 'internal-error' };
      expectRefusal(await post(broken.api, '/user/check_phone_available', newPhone(), headers), 500);
      const [requestId] = await serviceRequestIds('internal-error');
      const failures = () => broken.logged().filter((line) => line.msg === 'failed');
      await until(() => failures().length > 0);
      expect(failures()).toMatchObject([{ level: 50, requestId, err: { code: '42P01' } }]);
      expect(field(failures()[0]?.err, 'message')).toContain('"phones" does not exist');
    } finally {
      await broken.close();
    }
  });

  itOnOneServer(
    'by a deadlock or a serialization failure are retried three times before a client gets a 503',
    async () => {
      const { agent, id } = await insertAndSignIn(app);
      const old = (await insertAndSignIn(app)) satisfies Person;
      await withFailures(app, async (nextOn) => {
        for (const code of ['40P01', '40001']) {
          await nextOn('users', 3, code);
          expectBody(await post(agent, '/user/set_nickname', { nickname: `after ${code}` }), { code: 200 });
          expect(await app.db('users').where({ id }).first('nickname')).toEqual({ nickname: `after ${code}` });
          await nextOn('users', 4, code);
          const refused = await post(agent, '/user/set_nickname', { nickname: 'never' });
          expectRefusal(refused, 503);
          expect(retryAfterOf(refused)).toBeGreaterThanOrEqual(1);
        }
        await nextOn('users');
        const change = { oldPassword: old.password, newPassword: newPassword() };
        expectBody(await post(old.agent, '/user/change_password', change), { code: 200 });
      });
    },
  );
});

/** Proxies the database, and can refuse connections or go silent. */
async function startDatabaseProxy(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let silent = false;
  const proxy = createServer((client) => {
    sockets.add(client.on('error', () => undefined));
    if (silent) return;
    const server = connect(Number(port), hostname).on('error', () => client.destroy());
    sockets.add(server);
    client.pipe(server).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const dropAll = () => sockets.forEach((socket) => socket.destroy());
  return {
    url: url.href,
    goSilent: () => {
      silent = true;
      dropAll();
    },
    /** Keeps connections, but lets nothing through them or through new ones. */
    freeze: () => {
      silent = true;
      sockets.forEach((socket) => socket.unpipe().pause());
    },
    /** Keeps connections, but lets nothing through those that exist. */
    lose: () => sockets.forEach((socket) => socket.unpipe().pause()),
    close: () => {
      proxy.close();
      dropAll();
    },
  };
}

describe('when the database is down, the service', () => {
  const calls: [path: string, body?: object][] = [
    ['/user/check_phone_available', newPhone()],
    ['/user/login', { ...newPhone(), password: 'secret1' }],
    ['/user/send_code', newPhone()],
    ['/user/groups'],
    ['/user/get_sms_img_code'],
  ];

  /** The reason shows that no answer has waited for the deadline. */
  async function expect503s(proxied: TestApp, cookie: string, rounds = 1) {
    for (let round = 0; round < rounds; round += 1) {
      const answers = await Promise.all([
        sendRaw(proxied, '/readyz', { method: 'GET' }),
        ...calls.map(([path, body]) => post(proxied.api, path, body, { Cookie: cookie })),
      ]);
      for (const answer of answers) {
        expectRefusal(answer, 503, '', 'overloaded');
        expect(retryAfterOf(answer)).toBeGreaterThanOrEqual(1);
      }
    }
    expect(await sendRaw(proxied, '/healthz', { method: 'GET' })).toMatchObject({ status: 200 });
  }

  async function behindProxy(patience = 1) {
    const proxy = await startDatabaseProxy(app.databaseUrl);
    const proxied = await startApp({}, { databaseUrl: proxy.url, dataDir: app.dataDir, patience });
    const cookie = await cookieFor(await insertPerson(app));
    expect((await post(proxied.api, '/user/groups', {}, { Cookie: cookie })).status).toBe(200);
    return { proxy, proxied, cookie };
  }

  // guard conventions-17: an unavailable database is answered with 503
  // src/http/error-handler.ts
  // - if (isOutage(error)) return
  // + if (isOutage(error) && false) return
  it('answers 503 with Retry-After if it refuses connections', async () => {
    const { proxy, proxied, cookie } = await behindProxy();
    try {
      proxy.close();
      await expect503s(proxied, cookie, 2);
    } finally {
      await proxied.close();
    }
  });

  it('answers 503 with Retry-After within seconds if it does not answer', async () => {
    const { proxy, proxied, cookie } = await behindProxy();
    try {
      proxy.goSilent();
      await expect503s(proxied, cookie);
    } finally {
      proxy.close();
      await proxied.close();
    }
  });

  it('answers 503 with Retry-After within seconds if it freezes in the middle of its work', async () => {
    const { proxy, proxied, cookie } = await behindProxy();
    try {
      proxy.freeze();
      await expect503s(proxied, cookie);
    } finally {
      proxy.close();
      await proxied.close();
    }
  });

  it('recovers within seconds over new connections if the old ones were lost silently', async () => {
    const { proxy, proxied } = await behindProxy();
    const ask = () => post(proxied.api, '/user/check_phone_available', newPhone());
    try {
      await inParallel(10, ask);
      proxy.lose();
      await inParallel(10, ask);
      expect(countCodes(await inParallel(20, ask))).toEqual({ 200: 20 });
    } finally {
      proxy.close();
      await proxied.close();
    }
  });

  it('can still stop if it has frozen', async () => {
    const { proxy, proxied } = await behindProxy(PATIENCE);
    try {
      await inParallel(10, () => post(proxied.api, '/user/check_phone_available', newPhone()));
      proxy.freeze();
      const started = Date.now();
      await proxied.close();
      // It does not wait until the connections are cut.
      expect(Date.now() - started).toBeLessThan(PATIENCE * SILENCE_MS);
    } finally {
      proxy.close();
    }
  });

  it('answers 503 with Retry-After within seconds if all connections are in use', async () => {
    const { databaseUrl, dataDir } = app;
    const small = await startApp({ DATABASE_POOL_MAX: '1' }, { databaseUrl, dataDir, patience: 1 });
    await small.serviceDb.transaction(async () => {
      const answer = await post(small.api, '/user/check_phone_available', newPhone());
      expectRefusal(answer, 503, '', 'overloaded');
      expect(retryAfterOf(answer)).toBeGreaterThanOrEqual(1);
    });
    expect((await post(small.api, '/user/check_phone_available', newPhone())).status).toBe(200);
    await small.close();
  });
});
