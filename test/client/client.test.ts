import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { CookieJar } from '../../packages/client/src/cookie-jar.ts';
import { TokenJar } from '../../packages/client/src/token-jar.ts';
import {
  Client,
  memoryStorage,
  SyncStore,
  type ClientOptions,
  type SessionEvent,
} from '../../packages/client/src/index.ts';
import { startApp, type TestApp } from '../support/app';
import { solvedCaptcha } from '../support/captchas';
import { inParallel } from '../support/calls';
import { clientOf, credentialsOf, signedInClient } from '../support/client';
import { PNG, inspectImage } from '../support/images';
import { insertPerson, newPhone, verificationToken, type Person } from '../support/people';
import { rememberSecret } from '../support/secrets';
import { stage } from '../support/stage';
import {
  startVendorServer,
  type RecordedRequest,
  type Reply,
  type VendorServer,
} from '../support/stand-ins/vendor-server';
import { until } from '../support/until';

const refused = (code: number, reason: string) => {
  const answer: unknown = expect.objectContaining({ ok: false, code, reason });
  return answer;
};

/** Yields a byte now and then, for longer than four time limits. */
async function* drops() {
  for (let count = 0; count < 200; count += 1) {
    await delay(20);
    yield ' ';
  }
}

/** Yields 32 MiB. */
function* flood() {
  const piece = 'x'.repeat(65_536);
  for (let count = 0; count < 512; count += 1) yield piece;
}

describe('the client and the service', () => {
  const { app } = stage();
  let ann: Person;
  beforeAll(async () => {
    ann = await insertPerson(app, 'Ann');
  });

  it('keeps a store that follows up to date, and leaves the service alone when it stops', async () => {
    const client = await signedInClient(app, ann);
    const store = new SyncStore(client);
    const stop = store.follow();
    await until(() => app.liveSyncs() === 1);
    await app.db('users').where({ id: ann.id }).update({ nickname: 'Annabel' });
    await until(async () => (await store.user())?.nickname === 'Annabel');
    stop();
    await app.db('users').where({ id: ann.id }).update({ nickname: 'Ann' });
    await until(() => app.liveSyncs() === 0);
    expect(await client.logout()).toMatchObject({ ok: true });
  });

  it('does not log in after a logout for a store that follows, which goes on after the next login', async () => {
    const credentials = jest.fn(() => credentialsOf(ann));
    const client = await signedInClient(app, ann, { credentials });
    const events: SessionEvent[] = [];
    client.onSession((event) => events.push(event));
    const store = new SyncStore(client);
    const stop = store.follow();
    await until(() => app.liveSyncs() === 1);
    expect(await client.logout()).toMatchObject({ ok: true });
    await until(() => app.liveSyncs() === 0);
    expect(await store.user()).toBeUndefined();
    await client.call('/user/login', credentialsOf(ann));
    await until(() => app.liveSyncs() === 1);
    expect(await store.user()).toMatchObject({ nickname: 'Ann' });
    expect(credentials).not.toHaveBeenCalled();
    expect(events).toEqual(['ended', 'began'].map((event) => ({ event, elsewhere: false })));
    stop();
  });

  // guard client-client-19: a store that follows does not log in when the session has ended
  // packages/client/src/client.ts
  // - request.following ? void (await this.#ending) : await this.#logins.again()
  // + await this.#logins.again()
  it('does not log in for a store that follows when the session has ended elsewhere', async () => {
    const credentials = jest.fn(() => credentialsOf(ann));
    const client = await signedInClient(app, ann, { credentials });
    const stop = new SyncStore(client).follow();
    await until(() => app.liveSyncs() === 1);
    const other = await signedInClient(app, ann);
    await other.call('/user/change_password', { oldPassword: ann.password, newPassword: ann.password });
    await until(() => client.isSignedIn === false);
    expect(credentials).not.toHaveBeenCalled();
    expect(await client.call('/user/groups')).toMatchObject({ ok: true });
    await until(() => app.liveSyncs() === 1);
    stop();
  });

  // guard client-client-21: a store that follows goes on when a session begins
  // packages/client/src/sync/following.ts
  // - followed.session.onSession?.(() => this.#wake())
  // + undefined
  it('lets a store that follows begin before the first login', async () => {
    const client = clientOf(app);
    const stop = new SyncStore(client).follow();
    await until(() => client.isSignedIn === false);
    await client.call('/user/login', credentialsOf(ann));
    await until(() => app.liveSyncs() === 1, 30_000);
    stop();
  });

  // guard client-client-22: a store that is closed follows no more
  // packages/client/src/sync/store.ts
  // - for (const following of this.#followings) following.close();
  it.each([
    ['it is stopped', (stop: () => void) => stop()],
    ['its store is closed', (_stop: () => void, store: SyncStore) => store.close()],
    ['the client is closed', (_stop: () => void, _store: SyncStore, client: Client) => client.close()],
  ])('ends the call of a store that follows when %s', async (_when, end) => {
    const fetching = jest.fn(fetch);
    const client = await signedInClient(app, ann, { fetch: fetching });
    const store = new SyncStore(client);
    const stop = store.follow();
    await until(() => app.liveSyncs() === 1);
    const calls = fetching.mock.calls.length;
    end(stop, store, client);
    expect(fetching.mock.lastCall?.[1]?.signal?.aborted).toBe(true);
    await until(() => app.liveSyncs() === 0);
    expect(fetching).toHaveBeenCalledTimes(calls);
  });

  // guard client-client-1: a logout of the client clears its stores
  // packages/client/src/client.ts
  // -       await this.#clearStores();
  // -       return answer;
  // + return answer;
  it('reports when a session begins and ends, and clears its stores at a logout', async () => {
    const client = await signedInClient(app, ann);
    const events: SessionEvent[] = [];
    client.onSession((event) => events.push(event));
    const store = new SyncStore(client);
    expect(await store.sync()).toMatchObject({ ok: true });
    expect(await client.logout()).toMatchObject({ ok: true });
    expect(await store.user()).toBeUndefined();
    expect(await store.sync()).toMatchObject({ ok: false, reason: 'not_signed_in' });
    await client.call('/user/login', credentialsOf(ann));
    expect(client.isSignedIn).toBe(true);
    expect(events.map(({ event, elsewhere }) => [event, elsewhere])).toEqual([
      ['ended', false],
      ['began', false],
    ]);
  });

  // guard client-client-2: the client reports that the session has ended elsewhere
  // packages/client/src/client.ts
  // - this.#session.found(false);
  it('learns from a sync that a user is signed in, and from a refusal that the session has ended', async () => {
    const storage = memoryStorage();
    await signedInClient(app, ann, { storage });
    const client = clientOf(app, { storage });
    const events: SessionEvent[] = [];
    client.onSession((event) => events.push(event));
    const store = new SyncStore(client);
    expect(client.isSignedIn).toBeUndefined();
    await inParallel(2, () => store.sync());
    expect(client.isSignedIn).toBe(true);

    const other = await signedInClient(app, ann);
    await other.call('/user/change_password', { oldPassword: ann.password, newPassword: ann.password });
    await inParallel(2, () => client.call('/user/groups'));
    expect(client.isSignedIn).toBe(false);
    expect(events).toEqual(['began', 'ended'].map((event) => ({ event, elsewhere: true })));
    expect(await store.user()).toMatchObject({ nickname: 'Ann' });
    expect(await client.logout()).toMatchObject({ ok: true });
    expect(await store.user()).toBeUndefined();
  });

  it.each([
    ['jar', []],
    ['bearer', []],
    ['platform', ['/user/sessions/check']],
  ] as const)(
    'finds out at a first visit, by no call that is refused, that no user is signed in: %s',
    async (cookies, calls) => {
      const fetching = jest.fn(fetch);
      // A form that is not filled in yet.
      const credentials = () => ({ region: 44, phone: '', password: '' });
      const client = clientOf(app, { cookies, credentials, fetch: fetching });
      expect(await new SyncStore(client).sync()).toEqual(refused(401, 'not_signed_in'));
      expect(fetching.mock.calls.map(([url]) => url)).toEqual(calls.map((path) => app.url + path));
      expect(client.isSignedIn).toBe(false);
    },
  );

  it('reports that a store could not be cleared', async () => {
    const client = await signedInClient(app, ann);
    const failing = { ...memoryStorage(), setItem: () => Promise.reject(new Error('the disk is full')) };
    new SyncStore(client, { storage: failing });
    expect(await client.logout()).toMatchObject({ ok: false, reason: 'storage' });
    expect(client.isSignedIn).toBe(false);
  });

  it('returns results, with the id of the request', async () => {
    const client = await signedInClient(app, ann);
    const profile = await client.call('/user/{id}', { id: ann.id });
    expect(profile).toEqual({
      ok: true,
      result: { id: ann.id, nickname: 'Ann', portraitUri: '' },
      requestId: expect.stringMatching(/^[\w.-]{1,64}$/) as string,
    });
    expect(await client.call('/user/set_nickname', { nickname: 'Ann' })).toMatchObject({ ok: true, result: undefined });
    expect(await client.call('/user/find/{region}/{phone}', ann)).toMatchObject({ ok: true, result: { id: ann.id } });
  });

  it('returns refusals with their reason, and with the wrong fields', async () => {
    const client = clientOf(app);
    expect(await client.call('/user/login', { ...credentialsOf(ann), password: 'another-one' })).toEqual(
      refused(1000, 'wrong_credentials'),
    );
    expect(await client.call('/user/groups')).toEqual(refused(401, 'not_signed_in'));
    const badCode = await client.call('/user/verify_code', { ...newPhone(), code: '' });
    expect(badCode).toMatchObject({ reason: 'invalid_input', details: [{ path: 'code' }] });
    const { region, phone } = newPhone();
    await client.call('/user/send_code', { region, phone });
    const again = await client.call('/user/send_code', { region, phone });
    expect(again).toMatchObject({ ok: false, code: 5000, reason: 'too_soon', retryAfter: 60 });
  });

  // guard client-client-7: the client sends no request for a path parameter that leads to another operation
  // packages/client/src/addressed.ts
  // - NOT_SEGMENTS.has(segment)
  // + segment === "none"
  it.each([[''], ['.'], ['..'], [undefined]])('sends no request when a parameter of the path is %j', async (id) => {
    let sent = 0;
    const counted: typeof fetch = (...request) => {
      sent += 1;
      return fetch(...request);
    };
    const client = clientOf(app, { fetch: counted });
    expect(await client.call('/user/{id}', { id: id as string })).toEqual(refused(400, 'invalid_input'));
    expect(sent).toBe(0);
  });

  describe('the jar', () => {
    const keysOf = ({ url }: TestApp) =>
      [`cookie:${new URL(url).host}:sid`, `cookie:${new URL(url).host}:device`] as const;

    it('keeps the session and the device in the storage, so that a restart needs no password', async () => {
      const [sid, device] = keysOf(app);
      const storage = memoryStorage();
      await signedInClient(app, ann, { storage });
      const restarted = clientOf(app, { storage });
      expect(await restarted.call('/user/groups')).toMatchObject({ ok: true });
      expect(await storage.getItem(device)).toMatch(/./);

      expect(await restarted.call('/user/logout')).toMatchObject({ ok: true });
      expect(await storage.getItem(sid)).toBeNull();
      expect(await storage.getItem(device)).toMatch(/./);
      expect(await clientOf(app, { storage }).call('/user/groups')).toMatchObject({ ok: false, code: 401 });
    });

    it('does not show what it keeps', async () => {
      const storage = memoryStorage();
      const credentials = credentialsOf(ann);
      const client = await signedInClient(app, ann, { storage, credentials: () => credentials });
      const shown = [inspect(client, { depth: 9, showHidden: true }), JSON.stringify(client)].join();
      const [sid, device] = keysOf(app);
      for (const secret of [ann.password, await storage.getItem(sid), await storage.getItem(device)])
        expect(shown).not.toContain(secret);
    });
  });

  describe('with bearer tokens', () => {
    const keysOf = ({ url }: TestApp) =>
      [`token:${new URL(url).host}:session`, `token:${new URL(url).host}:device`] as const;
    const bearer = (storage = memoryStorage(), options: Partial<ClientOptions> = {}) =>
      clientOf(app, { cookies: 'bearer', storage, ...options });

    it('signs up and in by a code, without a password or a cookie, and stays signed in after a restart', async () => {
      const storage = memoryStorage();
      const setCookies: string[] = [];
      const watched: typeof fetch = async (...request) => {
        const answer = await fetch(...request);
        setCookies.push(...answer.headers.getSetCookie());
        return answer;
      };
      const client = bearer(storage, { fetch: watched });
      const events: string[] = [];
      client.onSession(({ event }) => events.push(event));
      const phone = newPhone();
      const up = { nickname: 'Ann', verification_token: await verificationToken(app, phone) };
      const registered = await client.call('/user/register_by_token', up);
      expect(registered).toMatchObject({ ok: true });
      expect(client.isSignedIn).toBe(true);
      expect(await bearer(storage).call('/user/groups')).toMatchObject({ ok: true });

      const [session, device] = keysOf(app);
      expect(await client.logout()).toMatchObject({ ok: true });
      expect([await storage.getItem(session), typeof (await storage.getItem(device))]).toEqual([null, 'string']);
      expect(await bearer(storage).call('/user/groups')).toMatchObject({ ok: false, reason: 'not_signed_in' });

      const back = { verification_token: await verificationToken(app, phone) };
      expect(await client.call('/user/login_by_token', back)).toMatchObject({ ok: true });
      expect(await client.call('/user/groups')).toMatchObject({ ok: true });
      for (const answer of [registered]) if (answer.ok) rememberSecret(answer.result.token);
      await until(() => events.length === 3);
      expect(events).toEqual(['began', 'ended', 'began']);
      expect(setCookies).toEqual([]);
    });

    it('sends a used token again by itself when the answer was lost', async () => {
      let isLost = true;
      const losing: typeof fetch = async (...request) => {
        const answer = await fetch(...request);
        if (!isLost) return answer;
        isLost = false;
        throw new TypeError('lost');
      };
      const verification_token = await verificationToken(app, ann);
      const client = bearer(memoryStorage(), { fetch: losing });
      expect(await client.call('/user/login_by_token', { verification_token })).toMatchObject({ ok: true });
      expect(isLost).toBe(false);
      expect(await client.call('/user/groups')).toMatchObject({ ok: true });
    });

    it('keeps no older token than the newest', async () => {
      const storage = memoryStorage();
      const jar = new TokenJar(storage, new URL('http://one.example/accounts'));
      await jar.keep(new Headers({ 'X-Session-Token': 'old', 'X-Device-Token': 'd' }), {});
      const sent = await jar.headers();
      expect(sent).toEqual({ 'X-Session': 'bearer', Authorization: 'Bearer old', 'X-Device-Token': 'd' });
      await jar.keep(new Headers({ 'X-Session-Token': 'new' }), sent);
      // A renewal of the session before, which arrives late.
      await jar.keep(new Headers({ 'X-Session-Token': 'old' }), sent);
      expect(await jar.headers()).toMatchObject({ Authorization: 'Bearer new' });
      const other = new TokenJar(storage, new URL('http://two.example'));
      expect(await other.headers()).toEqual({ 'X-Session': 'bearer' });
    });
  });

  describe('when the session has ended', () => {
    const endAll = () => app.db('session').delete();

    // guard client-client-8: the client logs in once for all calls that find the session ended
    // packages/client/src/relogin.ts
    // - this.#underWay ??= this.#useCredentials()
    // + this.#underWay = this.#useCredentials()
    it('asks for the credentials once for any number of calls that find it ended, and repeats the calls', async () => {
      const storage = memoryStorage();
      const credentials = jest.fn(() => credentialsOf(ann));
      const client = await signedInClient(app, ann, { storage, credentials });
      await endAll();
      const answers = await inParallel(8, () => client.call('/user/set_nickname', { nickname: 'Ann' }));
      expect(answers.map(({ ok }) => ok)).toEqual(Array(8).fill(true));
      expect(credentials).toHaveBeenCalledTimes(1);
      expect(await app.db('session').count()).toEqual([{ count: 1 }]);
    });

    // guard client-client-14: the client treats callbacks that throw like callbacks that return nothing
    // packages/client/src/client.ts
    // - given(() => options.credentials?.())
    // + Promise.resolve(options.credentials?.())
    it.each([
      ['there is no callback for credentials', undefined],
      ['nothing is answered', () => undefined],
      ['the callback for credentials throws', () => Promise.reject(new Error('no window'))],
      ['the callback returns invalid credentials', () => ({ ...credentialsOf(ann), phone: '0' })],
    ])('returns a 401 when %s', async (_words, credentials) => {
      const client = await signedInClient(app, ann, credentials && { credentials });
      await endAll();
      expect(await client.call('/user/groups')).toEqual(refused(401, 'not_signed_in'));
    });

    // guard client-client-13: the client does not send refused credentials a second time
    // packages/client/src/relogin.ts
    // - if (this.#refused && isSame(this.#refused.credentials, credentials)) return this.#refused.answer;
    it('says why the login was refused, and does not try the same credentials again', async () => {
      let password = 'an-older-one';
      const fetching = jest.fn(fetch);
      const credentials = () => ({ ...credentialsOf(ann), password });
      const client = await signedInClient(app, ann, { credentials, fetch: fetching });
      await endAll();
      fetching.mockClear();
      for (let time = 0; time < 2; time += 1)
        expect(await client.call('/user/groups')).toEqual(refused(1000, 'wrong_credentials'));
      const asked = fetching.mock.calls.map(([url]) => (url as string).slice(app.url.length));
      expect(asked).toEqual(['/user/groups', '/user/login', '/user/groups']);
      ({ password } = ann);
      expect(await client.call('/user/groups')).toMatchObject({ ok: true });
    });

    it('does not log in to log out', async () => {
      const credentials = jest.fn(() => credentialsOf(ann));
      const client = await signedInClient(app, ann, { credentials });
      await endAll();
      expect(await client.call('/user/logout')).toEqual(refused(401, 'not_signed_in'));
      expect(credentials).not.toHaveBeenCalled();
    });
  });

  it('uploads a portrait', async () => {
    const client = await signedInClient(app, ann);
    const set = await client.setPortrait(new Blob([PNG], { type: 'image/png' }));
    if (!set.ok) throw new Error(inspect(set));
    expect(await client.call('/user/{id}', { id: ann.id })).toMatchObject({ result: { portraitUri: set.result.url } });
    const image = await fetch(set.result.url);
    expect(await inspectImage(Buffer.from(await image.arrayBuffer()))).toMatchObject({ format: 'png', width: 1 });

    const named = await client.uploadImage(new Blob([PNG]), { key: `${ann.id}/named.png` });
    expect(named).toMatchObject({ ok: true, result: { key: `${ann.id}/named.png` } });
    expect(await client.setPortrait(new Blob(['no image']))).toEqual(refused(400, 'not_an_image'));
  });

  it('shows a captcha when one is required, and sends the code then', async () => {
    const strict = await startApp({ CAPTCHA_POLICY: 'always' });
    try {
      const captcha = jest.fn(async ({ url, verifyId }: { url: string; verifyId: string }) => {
        expect(url).toMatch(/\.png$/);
        const row = await strict.db('captchas').where({ id: verifyId }).first<{ answer: string }>('answer');
        return row.answer;
      });
      const phone = newPhone();
      expect(await clientOf(strict).call('/user/send_code', phone)).toEqual(refused(400, 'captcha_missing'));
      const declined = clientOf(strict, { captcha: () => undefined });
      expect(await declined.call('/user/send_code', phone)).toEqual(refused(400, 'captcha_missing'));
      const throwing = clientOf(strict, { captcha: () => Promise.reject(new Error('no window')) });
      expect(await throwing.call('/user/send_code', phone)).toEqual(refused(400, 'captcha_missing'));
      const misread = jest.fn(() => 'wrong');
      for (const times of [1, 2]) {
        expect(await clientOf(strict, { captcha: misread }).call('/user/send_code', phone)).toEqual(
          refused(400, 'captcha_wrong'),
        );
        expect(misread).toHaveBeenCalledTimes(times);
      }
      const client = clientOf(strict, { captcha });
      expect(await client.call('/user/send_code', phone)).toMatchObject({ ok: true });
      expect(captcha).toHaveBeenCalledTimes(1);
      const solved = await solvedCaptcha(strict);
      expect(await client.call('/user/send_code', { ...newPhone(), ...solved })).toMatchObject({ ok: true });
      expect(captcha).toHaveBeenCalledTimes(1);
    } finally {
      await strict.close();
    }
  });
});

describe('the jar of cookies', () => {
  const set = (...cookies: string[]) => {
    const headers = new Headers();
    for (const cookie of cookies) headers.append('Set-Cookie', cookie);
    return headers;
  };

  // guard client-client-12: the jar sends the cookies of production only over HTTPS
  // packages/client/src/cookie-jar.ts
  // - isSecure || !name.startsWith('__Host-')
  // + isSecure || true
  it('sends the two of production only over HTTPS', async () => {
    const storage = memoryStorage();
    const jar = new CookieJar(storage, new URL('https://one.example'));
    await jar.keep(set('__Host-sid=s%3A1; Path=/; Secure', '__Host-device=2; Secure', 'other=3'));
    expect(await jar.headers()).toEqual({ Cookie: '__Host-sid=s%3A1; __Host-device=2' });
    expect(await new CookieJar(storage, new URL('http://one.example')).headers()).toEqual({});
  });

  // guard client-client-17: the jar sends a cookie only to the host that set it
  // packages/client/src/cookie-jar.ts
  // - `cookie:${this.#host}:${name}`
  // + `cookie:${name}`
  it('sends nothing to another host', async () => {
    const storage = memoryStorage();
    await new CookieJar(storage, new URL('http://one.example')).keep(set('sid=1'));
    expect(await new CookieJar(storage, new URL('http://one.example')).headers()).toEqual({ Cookie: 'sid=1' });
    for (const other of ['http://two.example', 'http://one.example:81'])
      expect(await new CookieJar(storage, new URL(other)).headers()).toEqual({});
  });

  it.each(['sid=; Path=/', 'sid=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'sid=1; Max-Age=0'])(
    'deletes a cookie that the server deletes: %s',
    async (cookie) => {
      const jar = new CookieJar(memoryStorage(), new URL('http://one.example'));
      await jar.keep(set('sid=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT', 'device=2; Max-Age=9'));
      expect(await jar.headers()).toEqual({ Cookie: 'sid=1; device=2' });
      await jar.keep(set(cookie));
      expect(await jar.headers()).toEqual({ Cookie: 'device=2' });
    },
  );
});

describe('the client without a valid answer', () => {
  let server: VendorServer;
  let replies: Reply[];
  const ok: Reply = { status: 200, json: { code: 200 } };
  const unavailable: Reply = {
    status: 503,
    json: { code: 503, reason: 'overloaded', message: 'later' },
    headers: { 'X-Reason': 'overloaded', 'Retry-After': '1' },
  };

  beforeEach(async () => {
    replies = [];
    server = await startVendorServer(200, () => replies.shift() ?? ok);
  });
  afterEach(() => server.close());

  const client = (options = {}) => new Client({ baseUrl: server.url, repeats: 0, ...options });
  const paths = () => server.requests.map(({ path }: RecordedRequest) => path);

  it.each([
    ['hang', 'timeout', 0],
    ['trickle', 'network', 0],
    ['reset', 'network', 0],
    ['half', 'network', 0],
    ['garbage', 'bad_answer', 200],
    ['empty', 'bad_answer', 200],
    ['foreign', 'bad_answer', 200],
    ['gateway', 'bad_answer', 502],
  ] as const)('reports what is wrong: %s', async (trouble, reason, code) => {
    replies = [{ trouble }];
    if (trouble === 'trickle') setTimeout(() => void server.close(), 600);
    // A busy machine may take long for the other answers.
    const limits = trouble === 'hang' ? { timeoutMs: 300 } : {};
    expect(await client(limits).call('/user/groups')).toMatchObject({ ok: false, reason, code });
    if (trouble === 'trickle') server = await startVendorServer(200, () => ok);
  });

  it('reports that the service cannot be reached', async () => {
    const { url } = server;
    const nobody = new Client({ baseUrl: url, repeats: 0 });
    await server.close();
    expect(await nobody.call('/user/groups')).toMatchObject({ ok: false, reason: 'network', code: 0 });
    server = await startVendorServer(200, () => ok);
  });

  // guard client-client-4: the client repeats a call when its answer was cut
  // packages/client/src/read-answer.ts
  // - if (reply.status === 200 && error.reason === 'network') throw error;
  it.each([
    ['a 503, when its seconds have passed', unavailable],
    ['no answer', { trouble: 'reset' }],
    ['half an answer', { trouble: 'half' }],
    ['the answer of a proxy', { trouble: 'gateway' }],
  ] as const)('repeats a repeatable call after %s', async (_words, trouble) => {
    replies = [trouble, trouble];
    const begun = Date.now();
    expect(await client({ repeats: 2 }).call('/user/groups')).toMatchObject({ ok: true });
    expect(paths()).toHaveLength(3);
    expect(Date.now() - begun).toBeGreaterThan(trouble === unavailable ? 1_900 : 1_400);
  });

  it('repeats a call at most the allowed number of times, and only within a few seconds', async () => {
    replies = [{ trouble: 'reset' }, { trouble: 'reset' }];
    expect(await client({ repeats: 1 }).call('/user/groups')).toMatchObject({ reason: 'network' });
    replies = [{ ...unavailable, headers: { ...unavailable.headers, 'Retry-After': '60' } }];
    expect(await client({ repeats: 1 }).call('/user/groups')).toMatchObject({ reason: 'overloaded', retryAfter: 60 });
    expect(paths()).toHaveLength(3);
  });

  // guard client-client-18: the client does not end a sync that waits before its wait is over
  // packages/client/src/exchange.ts
  // - times * this.#ms + waitMs, this.#leftMs
  // + times * this.#ms, this.#leftMs
  it('gives a sync that waits the time of the wait, and does not repeat it', async () => {
    await server.close();
    server = await startVendorServer(200, async () => {
      await delay(500);
      return unavailable;
    });
    const following = { wait: 50, signal: new AbortController().signal };
    const answer = await client({ timeoutMs: 100, repeats: 2 }).changesSince(7, { names: false, following });
    expect(answer).toEqual(refused(503, 'overloaded'));
    expect(server.requests).toMatchObject([{ path: '/user/sync/7', body: '{"wait":50}' }]);
  });

  // guard client-client-20: the client reports its own logout as such, even if a store that follows hears of it first
  // packages/client/src/client.ts
  // - void (await this.#ending)
  // + undefined
  it('reports its own logout as such, even if a store that follows hears of it first', async () => {
    await server.close();
    const statuses: number[] = [];
    server = await startVendorServer(200, async ({ path }) => {
      if (path === '/user/login') return { status: 200, json: { code: 200, result: { id: 'ann', token: '' } } };
      if (path !== '/user/logout') {
        await until(() => paths().includes('/user/logout'));
        return refusing(401, 'not_signed_in');
      }
      await until(() => statuses.includes(401));
      return ok;
    });
    const leaving = client({
      fetch: async (...request: Parameters<typeof fetch>) => {
        const answer = await fetch(...request);
        statuses.push(answer.status);
        return answer;
      },
    });
    const events: SessionEvent[] = [];
    leaving.onSession((event) => events.push(event));
    await leaving.call('/user/login', { region: 44, phone: '7911123456', password: 'opensesame' });
    const stop = new SyncStore(leaving).follow();
    await until(() => paths().length === 2);
    expect(await leaving.logout()).toMatchObject({ ok: true });
    await until(() => statuses.length === 3);
    expect(events).toEqual(['began', 'ended'].map((event) => ({ event, elsewhere: false })));
    stop();
  });

  // guard client-client-11: the client does not repeat a call that might be done twice
  // packages/client/src/repeating.ts
  // - && !ASKED_ONCE.has(path)
  it('does not repeat a call that might be done twice', async () => {
    replies = [{ trouble: 'reset' }];
    const repeating = client({ repeats: 2 });
    const group = { name: 'Hikers', memberIds: [] };
    expect(await repeating.call('/group/create', group)).toMatchObject({ ok: false, reason: 'network' });
    expect(paths()).toEqual(['/group/create']);
  });

  it('treats a repeated call as done if its refusal shows that the first one was done', async () => {
    const gone = { status: 404, json: { code: 404, reason: 'no_such_group', message: 'gone' } };
    replies = [{ trouble: 'reset' }, gone, gone];
    const repeating = client({ repeats: 1 });
    expect(await repeating.call('/group/quit', { groupId: 'g' })).toMatchObject({ ok: true });
    expect(await repeating.call('/group/quit', { groupId: 'g' })).toMatchObject({ ok: false, reason: 'no_such_group' });
  });

  const refusing = (code: number, reason: string): Reply => ({ status: code, json: { code, reason, message: '' } });

  // guard client-client-15: the client does not treat a refused transfer as done
  // packages/client/src/repeating.ts
  // - '/group/transfer',
  it.each([
    ['/group/transfer', { groupId: 'g', userId: 'u' }, 503, refusing(403, 'not_the_creator')],
    ['/user/end_session', { id: 's' }, 401, refusing(401, 'not_signed_in')],
  ] as const)('does not treat a refusal of %s as done', async (path, input, code, second) => {
    replies = [unavailable, second];
    expect(await client({ repeats: 1 }).call(path, input as never)).toMatchObject({ ok: false, code });
  });

  // guard client-client-16: clients do not all repeat at the same time
  // packages/client/src/repeating.ts
  // - 1 + Math.random() / 2
  // + 1
  it('waits a random time before it repeats, so that clients do not repeat together', async () => {
    replies = [{ trouble: 'reset' }];
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const waits = jest.spyOn(globalThis, 'setTimeout');
    await client({ repeats: 1 }).call('/user/groups');
    expect(waits.mock.calls.map(([, ms]) => ms)).toContain(625);
    jest.restoreAllMocks();
  });

  it.each([
    ['half a character', { id: '\ud83d' }],
    ['a BigInt', { id: 'ann', more: 1n }],
  ])('reports input that cannot be sent: %s', async (_words, input) => {
    expect(await client().call('/user/{id}', input)).toEqual(refused(400, 'invalid_input'));
    expect(paths()).toEqual([]);
  });

  // guard client-client-23: a client without an answer does not take the user for signed out
  // packages/client/src/client.ts
  // - if (!has.ok) return isUnknown(has) ? has : undefined;
  // + if (!has.ok) return failure(NOT_SIGNED_IN, '', { code: 401 });
  it.each([
    ['no answer came', { trouble: 'reset' } as const, 'network', []],
    ['an older service does not know the question', refusing(404, 'no_such_path'), 'overloaded', ['/user/sync/0']],
  ])('does not ask for the password when it cannot know of a session: %s', async (_why, reply, reason, more) => {
    replies = [reply, unavailable];
    const credentials = jest.fn();
    const store = new SyncStore(client({ cookies: 'platform', credentials }));
    expect(await store.sync()).toMatchObject({ ok: false, reason });
    expect(paths()).toEqual(['/user/sessions/check', ...more]);
    expect(credentials).not.toHaveBeenCalled();
  });

  it('reports that it could not log in again', async () => {
    replies = [refusing(401, 'not_signed_in'), { trouble: 'reset' }];
    const credentials = () => ({ region: 44, phone: '7911123456', password: 'opensesame' });
    expect(await client({ credentials }).call('/user/groups')).toMatchObject({ ok: false, reason: 'network' });
    expect(paths()).toEqual(['/user/groups', '/user/login']);
    expect(await client({ credentials }).call('/user/groups')).toMatchObject({ ok: true });
  });

  // guard client-client-10: the client logs in only after a 401 of the service
  // packages/client/src/client.ts
  // - answer.reason !== NOT_SIGNED_IN || WITHOUT_SESSION
  // + answer.code !== 401 || WITHOUT_SESSION
  it("does not end the session or ask for the password after a 401 that is not the service's", async () => {
    replies = [{ status: 401, json: { error: 'the network wants its own login' } }];
    const credentials = jest.fn(() => ({ region: 44, phone: '7911123456', password: 'opensesame' }));
    expect(await client({ credentials }).call('/user/groups')).toMatchObject({ reason: 'bad_answer', code: 401 });
    expect(credentials).not.toHaveBeenCalled();
    expect(paths()).toEqual(['/user/groups']);
  });

  it.each(['127.0.0.1:8585', 'localhost:8585', 'accounts.example.com', 'ws://accounts.example.com', ''])(
    'says what its base URL must look like: not "%s"',
    (baseUrl) => {
      expect(() => new Client({ baseUrl })).toThrow(
        `baseUrl must be a whole address, such as https://accounts.example.com, and not "${baseUrl}"`,
      );
    },
  );

  // guard client-client-3: the client aborts an answer that arrives too slowly
  // packages/client/src/exchange.ts
  // - Math.min(times * this.#ms + waitMs, this.#leftMs)
  // + times * this.#ms + waitMs
  // guard client-client-5: the client aborts an answer that never ends
  // packages/client/src/exchange.ts
  // - if (bytes > mostBytes)
  // + if (bytes > 100 * mostBytes)
  it.each([
    ['arrives too slowly, after four time limits', drops, 300, 'timeout', 'no answer within 300 ms'],
    ['does not end, after 16 MiB', flood, 60_000, 'bad_answer', 'the answer has more than 16777216 bytes'],
  ] as const)('aborts an answer that %s', async (_, pieces, timeoutMs, reason, message) => {
    const endless = createServer((_req, res) => void Readable.from(pieces()).pipe(res)).listen(0, '127.0.0.1');
    await once(endless, 'listening');
    const { port } = endless.address() as AddressInfo;
    const patient = client({ baseUrl: `http://127.0.0.1:${port}`, timeoutMs });
    expect(await patient.call('/user/groups')).toMatchObject({ ok: false, reason, message });
    endless.closeAllConnections();
    endless.close();
  });

  // guard client-client-6: the client sends no password over http to another machine
  // packages/client/src/client.ts
  // - if (isReadable(url) && !options.allowHttp)
  // + if (isReadable(url) && !options.allowHttp && false)
  it('sends nothing over http to another machine, unless it is told to', () => {
    const baseUrl = 'http://accounts.example.com';
    for (const readable of [baseUrl, 'http://localhost.example.com', 'http://127.0.0.1:80@example.com'])
      expect(() => new Client({ baseUrl: readable })).toThrow('use https://, or set allowHttp');
    expect(() => new Client({ baseUrl, allowHttp: true })).not.toThrow();
    for (const own of ['http://localhost:1', 'http://127.1.2.3', 'http://[::1]:1', 'https://accounts.example.com'])
      expect(() => new Client({ baseUrl: own })).not.toThrow();
  });

  // guard client-client-9: the client sends its cookies to no other host
  // packages/client/src/client.ts
  // - redirect: 'error'
  // + redirect: 'follow'
  it('sends no cookie to the target of a redirect', async () => {
    const elsewhere = await startVendorServer(200, () => ok);
    replies = [{ status: 307, json: {}, headers: { Location: `${elsewhere.url}/user/groups` } }];
    expect(await client().call('/user/groups')).toMatchObject({ ok: false, reason: 'network' });
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it('follows the redirect of an upload to the host of the images', async () => {
    const qiniu = await startVendorServer(200, () => ({ status: 200, json: { hash: 'h', key: 'h.png' } }));
    replies = [
      { status: 200, json: { code: 200, result: { target: 'qiniu', domain: 'img.example', token: 't' } } },
      { status: 307, json: {}, headers: { Location: `${qiniu.url}/` } },
      ok,
    ];
    const answer = await client().setPortrait(new Blob([PNG]));
    expect(answer).toMatchObject({ ok: true, result: { url: 'http://img.example/h.png' } });
    expect(qiniu.requests).toMatchObject([{ method: 'POST', headers: { 'content-type': /^multipart/ as never } }]);
    await qiniu.close();
  });
});
