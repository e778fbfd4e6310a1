import { SyncStore } from '../../packages/client/src/index.ts';
import { startApp, type TestApp } from '../support/app';
import { credentialsOf, signedInClient } from '../support/client';
import { connectTo, TestCluster } from '../support/clusters';
import { FaultProxy } from '../support/fault-proxy';
import type { FoldingClient } from '../support/folding-client';
import { insertAndSignIn, insertPerson, type Person, type SignedInPerson } from '../support/people';
import { fullState, settledClient } from '../support/sync';
import { stateOf, syncChanges } from '../support/synced';
import { until } from '../support/until';

/**
 * The changes that a client is sent after the server has died, was restored to an earlier state, or was replaced: with real servers
 * that are really killed. In each case changes were once lost for good, because a version's base outlived its server's
 * life.
 */

/** Long enough for a machine that is busy with other work. */
const RECOVERY_MS = 60_000;

let clusters: TestCluster[] = [];
let apps: TestApp[] = [];
let proxies: FaultProxy[] = [];

afterEach(async () => {
  for (const app of apps) await app.close();
  for (const proxy of proxies) await proxy.close();
  for (const cluster of clusters) await cluster.remove();
  clusters = [];
  apps = [];
  proxies = [];
});

async function newProxy(target: string): Promise<FaultProxy> {
  const proxy = await FaultProxy.start(target);
  proxies.push(proxy);
  return proxy;
}

async function newCluster(settings?: Record<string, string>): Promise<TestCluster> {
  const cluster = await TestCluster.startCopy(settings);
  clusters.push(cluster);
  return cluster;
}

async function newApp(databaseUrl: string, dataDir?: string): Promise<TestApp> {
  const app = await startApp({}, { databaseUrl, ...(dataDir !== undefined && { dataDir }) });
  apps.push(app);
  return app;
}

const befriend = ({ db }: TestApp, user: { id: string }, friend: { id: string }) =>
  db('friendships').insert({ user_id: user.id, friend_id: friend.id, status: 20 });

/** Uses up transaction ids that were never written to disk. The horizon of the next sync is beyond them. */
async function useUpIds(url: string, count: number): Promise<void> {
  const client = await connectTo(url);
  for (let n = 0; n < count; n += 1) {
    await client.query('BEGIN');
    await client.query('SELECT pg_current_xact_id()');
    await client.query('ROLLBACK');
  }
  await client.end();
}

/** Writes everything to the disk that was done so far: with synchronous_commit = off this commit waits for it. */
async function flush(url: string): Promise<void> {
  const client = await connectTo(url);
  await client.query(
    `BEGIN; SET LOCAL synchronous_commit = on; SELECT pg_logical_emit_message(true, 'flush', ''); COMMIT`,
  );
  await client.end();
}

async function ready({ api }: TestApp): Promise<void> {
  await until(async () => (await api.get('/readyz')).status === 200, RECOVERY_MS);
}

/** The judge (FoldingClient), and the store of packages/client, which logs in again when its session is lost. */
class TwoClients {
  private constructor(
    readonly judge: FoldingClient,
    readonly store: SyncStore,
  ) {}

  /** Returns clients that both hold everything. */
  static async settled(app: TestApp, ann: SignedInPerson): Promise<TwoClients> {
    const client = await signedInClient(app, ann, { credentials: () => credentialsOf(ann) });
    const both = new TwoClients(await settledClient(ann), new SyncStore(client));
    await both.sync();
    return both;
  }

  async sync(): Promise<void> {
    await this.judge.sync();
    await syncChanges(this.store);
  }
}

/** Befriends a user, and expects the client to be sent it. */
async function expectTold(app: TestApp, client: TwoClients, ann: SignedInPerson, friend: Person): Promise<void> {
  const works = (promise: Promise<unknown>) =>
    promise.then(
      () => true,
      () => false,
    );
  await until(() => works(befriend(app, ann, friend)), RECOVERY_MS);
  await until(() => works(client.sync()), RECOVERY_MS);
  expect(client.judge.state().friends.map(({ friendId }) => friendId)).toContain(friend.id);
  const full = await fullState(ann);
  expect({ judge: client.judge.state(), store: await stateOf(client.store) }).toEqual({ judge: full, store: full });
}

describe.each([['on'], ['off']])('sync after a crash, with synchronous_commit = %s,', (synchronous_commit) => {
  // guard sync-lives-1: a base of versions is not reused after a crash
  // migrations/0008_sync_lives.up.sql
  // - CREATE UNLOGGED TABLE sync_life
  // + CREATE TABLE sync_life
  it('sends changes of transactions whose ids were given again, when one process of PostgreSQL was killed', async () => {
    const cluster = await newCluster({ synchronous_commit });
    const app = await newApp(cluster.url);
    const ann = await insertAndSignIn(app, 'Ann');
    const friends = [await insertPerson(app), await insertPerson(app), await insertPerson(app)];
    for (const friend of friends) {
      const client = await TwoClients.settled(app, ann);
      await flush(cluster.url);
      await useUpIds(cluster.url, 5);
      await client.sync();
      await cluster.killBackend();
      await expectTold(app, client, ann, friend);
    }
  });

  it('sends these changes when the whole server was killed', async () => {
    const cluster = await newCluster({ synchronous_commit });
    const app = await newApp(cluster.url);
    const ann = await insertAndSignIn(app, 'Ann');
    const friends = [await insertPerson(app), await insertPerson(app)];
    for (const friend of friends) {
      const client = await TwoClients.settled(app, ann);
      await flush(cluster.url);
      await useUpIds(cluster.url, 5);
      await client.sync();
      await cluster.killServer();
      await expectTold(app, client, ann, friend);
    }
  });
});

describe('sync after an earlier state was restored', () => {
  // guard sync-lives-2: a base of versions is not reused by a cold copy
  // migrations/0008_sync_lives.up.sql
  // - life timestamptz := pg_postmaster_start_time();
  // + life timestamptz := '2000-01-01';
  it.each([
    ['a cold copy', true],
    ['a snapshot of the running files', false],
  ])('from %s sends later changes to clients that had seen newer ones', async (_name, isCold) => {
    const cluster = await newCluster();
    const app = await newApp(cluster.url);
    const ann = await insertAndSignIn(app, 'Ann');
    const [bob, cat] = [await insertPerson(app), await insertPerson(app)];
    await settledClient(ann);
    if (isCold) await cluster.stop();
    const copy = cluster.snapshot();
    if (isCold) await cluster.start();
    await ready(app);
    const client = await TwoClients.settled(app, ann);
    await useUpIds(cluster.url, 500);
    await befriend(app, bob, cat);
    await client.sync();

    await cluster.stop();
    cluster.putBack(copy);
    await cluster.start();
    await ready(app);

    await expectTold(app, client, ann, cat);
  });
});

describe('sync with another server at the same address', () => {
  it('takes versions from a standby too, and its promotion begins a new life', async () => {
    const primary = await newCluster();
    const proxy = await newProxy(primary.url);
    const app = await newApp(proxy.url);
    const ann = await insertAndSignIn(app, 'Ann');
    const bob = await insertPerson(app);
    const standby = await primary.standby();
    clusters.push(standby);
    const reader = await connectTo(standby.url);
    await befriend(app, ann, bob);
    const client = await TwoClients.settled(app, ann);
    const horizonOf = async () => Number((await reader.query<{ h: string }>('SELECT sync_horizon() AS h')).rows[0]?.h);
    await until(async () => (await horizonOf()) >= client.judge.version);
    await reader.end();
    await useUpIds(primary.url, 500);
    await client.sync();
    // Changes that the standby has not received are lost with the primary.
    await primary.stop();
    await standby.promote();
    proxy.leadTo(standby.url);
    await ready(app);
    const cat = await insertPerson(app);
    await expectTold(app, client, ann, cat);
  });

  it.each([
    ['fewer', 0],
    ['more', 3_000],
  ])('works with a dump restored into a cluster that has used %s transaction ids', async (_words, ids) => {
    const from = await newCluster();
    const to = await TestCluster.start();
    clusters.push(to);
    const proxy = await newProxy(from.url);
    const app = await newApp(proxy.url);
    const ann = await insertAndSignIn(app, 'Ann');
    const [bob, cat] = [await insertPerson(app), await insertPerson(app)];
    if (ids === 0) await useUpIds(from.url, 3_000);
    else await useUpIds(to.url, ids);
    await befriend(app, ann, bob);
    const client = await TwoClients.settled(app, ann);
    await dumpInto(from.url, to.url);
    proxy.leadTo(to.url);
    await ready(app);
    await client.sync();
    await expectTold(app, client, ann, cat);
    await proxy.close();
  });

  /** Copies the data as `pg_dump --data-only --disable-triggers` and psql do. */
  async function dumpInto(fromUrl: string, toUrl: string): Promise<void> {
    const [from, to] = [await connectTo(fromUrl), await connectTo(toUrl)];
    const { username, password } = new URL(fromUrl);
    await to.query(`ALTER ROLE ${username} PASSWORD '${password}'`);
    const tables = ['users', 'phones', 'groups', 'friendships', 'session', 'sync_epoch', 'sync_life'];
    await to.query(`SET session_replication_role = replica`);
    for (const table of tables) {
      await to.query(`DELETE FROM ${table}`);
      const { rows } = await from.query<{ row: unknown }>(`SELECT to_json(t) AS row FROM ${table} t`);
      for (const { row } of rows)
        await to.query(`INSERT INTO ${table} SELECT * FROM json_populate_record(NULL::${table}, $1)`, [row]);
    }
    await Promise.all([from.end(), to.end()]);
  }
});
