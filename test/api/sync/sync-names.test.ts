import type { Client } from 'pg';
import type { FoldingClient, SyncState } from '../../support/folding-client';
import { describeOnOneServer, itOnOneServer } from '../../support/on-one-server';
import { expectOk, insertAndSignIn, insertPerson, type Person, type SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';
import {
  runUntilBlocked,
  connectWriter,
  fullState,
  insertGroup,
  isEmpty,
  NAMES,
  settledClient,
  sync,
} from '../../support/sync';

const RENAME = `UPDATE users SET nickname = 'New name' WHERE id = $1`;
const BEFRIEND = 'INSERT INTO friendships (user_id, friend_id, status) VALUES ($1, $2, 20)';
const AGAIN = 'UPDATE friendships SET status = 20 WHERE user_id = $1 AND friend_id = $2';
const NOBODY = { nickname: '', portraitUri: '' };

describe('POST /user/sync/:version with names', () => {
  let ann: SignedInPerson;
  let bob: SignedInPerson;
  let cat: Person;
  const { app } = stage();
  beforeEach(async () => {
    [ann, bob, cat] = [
      await insertAndSignIn(app, 'Ann'),
      await insertAndSignIn(app, 'Bob'),
      await insertPerson(app, 'Cat'),
    ];
  });

  const friendOf = (friend: Person, status = 20) =>
    app.db('friendships').insert({ user_id: ann.id, friend_id: friend.id, status, display_name: 'A name' });
  const blacklisted = (friend: Person, status = true) =>
    app.db('blacklist').insert({ user_id: ann.id, friend_id: friend.id, status });
  const rename = ({ agent }: SignedInPerson, nickname = 'New name') =>
    expectOk(agent.post('/user/set_nickname').send({ nickname }));
  const time = expect.any(Number) as number;

  it('returns the names of friends and of users on the blacklist', async () => {
    await friendOf(bob);
    await blacklisted(cat);
    await expectOk(bob.agent.post('/user/set_portrait_uri').send({ portraitUri: 'https://a.b/p.png' }));
    const { friends, blacklist } = await sync(ann, 0, NAMES);
    const user = { nickname: 'Bob', portraitUri: 'https://a.b/p.png' };
    expect(friends).toEqual([{ friendId: bob.id, displayName: 'A name', status: 20, timestamp: time, user }]);
    const other = { nickname: 'Cat', portraitUri: '' };
    expect(blacklist).toEqual([{ friendId: cat.id, status: true, timestamp: time, user: other }]);
  });

  // guard sync-names-12: an ended friendship shows no name
  // src/features/sync/sync-relations.ts
  // - 'row.status <> 30'
  // + 'true'
  it('returns no names for ended relations, or of unknown users', async () => {
    const dan = await insertPerson(app, 'Dan');
    await friendOf(bob, 30);
    await blacklisted(cat, false);
    await friendOf({ ...dan, id: `nobody-${ann.id}` });
    const { friends, blacklist } = await sync(ann, 1, NAMES);
    expect([...friends, ...blacklist].map(({ user }) => user)).toEqual([NOBODY, NOBODY, NOBODY]);
  });

  // guard sync-names-1: false does not ask for names
  // src/features/sync/sync-router.ts
  // - changes(reader, { since: version, names })
  // + changes(reader, { since: version, names: names !== undefined })
  // guard sync-names-2: a body that is not a JSON object is ignored
  // src/http/operations-router.ts
  // - parse(options, bodyIfAny(req))
  // + parse(options, jsonBody(req))
  it.each([
    undefined,
    '',
    '{}',
    '{"names": false}',
    '{"Names": true}',
    '[{"names": true}]',
    '{"names": true',
    'names=true',
    Buffer.from([0xff, 0, 1]).toString('latin1'),
  ])('is requested only by this body: %s counts as no body', async (body) => {
    await friendOf(bob);
    await blacklisted(cat);
    const client = await settledClient(ann);
    await rename(bob);
    for (const version of [0, client.version]) {
      const [one, other] = await Promise.all(
        [undefined, body].map((sent) => ann.agent.post(`/user/sync/${version}`).type('text').send(sent)),
      );
      expect(other?.status).toBe(200);
      expect(textOf(other)).toBe(textOf(one));
    }
    expect(Object.keys((await sync(ann)).friends[0] ?? {})).toEqual(['friendId', 'displayName', 'status', 'timestamp']);
  });

  // guard sync-names-3: a rename is a change of friendships
  // migrations/0016_friendships.up.sql
  // - SET named_version = 0 WHERE friend_id = NEW.id AND status <> 30
  // + SET named_version = 0 WHERE false
  // guard sync-names-4: a rename is not a change for clients that ask without names
  // migrations/0016_friendships.up.sql
  // - NEW.version := OLD.version;
  // + NEW.version := sync_next_version();
  it('delivers the new name or portrait of a friend, but only to clients that ask with names', async () => {
    await friendOf(bob);
    const [plain, named] = [await settledClient(ann), await settledClient(ann, NAMES)];
    const [before] = named.state().friends;
    await rename(bob);
    const [friend] = (await named.sync()).friends;
    expect(friend).toMatchObject({
      friendId: bob.id,
      displayName: 'A name',
      status: 20,
      user: { nickname: 'New name' },
    });
    expect(friend?.timestamp).toBeGreaterThan(before?.timestamp ?? Infinity);
    expect((await plain.sync()).friends).toEqual([]);
    await expectOk(bob.agent.post('/user/set_portrait_uri').send({ portraitUri: 'https://a.b/p.png' }));
    expect((await named.sync()).friends).toMatchObject([{ user: { portraitUri: 'https://a.b/p.png' } }]);
    expect((await plain.sync()).friends).toEqual([]);
    expect(plain.state()).toEqual(await fullState(ann));
    expect(named.state()).toEqual(await fullState(ann, NAMES));
  });

  it('delivers a friend who was renamed and then changed once, like any other', async () => {
    await friendOf(bob);
    const [plain, named] = [await settledClient(ann), await settledClient(ann, NAMES)];
    await rename(bob);
    await expectOk(ann.agent.post('/friendship/set_display_name').send({ friendId: bob.id, displayName: 'Bobby' }));
    for (const client of [plain, named])
      expect((await client.sync()).friends).toMatchObject([{ friendId: bob.id, displayName: 'Bobby' }]);
    expect(named.state()).toEqual(await fullState(ann, NAMES));
  });

  // guard sync-names-5: two renames in one transaction are not a change for clients that ask without names
  // migrations/0016_friendships.up.sql
  // - SET named_version = 0
  // + SET named_version = sync_next_version()
  it('delivers a friend renamed twice in one transaction, and not to clients without names', async () => {
    await friendOf(bob);
    const [plain, named] = [await settledClient(ann), await settledClient(ann, NAMES)];
    await app.db.transaction(async (trx) => {
      for (const nickname of ['One', 'Two']) await trx('users').where({ id: bob.id }).update({ nickname });
      await trx.raw('SELECT user_renamed(?)', [bob.id]);
    });
    expect((await named.sync()).friends).toMatchObject([{ user: { nickname: 'Two' } }]);
    expect((await plain.sync()).friends).toEqual([]);
  });

  it.each([10, 11, 21])('delivers the new name of a user with status %d', async (status) => {
    await friendOf(bob, status);
    const client = await settledClient(ann, NAMES);
    await rename(bob);
    expect((await client.sync()).friends).toMatchObject([{ status, user: { nickname: 'New name' } }]);
    expect(client.state()).toEqual(await fullState(ann, NAMES));
  });

  // guard sync-names-11: the rename of a user on a blacklist is found
  // src/features/sync/sync-relations.ts
  // - UNION ALL ${RENAMED_ENTRIES} LIMIT
  // + LIMIT
  it('delivers the new name of a user on the blacklist, and writes nothing for it', async () => {
    await blacklisted(bob);
    const row = () => app.db('blacklist').where({ user_id: ann.id }).first<object>();
    const before = await row();
    const [plain, named] = [await settledClient(ann), await settledClient(ann, NAMES)];
    await rename(bob);
    expect((await named.sync()).blacklist).toMatchObject([{ status: true, user: { nickname: 'New name' } }]);
    expect((await plain.sync()).blacklist).toEqual([]);
    expect(named.state()).toEqual(await fullState(ann, NAMES));
    expect(await row()).toEqual(before);
  });

  it('does not deliver new names for ended relations', async () => {
    await friendOf(bob, 30);
    await blacklisted(bob, false);
    const client = await settledClient(ann, NAMES);
    await rename(bob);
    expect(isEmpty(await client.sync())).toBe(true);
  });

  it('changes neither the time of the friendship nor its own version', async () => {
    await friendOf(bob);
    const row = () => app.db('friendships').where({ user_id: ann.id }).first<object>('updated_at', 'version');
    const before = await row();
    await rename(bob);
    expect(await row()).toEqual(before);
  });

  // guard sync-names-10: the name of a friend whose account is made later is delivered
  // migrations/0016_friendships.up.sql
  // - CREATE TRIGGER users_touch_friendships_of_new AFTER INSERT
  // + CREATE TRIGGER users_touch_friendships_of_new AFTER DELETE
  itOnOneServer('delivers the name of a friend whose account is made after the friendship', async () => {
    const late = `late-${ann.id}`;
    await friendOf({ ...cat, id: late });
    const client = await settledClient(ann, NAMES);
    await app.db('users').insert({ id: late, nickname: 'Late' });
    expect((await client.sync()).friends).toMatchObject([{ friendId: late, user: { nickname: 'Late' } }]);
  });

  // guard sync-names-6: a rename does not hide another change
  // migrations/0016_friendships.up.sql
  // - AND (NEW.status, NEW.display_name, NEW.message) = (OLD.status, OLD.display_name, OLD.message) THEN
  // + THEN
  it('ignores a version that a writer sets', async () => {
    await friendOf(bob);
    const client = await settledClient(ann);
    const row = () => app.db('friendships').where({ user_id: ann.id, friend_id: bob.id });
    await row().update({ named_version: 7 });
    expect((await row().first<{ named_version: number }>('named_version')).named_version).toBeGreaterThan(1e15);
    await row().update({ named_version: 7, status: 30 });
    expect((await client.sync()).friends).toMatchObject([{ friendId: bob.id, status: 30 }]);
  });

  describe('for many users', () => {
    const MANY = 1_201;
    beforeEach(async () => {
      await app.db.raw(`INSERT INTO users (id, nickname) SELECT ? || n, 'N' || n FROM generate_series(1, ?) n`, [
        `${ann.id}-`,
        MANY,
      ]);
      for (const [table, status] of [
        ['friendships', 20],
        ['blacklist', true],
      ])
        await app.db.raw(
          `INSERT INTO ${String(table)} (user_id, friend_id, status) SELECT ?, ? || n, ? FROM generate_series(1, ?) n`,
          [ann.id, `${ann.id}-`, status ?? '', MANY],
        );
    });

    // guard sync-names-13: many friends with names are read in pages
    // src/features/sync/sync-repository.ts
    // - friends: friends.length <= few ? friends : undefined
    // + friends
    itOnOneServer('returns all, reads them in pages, and reads no page when little has changed', async () => {
      const pages: number[] = [];
      const note = (response: unknown, { sql }: { sql: string }) => {
        if (/named_version|row.status/.test(sql)) pages.push((response as { rows: unknown[] }).rows.length);
      };
      app.serviceDb.on('query-response', note);
      const client = await settledClient(ann, NAMES);
      expect(pages.slice(0, 6)).toEqual([500, 500, 201, 500, 500, 201]);
      const { friends, blacklist } = client.state();
      for (const rows of [friends, blacklist]) {
        expect(rows).toHaveLength(MANY);
        for (const { friendId, user } of rows) expect(user?.nickname).toBe(friendId.replace(`${ann.id}-`, 'N'));
      }
      pages.length = 0;
      await app
        .db('users')
        .where({ id: `${ann.id}-7` })
        .update({ nickname: 'New name' });
      expect((await client.sync()).friends).toMatchObject([{ user: { nickname: 'New name' } }]);
      expect(pages).toEqual([]);
      await app.db('users').where('id', 'like', `${ann.id}-%`).update({ nickname: 'All' });
      expect((await client.sync()).friends).toHaveLength(MANY);
      app.serviceDb.off('query-response', note);
      expect(client.state()).toEqual(await fullState(ann, NAMES));
    });
  });

  describeOnOneServer('during overlapping transactions', () => {
    let writers: [Client, Client];
    let client: FoldingClient;
    beforeEach(async () => {
      writers = [await connectWriter(app), await connectWriter(app)];
    });
    afterEach(() => Promise.all(writers.map((writer) => writer.end())));

    it('loses no new name of a transaction that is open while another commits and the client syncs', async () => {
      await friendOf(bob);
      await friendOf(cat);
      client = await settledClient(ann, NAMES);
      const [slow, quick] = writers;
      await slow.query('BEGIN');
      await slow.query(RENAME, [bob.id]);
      await quick.query(RENAME, [cat.id]);
      expect((await client.sync()).friends.map(({ friendId }) => friendId)).toEqual([cat.id]);
      await slow.query('COMMIT');
      await client.sync();
      expect(nameOf(client.state(), bob)).toBe('New name');
      expect(client.state()).toEqual(await fullState(ann, NAMES));
    });

    // guard sync-names-7: a new friendship and a rename wait for each other
    // migrations/0017_account.up.sql
    // - ORDER BY id FOR SHARE
    // + ORDER BY id
    // guard sync-names-8: a renewed friendship and a rename wait for each other
    // migrations/0021_closings.up.sql
    // - WHEN (NEW.status <> 30 AND OLD.status = 30 OR NEW.status = 20 AND OLD.status <> 20)
    // + WHEN (false)
    it.each([
      ['made a friend', BEFRIEND, undefined],
      ['made a friend again', AGAIN, 30],
    ])(
      'delivers a rename during a transaction in which the user is %s: the rename waits',
      async (_what, write, before) => {
        if (before) await friendOf(bob, before);
        client = await settledClient(ann, NAMES);
        const [befriending, renaming] = writers;
        await befriending.query('BEGIN');
        await befriending.query(write, [ann.id, bob.id]);
        await renaming.query('BEGIN');
        const renamed = await runUntilBlocked(app, renaming, RENAME, [bob.id]);
        await befriending.query('COMMIT');
        await renamed.done;
        await client.sync();
        await renaming.query('COMMIT');
        await client.sync();
        expect(nameOf(client.state(), bob)).toBe('New name');
        expect(client.state()).toEqual(await fullState(ann, NAMES));
        expect(renamed.blocked).toBe(true);
      },
    );

    it.each([
      ['made a friend', BEFRIEND, undefined],
      ['made a friend again', AGAIN, 30],
    ])(
      'delivers a rename after which the user is %s in another transaction: that one waits',
      async (_what, write, before) => {
        if (before) await friendOf(bob, before);
        client = await settledClient(ann, NAMES);
        const [befriending, renaming] = writers;
        await renaming.query('BEGIN');
        await renaming.query(RENAME, [bob.id]);
        const befriended = await runUntilBlocked(app, befriending, write, [ann.id, bob.id]);
        await client.sync();
        await renaming.query('COMMIT');
        await befriended.done;
        await client.sync();
        expect(nameOf(client.state(), bob)).toBe('New name');
        expect(client.state()).toEqual(await fullState(ann, NAMES));
        expect(befriended.blocked).toBe(true);
      },
    );

    // guard sync-names-9: a rename writes friendships before memberships
    // migrations/0021_closings.up.sql
    // - CREATE TRIGGER users_touch_friendships AFTER UPDATE
    // + CREATE TRIGGER users_touch_other_friendships AFTER UPDATE
    it('writes friendships before memberships, like closing an account, so that the two never wait for each other', async () => {
      const groupId = `order-${ann.id}`;
      await insertGroup(app, groupId, [ann, bob]);
      await friendOf(bob);
      const [closing, renaming] = writers;
      await closing.query('BEGIN');
      await closing.query('UPDATE friendships SET status = 30 WHERE user_id = $1', [ann.id]);
      const renamed = await runUntilBlocked(app, renaming, RENAME, [bob.id]);
      expect(renamed.blocked).toBe(true);
      const passed = await runUntilBlocked(
        app,
        closing,
        'UPDATE group_members SET role = 0 WHERE group_id = $1 AND member_id = $2',
        [groupId, bob.id],
      );
      expect(passed.blocked).toBe(false);
      await passed.done;
      await closing.query('COMMIT');
      await renamed.done;
    });
  });
});

function nameOf({ friends }: SyncState, { id }: Person): string | undefined {
  return friends.find(({ friendId }) => friendId === id)?.user?.nickname;
}

/** Returns an answer's text without its version, which changes with every other write. */
function textOf(answer: { text: string } | undefined): string {
  return answer?.text.replace(/"version":\d+/, '"version":0') ?? '';
}
