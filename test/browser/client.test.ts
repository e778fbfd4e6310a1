import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Client, SessionEvent, StoreChanges, SyncStore } from '../../packages/client/src/index.ts';
import { startApp } from '../support/app';
import { installedChromium, launchChromium } from '../support/browser';
import { credentialsOf } from '../support/client';
import { ClientSite } from '../support/client-site';
import { Gate } from '../support/gate';
import { befriend } from '../support/groups';
import { insertAndSignIn, insertPerson, type Person, type SignedInPerson } from '../support/people';
import { rememberSecret } from '../support/secrets';
import { stage } from '../support/stage';
import { fullState, insertGroup, NAMES } from '../support/sync';
import { stateOf } from '../support/synced';
import { until } from '../support/until';

const chromium = installedChromium() ?? '';
if (chromium === '') process.stderr.write('The client is NOT tested in a browser: no Chromium is installed.\n');

/** The globals of the page in which functions run that are passed to `evaluate`. */
declare const client: Client;
declare const store: SyncStore;
/** A store in memory. */
declare const own: SyncStore;
declare const told: StoreChanges[];
declare const sessions: SessionEvent[];
declare const storedKeys: () => Promise<string[]>;
declare const navigator: { locks: { query(): Promise<{ held: unknown[]; pending: unknown[] }> } };

/** A group has 500 members. */
const GROUPS = 10;
const IN_GROUP = 500;

(chromium === '' ? describe.skip : describe)('the client in Chromium', () => {
  let site: ClientSite;
  let browser: Browser;
  let context: BrowserContext;
  let ann: SignedInPerson;
  let bob: Person;
  let complaints: string[];
  /** The versions that were asked for. */
  let asked: string[];

  afterAll(async () => {
    await browser.close();
    await site.close();
  });
  const { app } = stage();
  beforeAll(async () => {
    site = await ClientSite.start(app.url);
    browser = await launchChromium(chromium);
  });

  beforeEach(async () => {
    complaints = [];
    asked = [];
    context = await browser.newContext();
    ann = await insertAndSignIn(app, 'Ann');
    bob = await insertPerson(app, 'Bob');
    await befriend(app, ann, [bob]);
    await insertGroup(app, `hikers-${ann.id}`, [ann, bob]);
  });
  afterEach(async () => {
    site.beforePiece = () => Promise.resolve();
    await context.close();
    expect(complaints).toEqual([]);
  });

  async function open(at = `${site.url}/`): Promise<Page> {
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        complaints.push(message.text());
    });
    page.on('request', (request) => {
      const [, version] = /\/user\/sync\/(\d+)$/.exec(request.url()) ?? [];
      if (version !== undefined && request.method() === 'POST') asked.push(version);
    });
    await page.goto(at);
    await ready(page);
    return page;
  }

  const ready = (page: Page) => page.waitForFunction("typeof store === 'object'");

  async function logIn(page: Page): Promise<void> {
    const login = await page.evaluate((as) => client.call('/user/login', as), credentialsOf(ann));
    if (!login.ok) throw new Error(`login: ${login.reason}: ${login.message}`);
    rememberSecret(login.result.token);
  }

  async function openSignedIn(): Promise<Page> {
    const page = await open();
    await logIn(page);
    return page;
  }

  const sync = (page: Page) => page.evaluate(() => store.sync());
  const toldIn = (page: Page) => page.evaluate(() => told);
  const sessionsIn = (page: Page) => page.evaluate(() => sessions);
  const versionIn = (page: Page) => page.evaluate(() => store.version());
  const locks = (page: Page) => page.evaluate(() => navigator.locks.query());

  async function heldIn(page: Page) {
    return page.evaluate(stateOf, await page.evaluateHandle(() => store));
  }

  const hasSpool = async (page: Page) =>
    (await page.evaluate(() => storedKeys())).some((key) => key.startsWith('sync:spool:'));

  /** Lets the next answer of sync through up to a later piece, and holds it there. */
  function holdNextSync(pieces: number): Gate {
    const gate = new Gate();
    let count = 0;
    site.beforePiece = async (path) => {
      if (!path.startsWith('/user/sync/')) return;
      count += 1;
      if (count === pieces) await gate.wait();
    };
    return gate;
  }

  it('is signed in by cookies of the browser, which no script can read', async () => {
    const page = await openSignedIn();
    expect(await page.evaluate(() => client.call('/user/{id}', { id: 'nobody' }))).toMatchObject({ code: 404 });
    expect(await page.evaluate(() => client.call('/user/groups'))).toMatchObject({ ok: true });
    expect(await page.evaluate<string>('document.cookie')).toBe('');
    const cookies = await context.cookies();
    expect(cookies.map(({ name, httpOnly }) => [name, httpOnly]).sort()).toEqual([
      ['device', true],
      ['sid', true],
    ]);
    await sync(page);
    expect(await page.evaluate(() => storedKeys())).not.toContainEqual(expect.stringMatching(/^cookie:/));

    await page.evaluate(() => client.call('/user/logout'));
    expect(await page.evaluate(() => client.call('/user/groups'))).toMatchObject({ ok: false, code: 401 });
  });

  it('writes no error to the console at a first visit, and knows at a later one that a user is signed in', async () => {
    const page = await open();
    const errors: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
    expect(await sync(page)).toMatchObject({ ok: false, reason: 'not_signed_in' });
    await logIn(page);
    await page.reload();
    await ready(page);
    expect(await page.evaluate(() => client.call('/user/sessions/check'))).toMatchObject({ ok: true, result: true });
    expect(await page.evaluate(() => client.isSignedIn)).toBe(true);
    expect(await sync(page)).toMatchObject({ ok: true });
    expect(errors).toEqual([]);
  });

  // guard browser-client-7: the client in a page of an allowed origin sends the cookies of the browser
  // packages/client/src/client.ts
  // - ...(!this.#jar && { credentials: 'include' }),
  it('works from an allowed origin, too, and is told why it is refused', async () => {
    const listing = await startApp({ CORS_ORIGINS: site.url }, { databaseUrl: app.databaseUrl, dataDir: app.dataDir });
    try {
      const page = await open(`${site.url}/?service=${encodeURIComponent(listing.url)}`);
      const wrong = { ...credentialsOf(ann), password: 'another-one' };
      const refused = await page.evaluate((as) => client.call('/user/login', as), wrong);
      expect(refused).toMatchObject({ ok: false, code: 1000, reason: 'wrong_credentials' });
      expect(refused.requestId).toMatch(/./);
      await logIn(page);
      expect(await sync(page)).toMatchObject({ ok: true });
      expect(await heldIn(page)).toEqual(await fullState(ann, NAMES));
    } finally {
      await listing.close();
    }
  });

  it('keeps its state over a reload, and asks only for what is new since then', async () => {
    const page = await openSignedIn();
    await sync(page);
    const before = await heldIn(page);
    expect(before.friends).toMatchObject([{ friendId: bob.id, user: { nickname: 'Bob' } }]);
    expect(before.groups).toMatchObject([{ members: [{ user: {} }, { user: {} }] }]);
    const version = await versionIn(page);

    await page.reload();
    await ready(page);
    expect(await heldIn(page)).toEqual(before);
    await ann.agent.post('/user/set_nickname').send({ nickname: 'Anna' });
    await insertGroup(app, `more-${ann.id}`, [ann]);
    const synced = await sync(page);
    expect(synced).toMatchObject({ ok: true, result: { user: { nickname: 'Anna' } } });
    expect(asked).toEqual(['0', String(version)]);
    expect(await heldIn(page)).toEqual(await fullState(ann, NAMES));
  });

  it('reports in one tab what another one has synchronised, and shows it', async () => {
    const page = await openSignedIn();
    const other = await open();
    await sync(other);
    await other.evaluate(() => void told.splice(0));
    await insertGroup(app, `more-${ann.id}`, [ann]);
    const synced = await sync(page);
    expect(synced).toMatchObject({ ok: true, result: { everything: false, groups: { put: [{}] } } });
    await until(async () => (await toldIn(other)).length > 0);
    expect(await toldIn(other)).toEqual([synced.ok && synced.result]);
    const state = await fullState(ann, NAMES);
    expect(await heldIn(other)).toEqual(state);
    expect(await sync(other)).toMatchObject({ ok: true, result: { everything: false, groups: { put: [] } } });
    expect(await heldIn(other)).toEqual(state);
  });

  it('shows a new nickname of a friend in two tabs within a second, while only one of them waits at the service', async () => {
    const tabs = [await openSignedIn(), await open()];
    for (const tab of tabs) await tab.evaluate(() => void store.follow());
    const nicknames = () =>
      Promise.all(tabs.map(async (tab) => (await heldIn(tab)).friends.map(({ user }) => user?.nickname)));
    // The second is promised on a machine that is not busy. A busy one takes longer to ask the tabs, too.
    let [tookMs, soonMs] = [Infinity, 1_000];
    for (let count = 1; tookMs >= soonMs && count <= 20; count += 1) {
      await until(() => app.liveSyncs() === 1);
      const asked = performance.now();
      await nicknames();
      soonMs = Math.max(1_000, 20 * (performance.now() - asked));
      const begun = performance.now();
      await app
        .db('users')
        .where({ id: bob.id })
        .update({ nickname: `Bob ${count}` });
      await until(async () => (await nicknames()).every(([nickname]) => nickname === `Bob ${count}`));
      tookMs = performance.now() - begun;
    }
    expect(tookMs).toBeLessThan(soonMs);
    await until(() => app.liveSyncs() === 1);
  });

  // guard browser-client-8: a store in memory does not take turns with those of other tabs
  // packages/client/src/sync/lock.ts
  // - sharedAs === '' ? undefined : webLocks()
  // + webLocks()
  // guard browser-client-9: stores in two databases of a page do not take turns
  // packages/client/src/sync/lock.ts
  // - `user-account-service:${sharedAs}:${name}`
  // + `user-account-service:${name}`
  it('keeps each store up to date that shares no storage, of two tabs and of one page', async () => {
    const tabs = [await openSignedIn(), await open()];
    for (const tab of tabs)
      await tab.evaluate(`import('./client/index.js').then(({ indexedDbStorage, SyncStore }) => {
        globalThis.another = new SyncStore(client, { storage: indexedDbStorage('another'), names: true });
        for (const each of [store, another, own]) each.follow();
      })`);
    // Each tab for its memory, and one of them for each database.
    await until(() => app.liveSyncs() === 4);
    await ann.agent.post('/user/set_nickname').send({ nickname: 'Annabel' });
    const nicknames = (tab: Page) =>
      tab.evaluate<string[]>(
        `Promise.all([store, another, own].map((each) => each.user().then((user) => user?.nickname)))`,
      );
    for (const tab of tabs) await until(async () => (await nicknames(tab)).every((nickname) => nickname === 'Annabel'));
  });

  it('rests in two tabs that follow after a logout in one, and goes on after a login in one', async () => {
    const tabs = [await openSignedIn(), await open()] as const;
    for (const tab of tabs) await tab.evaluate(() => void store.follow());
    await until(() => app.liveSyncs() === 1);
    expect(await tabs[1].evaluate(() => client.logout())).toMatchObject({ ok: true });
    await until(() => app.liveSyncs() === 0);
    for (const tab of tabs) await until(() => tab.evaluate(() => client.isSignedIn === false));
    await logIn(tabs[1]);
    await until(() => app.liveSyncs() === 1, 30_000);
    for (const tab of tabs) await until(async () => (await heldIn(tab)).friends.length === 1);
    const heard = ['began', 'ended', 'began'];
    expect((await sessionsIn(tabs[0])).map(({ event }) => event)).toEqual(heard);
  });

  it('is told by server-sent events that there is something to synchronise', async () => {
    const page = await openSignedIn();
    await page.evaluate(`{
      globalThis.heard = [];
      new EventSource('/user/changes').onmessage = ({ data }) => heard.push(JSON.parse(data).version);
    }`);
    const heard = () => page.evaluate<number[]>('heard');
    const newest = async () => Math.max(0, ...(await heard()));
    await until(async () => (await newest()) > 0);
    const before = await newest();
    await app.db('users').where({ id: bob.id }).update({ nickname: 'Bobby' });
    await until(async () => (await newest()) > before);
    const version = await newest();
    await sync(page);
    expect(await versionIn(page)).toBeGreaterThanOrEqual(version);
  });

  // guard browser-client-2: a tab that missed changes reads everything again
  // packages/client/src/sync/changes.ts
  // - known !== before || head?.revision !== after
  // + false
  it('reports in one tab that everything may be different, when it has missed changes', async () => {
    const silent = await openSignedIn();
    await silent.evaluate(() => store.close());
    const other = await open();
    await sync(other);
    await other.evaluate(() => void told.splice(0));
    for (const name of ['more', 'yet-more']) {
      await insertGroup(app, `${name}-${ann.id}`, [ann]);
      const tab = name === 'more' ? silent : await open();
      expect(await sync(tab)).toMatchObject({ ok: true, result: { groups: { put: [{}] } } });
    }
    await until(async () => (await toldIn(other)).length > 0);
    expect(await toldIn(other)).toMatchObject([{ everything: true }]);
  });

  // guard browser-client-1: a logout of the client clears the stores of other tabs
  // packages/client/src/client.ts
  // - else this.#clearStores().catch(() => undefined);
  it('reports in all tabs when a session begins and ends, and clears their stores', async () => {
    const [page, other] = [await open(), await open()];
    await logIn(page);
    await until(async () => (await sessionsIn(other)).length > 0);
    await sync(other);
    await other.evaluate(() => own.sync());
    const loggedOut = await page.evaluate(() => client.logout());
    expect(loggedOut).toMatchObject({ ok: true });
    await until(async () => (await sessionsIn(other)).length > 1);
    const heard = (elsewhere: boolean) => ['began', 'ended'].map((event) => ({ event, elsewhere }));
    expect([await sessionsIn(page), await sessionsIn(other)]).toEqual([heard(false), heard(true)]);
    for (const tab of [page, other]) expect((await heldIn(tab)).user).toBeUndefined();
    await until(() => other.evaluate(async () => (await own.user()) === undefined));
    expect(await other.evaluate(() => client.isSignedIn)).toBe(false);
  });

  // guard browser-client-3: a page does not synchronise by itself after a logout
  // packages/client/src/sync/store.ts
  // - this.#returns.forget();
  it('synchronises when it is online again and when its tab is shown, as long as a user is signed in', async () => {
    const page = await openSignedIn();
    const look = () => page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    const lookLater = async () => {
      await page.evaluate('{ const { now } = Date; Date.now = () => now() + 60_000 }');
      await look();
    };
    await sync(page);
    await look(); // too early after the last sync
    await context.setOffline(true);
    expect(await sync(page)).toMatchObject({ ok: false, reason: 'network' });
    await insertGroup(app, `more-${ann.id}`, [ann]);
    await context.setOffline(false);
    await until(async () => (await toldIn(page)).length === 2);
    expect(asked).toHaveLength(3);

    // The sync ends a moment after it has told.
    await until(async () => (await locks(page)).held.length === 0);
    await lookLater();
    await until(() => asked.length === 4);
    await page.evaluate(() => client.logout());
    await lookLater();
    await logIn(page);
    await sync(page);
    await page.evaluate(() => store.close());
    await lookLater();
    expect(await sync(page)).toMatchObject({ ok: true });
    expect(asked).toHaveLength(6);
  });

  // guard browser-client-4: a store in a page waits for a store in a worker
  // packages/client/src/sync/lock.ts
  // - isNode() ? undefined : navigator?.locks
  // + isNode() || !('document' in globalThis) ? undefined : navigator?.locks
  // guard browser-client-5: stores in two tabs take turns
  // packages/client/src/sync/lock.ts
  // - (locks ? locks.request
  // + (locks && false ? locks.request
  it.each(['another tab', 'a worker'])('waits while %s synchronises', async (who) => {
    const page = await openSignedIn();
    const other = await open();
    const gate = holdNextSync(1);
    const first = sync(page);
    await gate.reached;
    const second =
      who === 'a worker'
        ? other.evaluate<{ ok: boolean }>(`new Promise((resolve) => {
            const worker = new Worker('worker.mjs', { type: 'module' });
            worker.onmessage = ({ data }) => resolve(data);
            worker.postMessage('');
          })`)
        : sync(other);
    let isDone = false;
    void second.finally(() => (isDone = true));
    await until(async () => isDone || (await locks(page)).pending.length === 1);
    gate.open();
    expect([await first, await second]).toMatchObject([{ ok: true }, { ok: true }]);
    expect(await versionIn(other)).toBeGreaterThan(0);
  });

  // guard browser-client-6: the lock of the store does not block the app's own locks
  // packages/client/src/sync/lock.ts
  // - `user-account-service:${sharedAs}:${name}`
  // + name
  it('is not blocked by locks of the app', async () => {
    const page = await openSignedIn();
    const synced = page.evaluate<{ ok: boolean }>(`navigator.locks.request('sync', () => store.sync())`);
    const late = until(async () => (await locks(page)).pending.length > 0).then(() => 'waits for itself');
    expect(await Promise.race([synced, late.catch(() => 'is late')])).toMatchObject({ ok: true });
  });

  it('clears its state in all tabs', async () => {
    const page = await openSignedIn();
    const other = await open();
    await sync(page);
    await page.evaluate(() => store.clear());
    const nothing = { user: undefined, blacklist: [], friends: [], groups: [] };
    for (const tab of [page, other]) expect(await heldIn(tab)).toEqual(nothing);
    const keys = await page.evaluate(() => storedKeys());
    expect(keys.sort()).toEqual(['sync:blacklist', 'sync:friends', 'sync:groups', 'sync:head']);
    await sync(other);
    expect(asked).toEqual(['0', '0']);
    expect(await heldIn(page)).toEqual(await fullState(ann, NAMES));
  });

  describe('and a large answer', () => {
    let crowded: SignedInPerson;

    beforeAll(async () => {
      crowded = await insertAndSignIn(app, 'Cat');
      const prefix = 'crowd-';
      // Names that hardly compress, so that the answer comes in many pieces.
      await app.db.raw(
        `INSERT INTO users (id, nickname, portrait_uri)
           SELECT ? || n, md5(n::text), 'https://img.example/' || md5('p' || n) FROM generate_series(2, ?::int) n`,
        [prefix, IN_GROUP],
      );
      const others = Array.from({ length: IN_GROUP - 1 }, (_, index) => ({ id: `${prefix}${index + 2}` }));
      for (let count = 0; count < GROUPS; count += 1) await insertGroup(app, `${prefix}${count}`, [crowded, ...others]);
    });
    beforeEach(() => {
      ann = crowded;
    });

    it('writes it to IndexedDB while it arrives, and shows all of it at once', async () => {
      const page = await openSignedIn();
      const gate = holdNextSync(3);
      const synced = sync(page);
      await gate.reached;
      await until(() => hasSpool(page));
      expect(await versionIn(page)).toBe(0);
      expect((await heldIn(page)).groups).toEqual([]);
      gate.open();
      expect(await synced).toMatchObject({ ok: true });
      const held = await heldIn(page);
      expect(held).toEqual(await fullState(ann, NAMES));
      expect(held.groups.flatMap(({ members }) => members)).toHaveLength(GROUPS * IN_GROUP);
      expect(await hasSpool(page)).toBe(false);
    });

    it('applies nothing of it when it is cut in the middle', async () => {
      const page = await openSignedIn();
      const gate = holdNextSync(3);
      const pass = site.beforePiece;
      site.beforePiece = (path) =>
        pass(path).then(() => {
          if (path.startsWith('/user/sync/') && isCut) throw new Error('cut');
        });
      let isCut = false;
      const synced = sync(page);
      await gate.reached;
      await until(() => hasSpool(page));
      isCut = true;
      gate.open();
      expect(await synced).toMatchObject({ ok: false, reason: 'network' });
      expect(await versionIn(page)).toBe(0);
      expect((await heldIn(page)).groups).toEqual([]);
      expect(await hasSpool(page)).toBe(false);
      isCut = false;
      expect(await sync(page)).toMatchObject({ ok: true });
      expect(await heldIn(page)).toEqual(await fullState(ann, NAMES));
    });

    it('starts again after a reload in the middle', async () => {
      const page = await openSignedIn();
      const gate = holdNextSync(3);
      const left = sync(page).catch(() => 'left');
      await gate.reached;
      await until(() => hasSpool(page));
      await page.reload();
      gate.open();
      expect(await left).toBe('left');
      await ready(page);
      expect((await heldIn(page)).groups).toEqual([]);
      expect(await sync(page)).toMatchObject({ ok: true });
      expect(await heldIn(page)).toEqual(await fullState(ann, NAMES));
      expect(await hasSpool(page)).toBe(false);
    });
  });
});
