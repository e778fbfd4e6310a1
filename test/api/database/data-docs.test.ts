import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { FoldingClient } from '../../support/folding-client';
import { describeOnOneServer } from '../../support/on-one-server';
import type { SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';
import { connectWriter, foldingClientOf, fullState, sync } from '../../support/sync';

const PAGE = join(__dirname, '..', '..', '..', 'docs', 'data.md');
const ROLE = 'relations_writer';
const blocks = [...readFileSync(PAGE, 'utf8').matchAll(/```sql\n(.*?)```/gs)].map(([, sql = '']) => sql);
const unused = new Set(blocks);

const messagingTokenOf = ({ id }: SignedInPerson) => ({
  user_id: id,
  app: 'app',
  token: 'token',
  nickname: 'Cat',
  portrait_uri: '',
});

/** Returns the only block of the page with this text, with the people of this test for those of the page. */
function block(fragment: string, people: Record<string, SignedInPerson> = {}): string {
  const found = blocks.filter((sql) => sql.includes(fragment));
  expect({ fragment, found: found.length }).toEqual({ fragment, found: 1 });
  const [sql = ''] = found;
  unused.delete(sql);
  return Object.entries(people).reduce((text, [name, { id }]) => text.replaceAll(`'${name}'`, `'${id}'`), sql);
}

describeOnOneServer('the SQL of docs/data.md', () => {
  let clients: { ann: FoldingClient; bob: FoldingClient; cat: FoldingClient };
  /** One connects as the role that the page makes, the other as the owner of the database. */
  let writer: Client;
  let owner: Client;

  afterAll(async () => {
    await writer.end();
    await owner.query(`DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`);
    await owner.end();
  });
  const { app, ann, bob, cat } = stage({ people: 3, peopleOnce: true });
  const people = { ann, bob, cat };
  beforeAll(async () => {
    clients = { ann: foldingClientOf(ann), bob: foldingClientOf(bob), cat: foldingClientOf(cat) };
    owner = await connectWriter(app);
    await owner.query(`DROP ROLE IF EXISTS ${ROLE}`);
    await owner.query(block('CREATE ROLE'));
    writer = await connectWriter(app);
    await writer.query(`SET SESSION AUTHORIZATION ${ROLE}`);
  });

  it('requests a friendship', async () => {
    await write(`('ann', 'bob', 10)`);
    expect(await friends()).toEqual({ ann: ['Bob 10'], bob: ['Ann 11'], cat: [] });
  });

  it('makes friends of a request', async () => {
    await write(`'Annie'`);
    expect(await friends()).toEqual({ ann: ['Bob 20'], bob: ['Ann 20 Annie'], cat: [] });
  });

  it('does not send a request to a user who has blacklisted the sender, or to a closed account', async () => {
    const { ann, bob, cat } = people;
    const asking = block(`('ann', 'bob', 10)`, { ann: bob, bob: cat });
    const entry = { user_id: cat.id, friend_id: bob.id };
    await app.db('blacklist').insert(entry).onConflict(['user_id', 'friend_id']).merge({ status: true });
    await writer.query(asking);
    await app.db('blacklist').delete();
    await app.db('users').where({ id: cat.id }).update({ closed_at: app.db.fn.now() });
    await writer.query(asking);
    await app.db('users').where({ id: cat.id }).update({ closed_at: null });
    expect((await sync(cat)).friends).toEqual([]);
    expect((await sync(ann)).friends).toHaveLength(1);
  });

  it('makes friends without a request, and ends a friendship', async () => {
    await write(`('ann', 'cat', 20)`);
    expect(await friends()).toMatchObject({ ann: ['Bob 20', 'Cat 20'], cat: ['Ann 20'] });
    await write(`DELETE FROM friendships WHERE (user_id, friend_id) IN ((`);
    expect(await friends()).toMatchObject({ ann: ['Bob 20'], cat: [] });
  });

  it('makes a group with members and a manager', async () => {
    await write('INSERT INTO groups');
    expect(await groups()).toEqual({
      ann: ['Hiking club 0: Ann 0, Bob 2, Cat 1'],
      bob: ['Hiking club 2: Ann 0, Bob 2, Cat 1'],
      cat: ['Hiking club 1: Ann 0, Bob 2, Cat 1'],
    });
  });

  it('renames a group', async () => {
    await write('UPDATE groups SET name');
    expect((await groups()).cat).toEqual(['Hiking and climbing 1: Ann 0, Bob 2, Cat 1']);
  });

  it('removes a member from a group, and brings them back', async () => {
    await write(`AND member_id = 'cat';`);
    expect(await groups()).toMatchObject({ ann: ['Hiking and climbing 0: Ann 0, Bob 2'], cat: [] });
    await write(`VALUES ('hiking-club', 'cat')`);
    expect((await groups()).cat).toEqual(['Hiking and climbing 1: Ann 0, Bob 2, Cat 1']);
  });

  it('dissolves a group', async () => {
    await write(`WHERE group_id = 'hiking-club';`);
    expect(await groups()).toEqual({ ann: [], bob: [], cat: [] });
  });

  it.each([
    'SELECT password_hash FROM users',
    'SELECT * FROM users',
    'SELECT phone FROM phones',
    'SELECT sid FROM session',
    'SELECT code_hmac FROM verification_codes',
    `INSERT INTO users (id, nickname) VALUES ('new', 'New')`,
    `UPDATE users SET nickname = 'Other'`,
    'UPDATE users SET closed_at = now()',
    'DELETE FROM users',
    'DELETE FROM groups',
    'UPDATE blacklist SET status = false',
    'DELETE FROM blacklist',
    'UPDATE friendships SET version = 1',
    'UPDATE friendships SET friend_id = user_id',
    'UPDATE group_members SET joined_version = 1',
    `UPDATE group_members SET member_id = 'other'`,
    `INSERT INTO group_members (group_id, member_id, version) VALUES ('hiking-club', 'x', 1)`,
    'UPDATE groups SET version = 1',
    `UPDATE groups SET id = 'other'`,
    'TRUNCATE friendships',
    'ALTER TABLE friendships DISABLE TRIGGER ALL',
    'UPDATE sync_epoch SET base = 0',
    'DELETE FROM sync_life',
    'CREATE TABLE mine (id text)',
  ])('gives the role only the rights it needs: not %s', async (statement) => {
    await expect(writer.query(statement)).rejects.toThrow(/permission denied|must be owner/);
  });

  it('gives the role no right on any other table', async () => {
    const { rows } = await owner.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')
          AND (has_table_privilege($1, oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
               OR relkind <> 'S' AND has_any_column_privilege($1, oid, 'SELECT, INSERT, UPDATE, REFERENCES'))
        ORDER BY relname`,
      [ROLE],
    );
    expect(rows.map(({ name }) => name)).toEqual(['blacklist', 'friendships', 'group_members', 'groups', 'users']);
  });

  it('finds the transaction that holds the horizon back', async () => {
    await writer.query('BEGIN');
    await writer.query(`UPDATE groups SET name = 'Open' WHERE id = 'hiking-club'`);
    const { rows: open } = await writer.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const { rows: found } = await owner.query<{ pid: number }>(block('pg_stat_activity'));
    await writer.query('ROLLBACK');
    expect(found.map(({ pid }) => pid)).toContain(open[0]?.pid);
  });

  it('suspends an account and restores it, and others learn nothing of it', async () => {
    const { ann, cat } = people;
    await app.db('messaging_tokens').insert(messagingTokenOf(cat));
    const { region, phone, password } = cat;
    const logIn = () => cat.agent.post('/user/login').send({ region, phone, password });
    const before = await fullState(ann);
    await owner.query(block('suspended_at = now()', people));
    expect((await cat.agent.post('/user/sync/0')).status).toBe(401);
    expect((await logIn()).headers['x-reason']).toBe('account_suspended');
    expect(await app.db('messaging_tokens').select()).toEqual([]);
    expect(await fullState(ann)).toEqual(before);
    await owner.query(block('suspended_at = NULL', people));
    expect((await cat.agent.post('/user/sync/0')).status).toBe(401);
    expect((await logIn()).status).toBe(200);
  });

  it('closes an account, and others learn of it by sync', async () => {
    const { ann, bob, cat } = people;
    await app.db('messaging_tokens').insert(messagingTokenOf(cat));
    const named = { user_id: cat.id, friend_id: ann.id, display_name: 'Annie', status: 20 };
    await app.db('friendships').insert(named).onConflict(['user_id', 'friend_id']).merge();
    await app.db('group_members').where({ member_id: cat.id }).update({ is_deleted: false, display_name: 'Kitty' });
    const entry = { user_id: cat.id, friend_id: bob.id };
    await app.db('blacklist').insert(entry).onConflict(['user_id', 'friend_id']).merge({ status: true });
    await owner.query(block('closed_at = now()', people));
    const own = [
      app.db('friendships').where({ user_id: cat.id }),
      app.db('group_members').where({ member_id: cat.id }),
    ];
    const names = await Promise.all(own.map((rows) => rows.whereNot({ display_name: '' }).select()));
    expect(names).toEqual([[], []]);
    expect(await app.db('blacklist').where({ user_id: cat.id, status: true })).toEqual([]);
    expect(await app.db('messaging_tokens').select()).toEqual([]);
    await clients.ann.sync();
    expect(clients.ann.state().friends.map(({ friendId }) => friendId)).toEqual([bob.id]);
    expect(clients.ann.state()).toEqual(await fullState(ann));
    expect((await ann.agent.post(`/user/${cat.id}`)).status).toBe(404);
    expect((await cat.agent.post('/user/sync/0')).status).toBe(401);
    const { region, phone, password } = cat;
    expect((await app.api.post('/user/login').send({ region, phone, password })).body).toEqual({ code: 1000 });
    expect((await app.api.post('/user/check_phone_available').send({ region, phone })).body).toEqual({
      code: 200,
      result: true,
    });
  });

  it('runs here completely, to the last block', () => {
    expect([...unused]).toEqual([]);
  });

  /** Runs the statement as the role, and twice, as a writer does after a lost connection. */
  async function write(fragment: string): Promise<void> {
    const sql = block(fragment, people);
    await writer.query(sql);
    await writer.query(sql);
  }

  async function friends() {
    return view(({ state, name }) =>
      state.friends.map(({ friendId, status, displayName }) => `${name(friendId)} ${status} ${displayName}`.trim()),
    );
  }

  async function groups() {
    return view(({ state, name }) =>
      state.groups.map(({ group, role, members }) => {
        const list = members.map((member) => `${name(member.memberId)} ${member.role}`).sort();
        return `${group.name} ${role}: ${list.join(', ')}`;
      }),
    );
  }

  /** Returns what each client shows after another sync. */
  async function view(
    show: (client: { state: ReturnType<FoldingClient['state']>; name: (id: string) => string }) => string[],
  ) {
    const name = (id: string) => Object.values(people).find((person) => person.id === id)?.nickname ?? id;
    const shown: Record<string, string[]> = {};
    for (const [key, client] of Object.entries(clients)) {
      await client.sync();
      shown[key] = show({ state: client.state(), name }).sort();
    }
    return shown;
  }
});
