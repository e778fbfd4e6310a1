import type { Client } from 'pg';
import { migrate, newestMigration, undoMigration } from '../../../src/database/migrations';
import { eventsAfter, type Cursor } from '../../../src/features/events/events-repository';
import { WebhooksRepository } from '../../../src/features/webhooks/webhooks-repository';
import { startApp, type TestApp } from '../../support/app';
import { cloneDatabase, emptyDatabase, type TestDatabase } from '../../support/database';
import { post } from '../../support/calls';
import { untilEventsSeen } from '../../support/events';
import { moveAll, startMove } from '../../support/move';
import {
  expectOk,
  insertAndSignIn,
  insertPerson,
  newPassword,
  verificationToken,
  type SignedInPerson,
} from '../../support/people';
import { describeOnSeveralServers } from '../../support/on-one-server';
import { stage } from '../../support/stage';
import { connectWriter, runUntilBlocked, settledClient } from '../../support/sync';
import { until } from '../../support/until';
import { whileHeld } from '../../support/waiting';

describeOnSeveralServers('users and groups on several servers', () => {
  const { app, ann, bob } = stage({ people: 2 });
  let writer: Client;
  beforeEach(async () => {
    writer = await connectWriter(app);
  });
  afterEach(() => writer.end());

  const numberIn = async (sql: string, ...values: string[]) =>
    Number((await app.db.raw<{ rows: { n: number }[] }>(`SELECT ${sql} AS n`, values)).rows[0]?.n);
  const SHARD = `get_shard_id_for_distribution_column('users', ?::text)`;

  it('do not move while one of them is locked: the lock would stay behind', async () => {
    const shard = await numberIn(SHARD, ann.id);
    const { rows } = await app.db.raw<{ rows: { host: string; port: number; isThere: boolean }[] }>(
      `SELECT nodename AS host, nodeport AS port, EXISTS (
                SELECT FROM citus_shards s WHERE shardid = ? AND s.nodename = n.nodename AND s.nodeport = n.nodeport) AS "isThere"
         FROM pg_dist_node n WHERE groupid <> 0`,
      [shard],
    );
    const [from, to] = [rows.find(({ isThere }) => isThere), rows.find(({ isThere }) => !isThere)];
    const mover = await connectWriter(app);
    await mover.query('SET statement_timeout = 0');
    await writer.query('BEGIN');
    await writer.query('SELECT is_any_closed($1)', [ann.id]);
    const move = await runUntilBlocked(
      app,
      mover,
      `SELECT citus_move_shard_placement($1, $2, $3, $4, $5, 'block_writes')`,
      [shard, from?.host, from?.port, to?.host, to?.port],
    );
    expect(move.blocked).toBe(true);
    await writer.query('COMMIT');
    await move.done;
    await mover.end();
  });

  it.each<[string, (owner: SignedInPerson) => Promise<unknown>]>([
    ['a rename', async ({ id }) => void (await app.db.raw('SELECT user_renamed(?)', [id]))],
    [
      'a new password',
      ({ agent, password }) =>
        expectOk(agent.post('/user/change_password').send({ oldPassword: password, newPassword: newPassword() })),
    ],
    [
      'the next person with a phone',
      async (owner) => {
        const verification_token = await verificationToken(app, owner);
        await expectOk(app.api.post('/user/start_over').send({ verification_token }));
      },
    ],
  ])('make %s wait until rows that are being added can be seen on all servers', async (_, find) => {
    const owner = await insertAndSignIn(app);
    await whileHeld(app, 'SELECT adds_to_user(?)', [owner.id], () => find(owner));
  });

  it('have a horizon below each version that is not to be seen yet, whichever server it is on', async () => {
    for (const { id } of [ann, bob]) {
      await writer.query('BEGIN');
      await writer.query(`UPDATE users SET nickname = 'New' WHERE id = $1`, [id]);
      const { rows } = await writer.query<{ version: string }>('SELECT version FROM users WHERE id = $1', [id]);
      // Another version is given out after it.
      await insertPerson(app);
      expect(await numberIn('sync_horizon()')).toBeLessThan(Number(rows[0]?.version));
      await writer.query('COMMIT');
    }
  });

  it('answer the sync of a user whose friend is renamed, if another service wrote only the side of that user', async () => {
    await app.db('friendships').insert({ user_id: bob.id, friend_id: ann.id, status: 20 });
    await untilEventsSeen(app);
    const { version } = await settledClient(bob);
    const answer = post(bob.agent, `/user/sync/${version}`, { names: true, wait: 50 });
    await until(() => app.liveSyncs() > 0);
    await expectOk(ann.agent.post('/user/set_nickname').send({ nickname: 'Annabel' }));
    expect((await expectOk(await answer)).result).toMatchObject({ friends: [{ user: { nickname: 'Annabel' } }] });
  });

  it('stay as they are when the migrations run again', async () => {
    const parts = () => numberIn(`(SELECT count(*) FROM pg_dist_shard)`);
    const before = await parts();
    await migrate(app.ownerUrl);
    expect(await parts()).toBe(before);
    const newest = await newestMigration(app.ownerUrl);
    if (newest) await undoMigration(app.ownerUrl, newest);
    expect(await migrate(app.ownerUrl)).toEqual([newest?.name]);
    expect(await parts()).toBe(before);
  });
});

describeOnSeveralServers('a move', () => {
  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  it.each([
    ['to several servers', emptyDatabase, cloneDatabase],
    ['from several servers', cloneDatabase, emptyDatabase],
    ['between several servers', cloneDatabase, cloneDatabase],
  ])('%s loses no event', async (_, make, makeNext) => {
    const [old, next] = [await make(), await makeNext()];
    for (const database of [old, next]) opened.push(() => database.drop());
    await migrate(old.url);
    const left = await startOn(old);
    await addWebhook(left, 'before');
    const people = [await insertPerson(left)];
    await untilHeard(left, 'before', people);

    const moving = startMove(old.url, next.url);
    await until(() => moving.said().includes('The new database follows.'));
    moving.interrupt();
    await moving.end;
    // From here to the end of its use, events are not gathered.
    const writer = await connectWriter(left);
    opened.push(() => writer.end());
    await writer.query(`BEGIN; SELECT FROM event_readers WHERE name = 'gathered' FOR UPDATE`);
    people.push(await insertPerson(left));
    await moveAll(old.url, next.url);

    const moved = await startOn(next);
    await addWebhook(moved, 'after');
    const newcomer = await insertPerson(moved);
    await untilHeard(moved, 'before', [...people, newcomer]);
    await untilHeard(moved, 'after', [newcomer]);
  });

  async function startOn({ serviceUrl }: TestDatabase): Promise<TestApp> {
    const app = await startApp({}, { databaseUrl: serviceUrl });
    opened.push(() => app.close());
    return app;
  }

  /** Adds one that keeps its place. */
  async function addWebhook({ serviceDb }: TestApp, id: string): Promise<void> {
    const webhooks = new WebhooksRepository(serviceDb);
    await webhooks.add({ id, url: 'http://127.0.0.1', kinds: [], secret: '' });
    await webhooks.pause(id);
  }

  /** Waits until the webhook can be told of these registrations, in their order, and of no others. */
  async function untilHeard({ db, serviceDb }: TestApp, id: string, people: { id: string }[]): Promise<void> {
    const place = await db('webhooks').where({ id }).first<Cursor>('version', 'number', 'subject');
    const registered = async () =>
      (await eventsAfter(serviceDb, place))
        .filter(({ kind }) => kind === 'user.registered')
        .map(({ subject }) => subject);
    await until(async () => (await registered()).length >= people.length).catch(() => undefined);
    expect(await registered()).toEqual(people.map((person) => person.id));
  }
});
