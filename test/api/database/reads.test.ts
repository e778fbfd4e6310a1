import { Client } from 'pg';
import { connectionOptions } from '../../../src/database/pool';
import { SharedReads } from '../../../src/database/shared-reads';
import { statement } from '../../../src/database/statement';
import type { TestApp } from '../../support/app';
import { expectBody, expectRefusal, post, inParallel } from '../../support/calls';
import { instancesBeside } from '../../support/instances';
import { otherServers } from '../../support/database';
import { insertAndLogIn, insertAndSignIn, profileOf } from '../../support/people';
import { testPool } from '../../support/pool';
import { stage } from '../../support/stage';
import { until } from '../../support/until';
import { untilWaiting } from '../../support/waiting';

const { app } = stage();

const instance = instancesBeside(() => app, { DATABASE_POOL_MAX: '1' });

/** Ends all connections to the database except its own. */
async function kill({ ownerUrl }: TestApp): Promise<void> {
  const client = new Client(ownerUrl);
  await client.connect();
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await client.end();
}

/** Returns the statements prepared on the only connection of the service's pool. */
async function preparedOnPool({ serviceDb }: TestApp): Promise<string[]> {
  const ofRounds = ['take-webhooks', 'gather-events'];
  return serviceDb('pg_prepared_statements').whereNotIn('name', ofRounds).orderBy('name').pluck('name');
}

describe('frequent statements on the pool', () => {
  it('are prepared once, and also in transactions', async () => {
    const pooled = await instance();
    for (const nickname of ['Cat', 'Dan']) await insertAndLogIn(pooled, nickname);
    const login =
      otherServers().length > 0
        ? ['add-session', 'adds-to-user', 'hold-in-place', 'lock-owner-of-session']
        : ['start-session'];
    expect(await preparedOnPool(pooled)).toEqual(login);

    const { agent, password } = await insertAndLogIn(pooled, 'Eve');
    await post(agent, '/user/change_password', { oldPassword: password, newPassword: `${password}x` });
    expect(await preparedOnPool(pooled)).toContain('add-security-event');
  });
});

describe('reads on shared connections', () => {
  it('return each caller its own answer, however many run at once', async () => {
    const { watch, close } = testPool(app.databaseUrl, 1);
    const reads = new SharedReads({ ...connectionOptions(app.databaseUrl, watch.patience), watch }, 2, {
      prepare: true,
    });
    const echo = statement<{ text: string }, 'text'>('echo', 'SELECT :text::text AS text');
    const answers = await inParallel(500, (index) => echo(reads, { text: `text ${index}` }));
    expect(answers.map(([row]) => row?.text)).toEqual(Array.from({ length: 500 }, (_, index) => `text ${index}`));
    await reads.close();
    await close();
  });

  it('fail one by one: a wrong value fails only its own caller', async () => {
    const { watch, close } = testPool(app.databaseUrl, 1);
    const reads = new SharedReads({ ...connectionOptions(app.databaseUrl, watch.patience), watch }, 1, {
      prepare: true,
    });
    const number = statement<{ n: number }, 'n'>('number', 'SELECT :n::integer AS n');
    const answers = await Promise.allSettled(['1', 'x', '3'].map((n) => number(reads, { n })));
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await reads.close();
    await close();
  });

  it('open new connections after these have broken, with at most one 503 for pending requests', async () => {
    const { agent, id } = await insertAndSignIn(app);
    expect((await post(agent, `/user/${id}`)).status).toBe(200);
    await kill(app);
    await until(async () => (await post(agent, `/user/${id}`)).status === 200);
    for (let count = 0; count < 4; count += 1) expect((await post(agent, `/user/${id}`)).status).toBe(200);
  });

  it('are prepared again when a migration has changed the type of a column', async () => {
    const { agent, id } = await insertAndSignIn(app);
    await app.db('friendships').insert({ user_id: id, friend_id: 'x', status: 20 });
    for (let count = 0; count < 4; count += 1) expect((await post(agent, '/user/sync/0')).status).toBe(200);
    // Its condition has the column.
    await app.db.raw('DROP TRIGGER IF EXISTS friendships_tell ON friendships');
    await app.db.raw('ALTER TABLE friendships ALTER display_name TYPE varchar(64)');
    const answers = await inParallel(8, () => post(agent, '/user/sync/0'));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    await app.db.raw('ALTER TABLE friendships ALTER display_name TYPE text');
  });

  it('for a session do not wait for a sync that waits for a lock', async () => {
    const { agent, id } = await insertAndSignIn(app);
    expect((await post(agent, '/user/sync/0')).status).toBe(200);
    const trx = await app.db.transaction();
    await trx.raw('LOCK TABLE group_members');
    let answered = 0;
    const syncs = inParallel(4, () => post(agent, '/user/sync/0').finally(() => (answered += 1)));
    await untilWaiting(app.db, 1);
    const reads = await inParallel(8, () => post(agent, `/user/${id}`));
    expect(answered).toBe(0);
    await trx.rollback();
    expect((await syncs).map(({ status }) => status)).toEqual(Array(4).fill(200));
    expect(reads.map(({ status }) => status)).toEqual(Array(8).fill(200));
  });

  it('work without prepared statements when DATABASE_PREPARE is off, which an older PgBouncer needs', async () => {
    const plain = await instance({ DATABASE_PREPARE: 'off' });
    const { agent, id } = await insertAndSignIn(plain, 'Bob');
    expectBody(await post(agent, `/user/${id}`), { code: 200, result: profileOf({ id, nickname: 'Bob' }) });
    expect((await post(agent, '/user/sync/0')).status).toBe(200);
    expectRefusal(await post(agent, '/user/nobody'), 404);
    expect(await preparedOnPool(plain)).toEqual([]);
  });
});
