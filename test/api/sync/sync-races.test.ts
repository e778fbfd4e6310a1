import type { Client } from 'pg';
import type { Knex } from 'knex';
import { migrate, migratorConfig } from '../../../src/database/migrations';
import { emptyDatabase, otherServers } from '../../support/database';
import type { FoldingClient } from '../../support/folding-client';
import { describeOnOneServer, itOnOneServer } from '../../support/on-one-server';
import { insertPerson, type Person } from '../../support/people';
import { testPool, type TestPool } from '../../support/pool';
import { stage } from '../../support/stage';
import {
  runUntilBlocked,
  connectWriter,
  foldingClientOf,
  fullState,
  insertGroup,
  isEmpty,
  settledClient,
  sync,
} from '../../support/sync';
import { until } from '../../support/until';

const JOIN = 'INSERT INTO group_members (group_id, member_id) VALUES ($1, $2)';
const RENAME = `UPDATE users SET nickname = 'New name' WHERE id = $1`;
const BEFRIEND = 'INSERT INTO friendships (user_id, friend_id, status) VALUES ($1, $2, 20)';

describe('sync during overlapping transactions', () => {
  const { app, ann } = stage({ people: 1 });
  let bob: Person;
  let writers: [Client, Client];
  beforeEach(async () => {
    bob = await insertPerson(app, 'Bob');
    writers = [await connectWriter(app), await connectWriter(app)];
  });

  afterEach(() => Promise.all(writers.map((writer) => writer.end())));

  it('loses no row of a transaction that is still open while another commits and the client syncs', async () => {
    const cat = await insertPerson(app, 'Cat');
    const client = await settledClient(ann);
    const [slow, quick] = writers;
    await slow.query('BEGIN');
    await slow.query(BEFRIEND, [ann.id, bob.id]);
    await quick.query(BEFRIEND, [ann.id, cat.id]);

    expect((await client.sync()).friends.map(({ friendId }) => friendId)).toEqual([cat.id]);
    await slow.query('COMMIT');

    expect((await client.sync()).friends.map(({ friendId }) => friendId)).toContain(bob.id);
    expect(client.state()).toEqual(await fullState(ann));
  });

  it('loses no row of a transaction that began early and writes late', async () => {
    const cat = await insertPerson(app, 'Cat');
    const [slow, quick] = writers;
    await slow.query('BEGIN');
    await slow.query('SELECT now()');
    await quick.query(BEFRIEND, [ann.id, cat.id]);
    const client = await settledClient(ann);
    await slow.query(BEFRIEND, [ann.id, bob.id]);
    await slow.query('COMMIT');
    await client.sync();
    expect(client.state()).toEqual(await fullState(ann));
    expect(client.state().friends).toHaveLength(2);
  });

  it('returns nothing of a transaction that is rolled back', async () => {
    const client = await settledClient(ann);
    await writers[0].query('BEGIN');
    await writers[0].query(BEFRIEND, [ann.id, bob.id]);
    await client.sync();
    await writers[0].query('ROLLBACK');
    await client.sync();
    expect(client.state().friends).toEqual([]);
  });

  /** Renames during an open join. The join commits first, and the client syncs after each of the two. */
  async function renameBeside(client: FoldingClient): Promise<{ blocked: boolean }> {
    const [joining, renaming] = writers;
    await renaming.query('BEGIN');
    const rename = await runUntilBlocked(app, renaming, RENAME, [bob.id]);
    await joining.query('COMMIT');
    await rename.done;
    // On one server triggers tell: docs/distributed.md.
    if (otherServers().length > 0) await renaming.query('SELECT user_renamed($1)', [bob.id]);
    await client.sync();
    await renaming.query('COMMIT');
    await client.sync();
    return rename;
  }

  itOnOneServer('delivers the new name of a user renamed while joining: the rename waits for the join', async () => {
    const groupId = `join-${ann.id}`;
    await insertGroup(app, groupId, [ann]);
    const client = await settledClient(ann);
    const [joining] = writers;

    await joining.query('BEGIN');
    await joining.query(JOIN, [groupId, bob.id]);
    const rename = await renameBeside(client);

    expect(client.state()).toEqual(await fullState(ann));
    expect(nameOf(client.state(), bob)).toBe('New name');
    expect(rename.blocked).toBe(true);
  });

  itOnOneServer(
    'delivers the new name of a user who joined while being renamed: the join waits for the rename',
    async () => {
      const groupId = `rename-${ann.id}`;
      await insertGroup(app, groupId, [ann]);
      const client = await settledClient(ann);
      const [joining, renaming] = writers;

      await renaming.query('BEGIN');
      await renaming.query(RENAME, [bob.id]);
      const join = await runUntilBlocked(app, joining, JOIN, [groupId, bob.id]);
      await client.sync();
      await renaming.query('COMMIT');
      await join.done;
      await client.sync();

      expect(client.state()).toEqual(await fullState(ann));
      expect(nameOf(client.state(), bob)).toBe('New name');
      expect(join.blocked).toBe(true);
    },
  );

  it('delivers the new name of a user renamed while coming back', async () => {
    const groupId = `back-${ann.id}`;
    await insertGroup(app, groupId, [ann, bob]);
    await app.db('group_members').where({ group_id: groupId, member_id: bob.id }).delete();
    const client = await settledClient(ann);
    const [joining] = writers;

    await joining.query('BEGIN');
    // On one server a trigger locks the member: docs/distributed.md.
    if (otherServers().length > 0) await joining.query('SELECT is_any_closed($1)', [bob.id]);
    await joining.query('UPDATE group_members SET is_deleted = false WHERE group_id = $1 AND member_id = $2', [
      groupId,
      bob.id,
    ]);
    await renameBeside(client);

    expect(client.state()).toEqual(await fullState(ann));
    expect(nameOf(client.state(), bob)).toBe('New name');
  });

  it('lets concurrent joins of the same users proceed in any order', async () => {
    const [one, two] = [`one-${ann.id}`, `two-${ann.id}`];
    await insertGroup(app, one, [ann]);
    await insertGroup(app, two, [ann]);
    const cat = await insertPerson(app, 'Cat');
    const [first, second] = writers;
    await first.query('BEGIN');
    await second.query('BEGIN');
    await first.query(JOIN, [one, bob.id]);
    await second.query(JOIN, [two, cat.id]);
    const joins = [
      await runUntilBlocked(app, first, JOIN, [one, cat.id]),
      await runUntilBlocked(app, second, JOIN, [two, bob.id]),
    ];
    await Promise.all(joins.map(({ done }) => done));
    await Promise.all([first.query('COMMIT'), second.query('COMMIT')]);
    expect(joins.map(({ blocked }) => blocked)).toEqual([false, false]);
  });

  it('causes no deadlock when users join many groups and rename themselves', async () => {
    const groups = Array.from({ length: 8 }, (_, index) => `many${index}-${ann.id}`);
    for (const groupId of groups) await insertGroup(app, groupId, [ann]);
    const [joining, renaming] = writers;
    const join = async () => {
      for (const groupId of groups) await joining.query(JOIN, [groupId, bob.id]);
    };
    const rename = async () => {
      for (let n = 0; n < 20; n += 1)
        await renaming.query('UPDATE users SET nickname = $2 WHERE id = $1', [bob.id, `Bob ${n}`]);
    };
    await Promise.all([join(), rename()]);
    const client = foldingClientOf(ann);
    await client.sync();
    expect(nameOf(client.state(), bob)).toBe('Bob 19');
  });
});

describeOnOneServer('sync versions', () => {
  // Each test has its own database, since it changes the epoch.
  const { app, ann } = stage({ people: 1, eachTest: true });
  let bob: Person;
  beforeEach(async () => {
    bob = await insertPerson(app, 'Bob');
  });

  it('are higher than all earlier ones in a new life of the server, where transaction ids restart lower', async () => {
    await beginNewLife();
    const client = await settledClient(ann);
    const held = client.version;
    expect((await sync(ann, held)).friends).toEqual([]);

    await befriend(ann, bob);

    expect((await client.sync()).friends).toMatchObject([{ friendId: bob.id }]);
    expect(client.version).toBeGreaterThan(held);
    expect(client.state()).toEqual(await fullState(ann));
    expect(await app.db('sync_epoch').pluck('base')).toHaveLength(2);
  });

  // guard sync-races-2: a new base of versions is above the last one even when the clock was put back
  // migrations/0008_sync_lives.up.sql
  // - max(base) + 1000000)
  // + max(base) - max(base))
  it('are higher than all earlier ones even when the clock was put back', async () => {
    const client = await settledClient(ann);
    // Like taking an hour off the clock since the last life began.
    await app.db('sync_epoch').update({ base: app.db.raw('base + 3600000000') });
    await app.db('sync_life').delete();
    await befriend(ann, bob);
    const [friend] = (await client.sync()).friends;
    expect(friend?.friendId).toBe(bob.id);
    const [held] = await app.db('sync_epoch').max<{ max: number }[]>('base');
    expect(friend?.timestamp).toBeGreaterThan(held?.max ?? Infinity);
    expect(client.version).toBeLessThanOrEqual(Date.now() * 1_000);
  });

  it('get one new base in a new life, however many write first', async () => {
    const cat = await insertPerson(app, 'Cat');
    const [first, second] = [await connectWriter(app), await connectWriter(app)];
    await beginNewLife();
    await first.query('BEGIN');
    await first.query(BEFRIEND, [ann.id, bob.id]);
    const later = await runUntilBlocked(app, second, BEFRIEND, [ann.id, cat.id]);
    expect(later.blocked).toBe(true);
    await first.query('COMMIT');
    await later.done;
    const versions = await app.db('friendships').orderBy('version').pluck<number[]>('version');
    expect(Math.abs((versions[1] ?? 0) - (versions[0] ?? 0))).toBeLessThan(1_000);
    expect(await app.db('sync_epoch').pluck('base')).toHaveLength(2);
    expect(await app.db('sync_life').pluck('base')).toHaveLength(1);
    await Promise.all([first.end(), second.end()]);
  });

  it('get their base from the first readiness check, so that no writer has to make it', async () => {
    await beginNewLife();
    await until(async () => (await app.api.get('/readyz')).status === 200);
    expect(await app.db('sync_epoch').pluck('base')).toHaveLength(2);
  });

  it('are never too low in a transaction that cannot see the new base: it fails, to be retried', async () => {
    const late = await connectWriter(app);
    await beginNewLife();
    await late.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await late.query('SELECT 1');
    await befriend(bob, ann);
    await expect(late.query(BEFRIEND, [ann.id, bob.id])).rejects.toMatchObject({ code: '40001' });
    await late.end();
  });

  // guard sync-races-1: the horizon stays behind the clock
  // migrations/0008_sync_lives.up.sql
  // - SELECT least(max(base) + oldest, sync_clock() - (newest - oldest)) - 1
  // + SELECT max(base) + oldest - 1
  it.each([
    ['a million transactions ahead', '- 1000000'],
    ['billions of transactions behind', '+ 5000000000'],
  ])('stay usable in another cluster, whose transaction ids are %s of those in the dump', async (_words, shift) => {
    await befriend(ann, bob);
    await arrivesInAnotherCluster(shift);
    const client = foldingClientOf(ann);
    await client.sync();
    expect(client.version).toBeLessThanOrEqual(Date.now() * 1_000);
    const cat = await insertPerson(app, 'Cat');
    await befriend(ann, cat);

    expect((await client.sync()).friends.map(({ friendId }) => friendId)).toContain(cat.id);
    expect(client.state()).toEqual(await fullState(ann));
    // The next answers are small again.
    await until(async () => isEmpty(await client.sync()));
    const { rows } = await app.db.raw<{ rows: unknown[] }>(
      'SELECT FROM sync_epoch JOIN pg_control_system() USING (system_identifier)',
    );
    expect(rows).toHaveLength(1);
    expect(await app.db('sync_epoch').pluck('base')).toHaveLength(1);
  });

  it('cannot be set by writers', async () => {
    await app.db('groups').insert({ id: 'group', name: 'Group', creator_id: ann.id, version: 1 });
    await app.db('group_members').insert({ group_id: 'group', member_id: ann.id, version: 2, joined_version: 3 });
    await app.db('friendships').insert({ user_id: ann.id, friend_id: bob.id, status: 20, version: 4 });
    await app.db('blacklist').insert({ user_id: ann.id, friend_id: bob.id, version: 5 });
    await app.db('users').insert({ id: 'written', nickname: 'W', version: 6 });
    const tables = ['users', 'groups', 'group_members', 'friendships', 'blacklist'];
    const before = await versionsOf(tables);
    const joined = await app.db('group_members').pluck<number[]>('joined_version');
    for (const table of tables) await app.db(table).update({ version: 7 });
    await app.db('group_members').update({ joined_version: 8 });
    const after = await versionsOf(tables);
    expect(Math.min(...before, ...after)).toBeGreaterThan(1e15);
    expect(Math.max(...after)).toBeLessThan(Date.now() * 1_000);
    expect(await app.db('group_members').pluck('joined_version')).toEqual(joined);
    expect(Math.min(...joined)).toBeGreaterThan(1e15);
  });

  it('for a membership restart with a join and a return, and at no other time', async () => {
    const mine = () => app.db('group_members').where({ group_id: 'group', member_id: ann.id });
    const joined = async () => {
      const row = await mine().first<{ joined_version: number; version: number }>('joined_version', 'version');
      return [row.joined_version, row.version];
    };
    await insertGroup(app, 'group', [ann]);
    const [first = 0, same] = await joined();
    expect(first).toBe(same);
    await mine().update({ display_name: 'A', role: 2 });
    await mine().delete();
    await mine().update({ display_name: 'B' });
    const [kept, later = 0] = await joined();
    expect(kept).toBe(first);
    expect(later).toBeGreaterThan(first);
    await mine().update({ is_deleted: false });
    const [again = 0, now] = await joined();
    expect(again).toBeGreaterThan(later);
    expect(again).toBe(now);
  });

  it('for a deleted relation stay: DELETE leaves a tombstone, and a second DELETE changes nothing', async () => {
    await insertGroup(app, 'group', [ann]);
    await befriend(ann, bob);
    await app.db('blacklist').insert({ user_id: ann.id, friend_id: bob.id });
    const tables = ['group_members', 'friendships', 'blacklist'];
    for (const table of tables) await app.db(table).delete();
    expect(await app.db('group_members').first('is_deleted')).toEqual({ is_deleted: true });
    expect(await app.db('friendships').first('status')).toEqual({ status: 30 });
    expect(await app.db('blacklist').first('status')).toEqual({ status: false });
    const before = await versionsOf(tables);
    for (const table of tables) await app.db(table).delete();
    expect(await versionsOf(tables)).toEqual(before);
  });

  /** Begins a new life, like a crash or a promotion: rows have transaction ids a million ahead. */
  async function beginNewLife(): Promise<void> {
    await app.db('sync_epoch').whereNotIn('base', app.db('sync_life').select('base')).delete();
    await app.db('sync_epoch').update({ base: app.db.raw('base + 1000000') });
    await app.db('sync_life').delete();
  }

  /** Loads a dump's state: the base of another cluster, and the life of a server that runs elsewhere. */
  async function arrivesInAnotherCluster(shift: string): Promise<void> {
    await app.db('sync_epoch').update({ system_identifier: 1, base: app.db.raw(`base ${shift}`) });
    await app.db('sync_life').update({ started: app.db.raw(`started - interval '1 day'`) });
  }

  function befriend(user: { id: string }, friend: { id: string }) {
    return app.db('friendships').insert({ user_id: user.id, friend_id: friend.id, status: 20 });
  }

  async function versionsOf(tables: string[]): Promise<number[]> {
    const versions = await Promise.all(
      tables.map((table) => app.db(table).pluck<number[]>('version').orderBy('version')),
    );
    return versions.flat();
  }
});

describe('a write that would hide a change from clients', () => {
  const { app } = stage();
  beforeAll(async () => {
    const [ann, bob] = [await insertPerson(app, 'Ann'), await insertPerson(app, 'Bob')];
    await insertGroup(app, 'group', [ann]);
    await app.db('groups').insert({ id: 'empty', name: 'Empty', creator_id: ann.id });
    await app.db('friendships').insert({ user_id: ann.id, friend_id: bob.id, status: 20 });
    await app.db('blacklist').insert({ user_id: ann.id, friend_id: bob.id });
  });

  it.each([
    ['DELETE FROM users', 'DELETE on users'],
    ['DELETE FROM groups', 'DELETE on groups'],
    ['TRUNCATE users CASCADE', 'TRUNCATE on users'],
    ['TRUNCATE groups CASCADE', 'TRUNCATE on groups'],
    ['TRUNCATE group_members', 'TRUNCATE on group_members'],
    ['TRUNCATE friendships', 'TRUNCATE on friendships'],
    ['TRUNCATE blacklist', 'TRUNCATE on blacklist'],
    [`UPDATE users SET id = 'other' WHERE nickname = 'Bob'`, 'UPDATE on users'],
    [`UPDATE groups SET id = 'other' WHERE id = 'empty'`, 'UPDATE on groups'],
    [`UPDATE group_members SET member_id = 'other'`, 'UPDATE on group_members'],
    [`UPDATE friendships SET friend_id = 'other'`, 'UPDATE on friendships'],
    [`UPDATE blacklist SET friend_id = 'other'`, 'UPDATE on blacklist'],
  ])('is refused, whichever role runs it: %s', async (statement, message) => {
    await expect(app.db.raw(statement)).rejects.toThrow(
      new RegExp(`${message}(_\\d+)? would hide a change from clients|modifying the partition value of rows`),
    );
  });
});

describe('the migrations', () => {
  it('can all be reverted, leaving nothing, and applied again', async () => {
    const database = await emptyDatabase();
    let pool: TestPool | undefined;
    try {
      const applied = await migrate(database.url);
      pool = testPool(database.url, 2);
      const { db } = pool;
      expect(await leftOver(db)).not.toEqual([]);
      await db.migrate.rollback(migratorConfig, true);
      expect(await leftOver(db)).toEqual([]);
      expect(await migrate(database.url)).toEqual(applied);
      await db('users').insert({ id: 'ann', nickname: 'Ann' });
      expect(await db('users').pluck('version')).toEqual([expect.any(Number)]);
      expect(await migrate(database.url)).toEqual([]);
    } finally {
      await pool?.close();
      await database.drop();
    }
  });

  /** Returns everything in the schema except Knex's own records. */
  async function leftOver(db: Knex): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { name: string }[] }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'knex_%'
       UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
    );
    return rows.map(({ name }) => name);
  }
});

function nameOf(
  { groups }: ReturnType<ReturnType<typeof foldingClientOf>['state']>,
  person: Person,
): string | undefined {
  return groups.flatMap(({ members }) => members).find(({ memberId }) => memberId === person.id)?.user.nickname;
}
