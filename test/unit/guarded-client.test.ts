import type { PoolClient } from 'pg';
import { ConnectionWatch } from '../../src/database/connection-watch';
import { GuardedClient } from '../../src/database/guarded-client';
import { isOutage } from '../../src/database/outage';
import { emptyDatabase, type TestDatabase } from '../support/database';
import { testPool, type TestPool } from '../support/pool';
import { until } from '../support/until';

/** The behaviour of pg that GuardedClient relies on, although pg's documentation does not promise it. */
let database: TestDatabase;
let pool: TestPool;

beforeAll(async () => {
  database = await emptyDatabase();
});
beforeEach(() => {
  pool = testPool(database.url, 1);
});
afterEach(() => pool.close());
afterAll(() => database.drop());

async function guarded(): Promise<GuardedClient & PoolClient> {
  const client = await pool.pool.connect();
  if (!(client instanceof GuardedClient)) throw new Error('the pool makes clients of another class');
  return client;
}

describe('a connection of pg', () => {
  it('tells when it is ready, and when a transaction is open', async () => {
    const client = await guarded();
    expect(client.isClean).toBe(true);
    const answer = client.query('SELECT pg_sleep(0.05)');
    expect(client.isClean).toBe(false);
    await answer;
    await until(() => client.isClean);
    await client.query('BEGIN');
    await until(() => client.readyForQuery);
    expect(client.isClean).toBe(false);
    client.release();
    expect(pool.pool.totalCount).toBe(0);
  });

  it.each([
    ['42703', 'SELECT no_such_column', true],
    ['26000', 'EXECUTE never_prepared', false],
  ])(
    'passes on the code of a refused statement: after %s it stays clean or not',
    async (_code, statement, staysClean) => {
      const client = await guarded();
      await expect(client.query(statement)).rejects.toThrow();
      await until(() => client.readyForQuery);
      expect(client.isClean).toBe(staysClean);
      client.release();
    },
  );

  it('counts the bytes that it has read, and fails pending statements when it is cut', async () => {
    const client = await guarded();
    const answer = client.query('SELECT pg_sleep(30)').then(
      () => undefined,
      (error: unknown) => error,
    );
    const before = client.silence(performance.now(), true);
    expect(before).toBe(0);
    client.cut(Object.assign(new Error('cut by the test'), { code: 'ETIMEDOUT' }));
    expect(isOutage(await answer)).toBe(true);
    client.release();
    expect(pool.pool.totalCount).toBe(0);
  });

  // guard guarded-client-1: PostgreSQL ends a slow statement before the watch considers the database down
  // src/database/pool.ts
  // - statement_timeout: patience * 4_000,
  // + statement_timeout: patience * 40_000,
  it('ends a statement of seven seconds before the watch considers the database down', async () => {
    const told: string[] = [];
    const watch = new ConnectionWatch({ away: () => told.push('away'), back: () => told.push('back') });
    const watched = testPool(database.url, 2, watch);
    const beside = await watched.pool.connect();
    await expect(watched.pool.query('SELECT pg_sleep(7)')).rejects.toMatchObject({ code: '57014' });
    expect((await beside.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    beside.release();
    expect(told).toEqual([]);
    await watched.close();
  });

  it('makes PostgreSQL close the connection of a machine that has vanished', async () => {
    const { rows } = await pool.pool.query<{ tcp_user_timeout: string }>('SHOW tcp_user_timeout');
    expect(rows).toEqual([{ tcp_user_timeout: '20000' }]);
  });
});
