import { Client } from 'pg';
import { isCut, isOutage } from '../../src/database/outage';
import { emptyDatabase, type TestDatabase } from '../support/database';
import { FaultProxy } from '../support/fault-proxy';
import { quietWatch, testPool } from '../support/pool';

/** The errors of pg for each kind of outage, in some cases only as text. */
let database: TestDatabase;
let proxy: FaultProxy;

beforeAll(async () => {
  database = await emptyDatabase();
});
beforeEach(async () => {
  proxy = await FaultProxy.start(database.url);
});
afterEach(() => proxy.close());
afterAll(() => database.drop());

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function connectedClient(): Promise<Client> {
  const client = new Client(proxy.url);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

describe('isCut', () => {
  it('is true of a connection that breaks, and not of one to another server, which the database tells of', async () => {
    const client = await connectedClient();
    const relayed = await errorOf(client.query(`DO $$ BEGIN RAISE 'no worker' USING ERRCODE = '08006'; END $$`));
    expect([isOutage(relayed), isCut(relayed)]).toEqual([true, false]);
    expect(isCut(await errorOf(client.query('SELECT pg_terminate_backend(pg_backend_pid())')))).toBe(true);
  });
});

describe('isOutage recognises', () => {
  it('a database that does not listen', async () => {
    const error = await errorOf(new Client('postgresql://a:b@127.0.0.1:1/x').connect());
    expect(isOutage(error)).toBe(true);
  });

  it('a connection that breaks during a statement, and its later use', async () => {
    const client = await connectedClient();
    const during = errorOf(client.query('SELECT pg_sleep(30)'));
    proxy.cut();
    expect(isOutage(await during)).toBe(true);
    expect(isOutage(await errorOf(client.query('SELECT 1')))).toBe(true);
  });

  it('a backend that an operator ends', async () => {
    const client = await connectedClient();
    expect(isOutage(await errorOf(client.query('SELECT pg_terminate_backend(pg_backend_pid())')))).toBe(true);
  });

  it('a new connection that is not answered', async () => {
    proxy.stall();
    const error = await errorOf(new Client({ connectionString: proxy.url, connectionTimeoutMillis: 100 }).connect());
    expect(isOutage(error)).toBe(true);
  });

  it('a pool whose connections are all busy, with and without Knex', async () => {
    const { db, pool, close } = testPool(database.url, 1, quietWatch(1));
    const busy = await pool.connect();
    const errors = await Promise.all([errorOf(pool.query('SELECT 1')), errorOf(db.raw('SELECT 1').then())]);
    expect(errors.map(isOutage)).toEqual([true, true]);
    busy.release();
    await close();
  });

  it.each(['failure on connection marked as essential: 127.0.0.1:5432', 'postmaster was shut down, exiting'])(
    'a Citus that has lost a server: %s',
    (message) => {
      expect(isOutage(Object.assign(new Error(message), { code: 'XX000' }))).toBe(true);
      expect(isOutage(Object.assign(new Error('cache lookup failed'), { code: 'XX000' }))).toBe(false);
    },
  );

  it('no mistake in a statement as an outage', async () => {
    const { db, close } = testPool(database.url, 1);
    expect(isOutage(await errorOf(db.raw('SELECT no_such_column').then()))).toBe(false);
    await close();
  });
});
