import type { Knex } from 'knex';
import { migrate, migratorConfig } from '../../../src/database/migrations';
import { emptyDatabase, type TestDatabase } from '../../support/database';
import { expectWholeGroup, rolesIn } from '../../support/groups';
import { testPool, type TestPool } from '../../support/pool';

describe('the migration of groups', () => {
  let database: TestDatabase;
  let pool: TestPool;
  let db: Knex;
  beforeAll(async () => {
    database = await emptyDatabase();
    await migrate(database.url);
    pool = testPool(database.url, 2);
    db = pool.db;
  });
  afterAll(async () => {
    await pool.close();
    await database.drop();
  });

  /** Returns to the state before this migration, whatever has come after it. */
  async function takeBack(): Promise<void> {
    while (await db.schema.hasTable('group_sizes')) await db.migrate.down(migratorConfig);
  }

  // guard group-migration-1: wrong roles from before are corrected
  // migrations/0018_groups.up.sql
  // - AND NOT is_deleted AND (role = 0) <> (member_id = creator_id);
  // + AND NOT is_deleted AND (role = 0) <> (member_id = creator_id) AND false;
  // guard group-migration-2: a group whose creator was not a member passes on
  // migrations/0018_groups.up.sql
  // - SELECT group_pass_on(id) FROM groups
  // + SELECT id FROM groups
  it('counts members, and gives each group of another service one creator who is a member', async () => {
    await takeBack();
    await db('users').insert(['ann', 'bob', 'cat'].map((id) => ({ id, nickname: id })));
    const groups = ['right', 'two', 'none', 'away', 'empty'];
    await db('groups').insert(groups.map((id) => ({ id, name: id, creator_id: id === 'away' ? 'dan' : 'ann' })));
    const member = (group_id: string, member_id: string, role: number, is_deleted = false) =>
      db('group_members').insert({ group_id, member_id, role, is_deleted });
    for (const [group, ...roles] of [
      ['right', 0, 1, 2],
      ['two', 0, 0, 1],
      ['none', 1, 2, 1],
      ['away', 1, 1, 2],
    ] as const)
      for (const [index, role] of roles.entries()) await member(group, ['ann', 'bob', 'cat'][index] ?? '', role);
    await member('empty', 'ann', 0, true);
    await migrate(database.url);

    for (const id of ['right', 'two', 'none', 'away']) await expectWholeGroup({ db }, id);
    expect(await rolesIn({ db }, 'right')).toEqual({ ann: 0, bob: 1, cat: 2 });
    expect(await rolesIn({ db }, 'two')).toEqual({ ann: 0, bob: 1, cat: 1 });
    expect(await rolesIn({ db }, 'none')).toEqual({ ann: 0, bob: 2, cat: 1 });
    expect(await rolesIn({ db }, 'away')).toEqual({ ann: 1, bob: 1, cat: 0 });
    expect(await db('group_sizes').where({ group_id: 'empty' }).first('members')).toEqual({ members: 0 });
  });

  it('leaves no member in a dismissed group when it is reverted', async () => {
    await db('groups').where({ id: 'right' }).update({ dismissed_at: new Date() });
    expect(Object.keys(await rolesIn({ db }, 'right'))).toHaveLength(3);
    await takeBack();
    expect(await rolesIn({ db }, 'right')).toEqual({});
    await migrate(database.url);
    expect(await rolesIn({ db }, 'two')).toEqual({ ann: 0, bob: 1, cat: 1 });
  });

  it('records the present creator as the maker of each group, and cuts long texts when it is reverted', async () => {
    while (await db.schema.hasColumn('groups', 'made_by')) await db.migrate.down(migratorConfig);
    await db('groups').where({ id: 'right' }).update({ bulletin: 'x' });
    await migrate(database.url);
    expect(await db('groups').where({ id: 'right' }).first('made_by', 'bulletin_updated_at')).toEqual({
      made_by: 'ann',
      bulletin_updated_at: null,
    });
    await db('groups')
      .where({ id: 'right' })
      .update({ bulletin: '🙂'.repeat(1_024) });
    await db('friendships').insert({ user_id: 'ann', friend_id: 'bob', status: 11, message: '山'.repeat(64) });
    await db('group_members')
      .where({ group_id: 'two', member_id: 'cat' })
      .update({ is_deleted: true, ending: 'barred' });
    while (await db.schema.hasColumn('groups', 'made_by')) await db.migrate.down(migratorConfig);
    expect(await db('groups').where({ id: 'right' }).first('bulletin')).toEqual({ bulletin: '🙂'.repeat(256) });
    expect(await db('friendships').first('message')).toEqual({ message: '山'.repeat(16) });
    expect(await db('group_members').where({ group_id: 'two', member_id: 'cat' }).first('ending')).toEqual({
      ending: 'kicked',
    });
    await migrate(database.url);
  });
});
