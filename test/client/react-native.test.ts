import type { Client, SyncStore } from '../../packages/client/src/index.ts';
import { credentialsOf } from '../support/client';
import { FaultProxy } from '../support/fault-proxy';
import { befriend } from '../support/groups';
import { PNG } from '../support/images';
import { PATIENT_MS } from '../support/patience';
import { insertPerson, type Person } from '../support/people';
import { Device } from '../support/react-native';
import { rememberSecret } from '../support/secrets';
import { stage } from '../support/stage';
import { fullState, insertGroup, NAMES, pause } from '../support/sync';
import { stateOf } from '../support/synced';
import { until } from '../support/until';

const TIMEOUT_MS = 1_500;

/** Runs with only what test/support/react-native.ts found React Native to have. It was not tried on a phone. */
describe('the client in an imitation of React Native', () => {
  const { app, ann } = stage({ people: 1, peopleOnce: true });
  let bob: Person;
  let device: Device;
  beforeAll(async () => {
    bob = await insertPerson(app, 'Bob');
    await befriend(app, ann, [bob]);
    await insertGroup(app, 'hikers', [ann, bob]);
  });

  beforeEach(() => {
    device = new Device();
  });

  interface App {
    client: Client;
    store: SyncStore;
  }

  /** Starts the app, or starts it again on the same device. */
  function started({ url }: { url: string } = app, options: { timeoutMs?: number; fetch?: typeof fetch } = {}): App {
    const { Client, SyncStore } = device.start();
    const client = new Client({ baseUrl: url, repeats: 0, timeoutMs: PATIENT_MS, ...options });
    return { client, store: new SyncStore(client, { storage: device.asyncStorage, names: true }) };
  }

  async function logIn({ client }: App): Promise<void> {
    const login = await client.call('/user/login', credentialsOf(ann));
    if (!login.ok) throw new Error(`login: ${login.reason}: ${login.message}`);
    rememberSecret(login.result.token);
  }

  it('is signed in by tokens that it stores, without cookies, also after a restart', async () => {
    const start = () => {
      const { Client } = device.start();
      return new Client({ baseUrl: app.url, repeats: 0, cookies: 'bearer', storage: device.asyncStorage });
    };
    const client = start();
    const login = await client.call('/user/login', credentialsOf(ann));
    expect(login).toMatchObject({ ok: true });
    if (login.ok) rememberSecret(login.result.token);
    const { host } = new URL(app.url);
    expect(device.storedKeys.sort()).toEqual([`token:${host}:device`, `token:${host}:session`]);
    for (const key of device.storedKeys) rememberSecret(String(await device.asyncStorage.getItem(key)));
    expect(await start().call('/user/{id}', { id: bob.id })).toMatchObject({ result: { nickname: 'Bob' } });
    await client.logout();
    expect(await start().call('/user/groups')).toMatchObject({ ok: false, reason: 'not_signed_in' });
  });

  it('is signed in by the cookies that the system keeps, also after a restart', async () => {
    const first = started();
    expect(await first.client.call('/user/groups')).toMatchObject({ ok: false, reason: 'not_signed_in' });
    await logIn(first);
    expect(await started().client.call('/user/{id}', { id: bob.id })).toMatchObject({ result: { nickname: 'Bob' } });
    expect(device.storedKeys).toEqual([]);
  });

  // guard react-native-1: the client's store needs nothing that engines of React Native lack
  // packages/client/src/sync/rows.ts
  // - NAMES.has(name)
  // + Object.hasOwn(LISTS, name)
  it('synchronises, and continues after a restart', async () => {
    const first = started();
    await logIn(first);
    expect(await first.store.sync()).toMatchObject({ ok: true, result: { everything: true } });
    expect(await stateOf(first.store)).toEqual(await fullState(ann, NAMES));
    const version = await first.store.version();

    await insertGroup(app, 'runners', [ann]);
    const { store } = started();
    expect(await store.friends()).toMatchObject([{ friendId: bob.id, user: { nickname: 'Bob' } }]);
    expect(await store.sync()).toMatchObject({ ok: true });
    expect(await stateOf(store)).toEqual(await fullState(ann, NAMES));
    expect(device.asked).toEqual(['/user/login', '/user/sync/0', `/user/sync/${version}`]);

    await store.clear();
    expect(await started().store.groups()).toEqual([]);
  });

  it('uploads a picture by its address', async () => {
    const opened = started();
    await logIn(opened);
    device.files.set('file:///portrait.png', new Uint8Array(PNG));
    const picture = { uri: 'file:///portrait.png', name: 'portrait.png', type: 'image/png' };
    expect(await opened.client.setPortrait(picture)).toMatchObject({ ok: true });
  });

  describe('on a bad connection', () => {
    let proxy: FaultProxy;
    const byProxy = () => ({ url: proxy.url.replace(/\/$/, '') });

    beforeEach(async () => {
      proxy = await FaultProxy.start(app.url);
    });
    afterEach(() => proxy.close());

    // guard react-native-2: the client waits longer for large answers that arrive as a whole
    // packages/client/src/exchange.ts
    // - isLarge && givesWholeAnswers() ? WHOLE_TIMES : 1
    // + 1
    it('waits longer for an answer of sync, which arrives only as a whole', async () => {
      await logIn(started(byProxy()));
      const opened = started(byProxy(), { timeoutMs: TIMEOUT_MS });
      proxy.stallAt('/user/sync/0');
      const synced = opened.store.sync();
      await until(() => proxy.stalled);
      await pause(2 * TIMEOUT_MS);
      proxy.resume();
      expect(await synced).toMatchObject({ ok: true });

      proxy.stallAt('/user/groups');
      expect(await opened.client.call('/user/groups')).toMatchObject({ ok: false, reason: 'timeout' });
    });

    it('applies nothing of an answer that does not arrive', async () => {
      const opened = started(byProxy());
      await logIn(opened);
      proxy.stallAt('/user/sync/0');
      const synced = opened.store.sync();
      await until(() => proxy.stalled);
      proxy.cut();
      expect(await synced).toMatchObject({ ok: false, reason: 'network' });
      proxy.resume();
      expect(await opened.store.version()).toBe(0);
      expect(await opened.store.sync()).toMatchObject({ ok: true });
    });
  });

  // guard react-native-3: the client reads no stream that it cannot decode
  // packages/client/src/exchange.ts
  // - TextDecoder && response.body?.getReader()
  // + response.body?.getReader()
  it('also reads an answer as a whole if fetch has streams but there is no TextDecoder', async () => {
    const streaming: typeof fetch = async () => new Response('{"code":200,"result":[]}');
    const { client } = started(app, { fetch: streaming });
    expect(await client.call('/user/groups')).toMatchObject({ ok: true, result: [] });
  });
});
