import { gunzipSync } from 'node:zlib';
import { expectRefusal, post } from '../../support/calls';
import { insertAndSignIn, insertAndSignInAll, insertPerson, profileOf, type Person } from '../../support/people';
import { stage } from '../../support/stage';
import { readBytes, cookieFor, openAnswer } from '../../support/streams';
import {
  connectWriter,
  foldingClientOf,
  fullState,
  insertGroup,
  isEmpty,
  NAMES,
  settledClient,
  sync,
} from '../../support/sync';
import { until } from '../../support/until';

const anyVersion = expect.any(Number) as number;

describe('POST /user/sync/:version', () => {
  const { app, ann } = stage({ people: 1 });
  let bob: Person;
  let cat: Person;
  beforeEach(async () => {
    bob = await insertPerson(app, 'Bob');
    cat = await insertPerson(app, 'Cat');
  });

  it('returns everything at version 0, with each field as specified', async () => {
    await app.db('users').where({ id: bob.id }).update({ portrait_uri: 'https://img.example/bob.png' });
    await app.db('blacklist').insert({ user_id: ann.id, friend_id: cat.id });
    await befriend(ann, bob, { display_name: 'Bobby', status: 20 });
    const groupId = `all-${ann.id}`;
    await insertGroup(app, groupId, [bob, ann]);
    await app.db('groups').where({ id: groupId }).update({ portrait_uri: 'https://img.example/group.png' });
    await app.db('group_members').where({ group_id: groupId, member_id: bob.id }).update({ display_name: 'The boss' });

    const answer = await post(ann.agent, '/user/sync/0');

    const group = { id: groupId, name: `Group ${groupId}`, portraitUri: 'https://img.example/group.png' };
    expect(answer.body).toStrictEqual({
      code: 200,
      result: {
        version: anyVersion,
        user: { ...profileOf(ann), timestamp: anyVersion },
        blacklist: [{ friendId: cat.id, status: true, timestamp: anyVersion }],
        friends: [{ friendId: bob.id, displayName: 'Bobby', status: 20, timestamp: anyVersion }],
        groups: [{ displayName: '', role: 1, isDeleted: false, group: { ...group, timestamp: anyVersion } }],
        group_members: expect.arrayContaining([
          member(groupId, ann, { role: 1 }),
          member(groupId, bob, { role: 0, displayName: 'The boss', portraitUri: 'https://img.example/bob.png' }),
        ]) as unknown,
      },
    });
    expect((await sync(ann)).group_members).toHaveLength(2);
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8' });
  });

  it('returns empty lists, never null, to a user without relations', async () => {
    const { version, user } = await sync(ann);
    const lists = { blacklist: [], friends: [], groups: [], group_members: [] };
    expect(await sync(ann)).toStrictEqual({ version: anyVersion, user, ...lists });
    expect(user).toStrictEqual({ ...profileOf(ann), timestamp: anyVersion });
    expect([version, user.timestamp].every(Number.isSafeInteger)).toBe(true);
  });

  it('takes each timestamp from its own row', async () => {
    await app.db('blacklist').insert({ user_id: ann.id, friend_id: cat.id });
    await befriend(ann, bob);
    const groupId = `stamps-${ann.id}`;
    await insertGroup(app, groupId, [ann]);

    const { user, blacklist, friends, groups, group_members } = await sync(ann);

    expect(user.timestamp).toBe(await versionOf('users', { id: ann.id }));
    expect(blacklist[0]?.timestamp).toBe(await versionOf('blacklist', { user_id: ann.id }));
    expect(friends[0]?.timestamp).toBe(await versionOf('friendships', { user_id: ann.id }));
    expect(groups[0]?.group.timestamp).toBe(await versionOf('groups', { id: groupId }));
    expect(group_members[0]?.timestamp).toBe(await versionOf('group_members', { group_id: groupId }));
  });

  it('returns only what has changed since the version of an earlier answer, and always the user', async () => {
    await befriend(ann, bob);
    const client = await settledClient(ann);
    await befriend(ann, cat);

    const { friends, user } = await client.sync();

    expect(friends.map(({ friendId }) => friendId)).toEqual([cat.id]);
    expect(user.id).toBe(ann.id);
    expect(client.state().friends).toHaveLength(2);
  });

  it('returns no rows when nothing has changed', async () => {
    await befriend(ann, bob);
    await insertGroup(app, `quiet-${ann.id}`, [ann, bob]);
    const client = await settledClient(ann);

    const before = client.version;
    expect(isEmpty(await client.sync())).toBe(true);
    expect(client.version).toBeGreaterThanOrEqual(before);
    expect(client.state()).toEqual(await fullState(ann));
  });

  it("returns what the service's operations have written", async () => {
    const client = await settledClient(ann);
    await post(ann.agent, '/user/add_to_blacklist', { friendId: bob.id });
    await post(ann.agent, '/user/set_nickname', { nickname: 'Anna' });
    expect((await client.sync()).blacklist).toMatchObject([{ friendId: bob.id, status: true }]);
    expect(client.state().user?.nickname).toBe('Anna');
    await post(ann.agent, '/user/remove_from_blacklist', { friendId: bob.id });
    expect((await client.sync()).blacklist).toMatchObject([{ friendId: bob.id, status: false }]);
  });

  it.each([
    '-1',
    '1.5',
    'abc',
    '9007199254740992',
    '9'.repeat(30),
    '0x10',
    '1e3',
    '%201',
    '1%20',
    '+1',
    'NaN',
    '%00',
    '١',
  ])('refuses the version %s with 400', async (version) => {
    expectRefusal(await post(ann.agent, `/user/sync/${version}`), 400, 'version');
  });

  it('refuses a blank version with 400; a path without any is another one', async () => {
    expectRefusal(await post(ann.agent, '/user/sync/%20'), 400, 'version');
    expectRefusal(await post(ann.agent, '/user/sync/'), 404);
  });

  it('refuses a caller without a session with 401, whatever the version', async () => {
    expectRefusal(await post(app.api, '/user/sync/0'), 401);
    expectRefusal(await post(app.api, '/user/sync/abc'), 401);
  });

  it('returns nothing that belongs to other users', async () => {
    const dan = await insertPerson(app, 'Dan');
    await befriend(bob, dan);
    await app.db('blacklist').insert({ user_id: bob.id, friend_id: ann.id });
    await insertGroup(app, `others-${ann.id}`, [bob, dan]);
    expect(isEmpty(await sync(ann))).toBe(true);
  });

  describe('tells an up-to-date client what has ended', () => {
    it('on the blacklist with status false', async () => {
      await app.db('blacklist').insert({ user_id: ann.id, friend_id: bob.id });
      const client = await settledClient(ann);
      await app.db('blacklist').where({ user_id: ann.id, friend_id: bob.id }).delete();
      expect((await client.sync()).blacklist).toStrictEqual([
        { friendId: bob.id, status: false, timestamp: anyVersion },
      ]);
    });

    it('among friends with status 30', async () => {
      await befriend(ann, bob, { display_name: 'Bobby' });
      const client = await settledClient(ann);
      await app.db('friendships').where({ user_id: ann.id, friend_id: bob.id }).delete();
      expect((await client.sync()).friends).toStrictEqual([
        { friendId: bob.id, displayName: 'Bobby', status: 30, timestamp: anyVersion },
      ]);
    });

    it("in the user's own memberships and the members of their groups with isDeleted", async () => {
      const [mine, theirs] = [`mine-${ann.id}`, `theirs-${ann.id}`];
      await insertGroup(app, mine, [ann, bob]);
      await insertGroup(app, theirs, [cat, ann]);
      const client = await settledClient(ann);
      await app.db('group_members').where({ group_id: mine, member_id: bob.id }).delete();
      await app.db('group_members').where({ group_id: theirs, member_id: ann.id }).update({ is_deleted: true });

      const { groups, group_members } = await client.sync();

      expect(groups).toMatchObject([{ isDeleted: true, group: { id: theirs } }]);
      expect(group_members).toStrictEqual([member(mine, { ...bob, nickname: '' }, { isDeleted: true })]);
      expect(client.state().groups.map(({ members }) => members.map(({ memberId }) => memberId))).toEqual([[ann.id]]);
    });
  });

  // guard sync-3: a full sync has no ended membership
  // src/features/sync/sync-groups.ts
  // - AND (:since::bigint > 0 OR NOT ${IS_OUT})
  // guard sync-4: a full sync has no ended friendship
  // src/features/sync/sync-relations.ts
  // - AND (status <> 30 OR :since::bigint > 0)
  // guard sync-5: a full sync has no ended entry of the blacklist
  // src/features/sync/sync-relations.ts
  // - AND (status OR :since::bigint > 0)
  it.each([undefined, NAMES])('does not tell a client that begins with 0 what has ended: %j', async (asked) => {
    await app.db('blacklist').insert({ user_id: ann.id, friend_id: bob.id });
    await befriend(ann, bob, {});
    const [left, dismissed] = [`ended-left-${ann.id}`, `ended-dismissed-${ann.id}`];
    await insertGroup(app, left, [bob, ann]);
    await insertGroup(app, dismissed, [ann, bob]);
    const client = await settledClient(ann, asked);
    await app.db('blacklist').where({ user_id: ann.id }).delete();
    await app.db('friendships').where({ user_id: ann.id }).delete();
    await leave(left, ann);
    await app.db('groups').where({ id: dismissed }).update({ dismissed_at: new Date() });
    const ended = async (since: number) => {
      const { blacklist, friends, groups } = await sync(ann, since, asked);
      return [blacklist.length, friends.length, groups.length];
    };
    // The rows of the group say so later.
    for (const sweep of [false, true]) {
      if (sweep) await app.sweep();
      expect(await ended(0)).toEqual([0, 0, 0]);
      expect(await ended(client.version)).toEqual([1, 1, 2]);
      // With a version from an earlier life of the database, a client may hold everything, and is told.
      expect(await ended(Number.MAX_SAFE_INTEGER)).toEqual([1, 1, 2]);
    }
    // A client that holds everything and begins with 0 again ends with the present state.
    client.version = 0;
    await client.sync();
    expect(client.state()).toMatchObject({ blacklist: [], friends: [], groups: [] });
  });

  it('leaves out ended memberships of others at version 0, where the client holds nothing to delete', async () => {
    const groupId = `tombs-${ann.id}`;
    await insertGroup(app, groupId, [ann, bob]);
    const { version } = await settledClient(ann);
    await leave(groupId, bob);
    expect((await sync(ann)).group_members.map(({ memberId }) => memberId)).toEqual([ann.id]);
    expect((await sync(ann, version)).group_members).toMatchObject([{ memberId: bob.id, isDeleted: true }]);
  });

  it('returns all members of a newly joined group, however old their memberships', async () => {
    const groupId = `joined-${ann.id}`;
    await insertGroup(app, groupId, [bob, cat]);
    const old = (await versionOf('group_members', { group_id: groupId, member_id: bob.id })) ?? 0;
    const client = foldingClientOf(ann);
    await until(async () => (await client.sync()).version >= old);
    await app.db('group_members').insert({ group_id: groupId, member_id: ann.id });

    const { group_members } = await client.sync();

    expect(group_members.map(({ memberId }) => memberId).sort()).toEqual([ann.id, bob.id, cat.id].sort());
    expect(group_members.find(({ memberId }) => memberId === bob.id)?.timestamp).toBe(old);
  });

  it('removes members who left while the user was out of the group too', async () => {
    const groupId = `back-${ann.id}`;
    await insertGroup(app, groupId, [bob, cat, ann]);
    const client = await settledClient(ann);
    await leave(groupId, ann);
    await leave(groupId, cat);
    await app.db('group_members').where({ group_id: groupId, member_id: ann.id }).update({ is_deleted: false });

    await client.sync();

    expect(client.state()).toEqual(await fullState(ann));
    expect(client.state().groups[0]?.members.map(({ memberId }) => memberId)).toEqual([ann.id, bob.id].sort());
  });

  it('returns no members of a group that the user left, and all of them when the user comes back', async () => {
    const groupId = `left-${ann.id}`;
    await insertGroup(app, groupId, [bob, cat, ann]);
    const client = await settledClient(ann);
    await leave(groupId, ann);
    expect((await client.sync()).group_members).toEqual([]);
    expect(client.state().groups).toEqual([]);
    await app.db('group_members').where({ group_id: groupId, member_id: ann.id }).update({ is_deleted: false });
    await client.sync();
    expect(client.state()).toEqual(await fullState(ann));
    expect(client.state().groups[0]?.members).toHaveLength(3);
  });

  it("delivers a group's new name and portrait to every member, without the members", async () => {
    const groupId = `named-${ann.id}`;
    await insertGroup(app, groupId, [bob, ann]);
    const client = await settledClient(ann);
    await app
      .db('groups')
      .where({ id: groupId })
      .update({ name: 'Renamed', portrait_uri: 'https://img.example/g.png' });

    const { groups, group_members } = await client.sync();

    const group = { id: groupId, name: 'Renamed', portraitUri: 'https://img.example/g.png', timestamp: anyVersion };
    expect(groups).toStrictEqual([{ displayName: '', role: 1, isDeleted: false, group }]);
    expect(group_members).toEqual([]);
  });

  describe('hides from a former member of a group', () => {
    // guard sync-1: a former member of a group learns nothing new of it
    // src/features/sync/sync-groups.ts
    // - me.member_id = :userId AND NOT me.is_deleted AND
    // + me.member_id = :userId AND
    it('its new name and portrait, however often they change', async () => {
      const groupId = `out-${ann.id}`;
      await insertGroup(app, groupId, [bob, ann]);
      await leave(groupId, ann);
      const client = await settledClient(ann);
      await app
        .db('groups')
        .where({ id: groupId })
        .update({ name: 'Secret', portrait_uri: 'https://img.example/s.png' });
      expect((await client.sync()).groups).toEqual([]);
    });

    it('its name and portrait in the row that reports the end', async () => {
      const groupId = `ended-${ann.id}`;
      await insertGroup(app, groupId, [bob, ann]);
      const { version } = await settledClient(ann);
      await leave(groupId, ann);
      await app
        .db('groups')
        .where({ id: groupId })
        .update({ name: 'Secret', portrait_uri: 'https://img.example/s.png' });
      // That row does not change with the group either.
      const ended = await versionOf('group_members', { group_id: groupId, member_id: ann.id });
      const group = { id: groupId, name: '', portraitUri: '', timestamp: ended };
      for (const since of [1, version])
        expect((await sync(ann, since)).groups).toStrictEqual([{ displayName: '', role: 1, isDeleted: true, group }]);
    });

    it('its name until the user comes back, and then shows the present one', async () => {
      const groupId = `again-${ann.id}`;
      await insertGroup(app, groupId, [bob, ann]);
      await leave(groupId, ann);
      const client = await settledClient(ann);
      await app.db('groups').where({ id: groupId }).update({ name: 'Renamed' });
      await client.sync();
      await app.db('group_members').where({ group_id: groupId, member_id: ann.id }).update({ is_deleted: false });
      expect((await client.sync()).groups).toMatchObject([{ isDeleted: false, group: { name: 'Renamed' } }]);
      expect(client.state()).toEqual(await fullState(ann));
    });
  });

  // guard sync-2: a member who has left is shown without a profile
  // src/features/sync/sync-groups.ts
  // - joinNames('m.member_id', 'NOT m.is_deleted')
  // + joinNames('m.member_id')
  // guard sync-7: a member who has left a group is reported without a role and a name there
  // src/features/sync/sync-groups.ts
  // - CASE WHEN m.is_deleted THEN '' ELSE m.display_name END
  // + m.display_name
  it('hides the profile and role of a member who has left, also in many chunks', async () => {
    const [few, many] = [`few-${ann.id}`, `many-${ann.id}`];
    await insertGroup(app, few, [ann, bob]);
    const crowd = Array.from({ length: 250 }, (_, index) => ({ id: `left${index}-${ann.id}`, nickname: 'Crowd' }));
    await app.db('users').insert(crowd);
    await insertGroup(app, many, [ann, ...crowd]);
    const { version } = await settledClient(ann);
    await app.db('users').where({ id: bob.id }).update({ portrait_uri: 'https://img.example/bob.png' });
    await app
      .db('group_members')
      .where({ group_id: few, member_id: bob.id })
      .update({ display_name: 'Chief', role: 0 });
    await leave(few, bob);
    const one = (await sync(ann, version)).group_members;
    expect(one).toStrictEqual([member(few, { ...bob, nickname: '' }, { isDeleted: true })]);
    await app.db('group_members').where({ group_id: many }).andWhereNot({ member_id: ann.id }).delete();
    const all = (await sync(ann, version)).group_members;
    expect(all).toHaveLength(251);
    expect(new Set(all.map(({ user }) => JSON.stringify(user)))).toEqual(new Set(['{"nickname":"","portraitUri":""}']));
  });

  it('does not return a group again when a write changes nothing', async () => {
    const groupId = `same-${ann.id}`;
    await insertGroup(app, groupId, [ann]);
    const client = await settledClient(ann);
    await app
      .db('groups')
      .where({ id: groupId })
      .update({ name: `Group ${groupId}`, creator_id: ann.id });
    expect(isEmpty(await client.sync())).toBe(true);
  });

  it.each([
    ['nickname', '/user/set_nickname', { nickname: 'Annabel' }],
    ['portraitUri', '/user/set_portrait_uri', { portraitUri: 'https://img.example/ann.png' }],
  ])('delivers a changed %s to users who share a group, and to nobody else', async (_field, path, change) => {
    const [dan, eve, fay] = await insertAndSignInAll(app, 'Dan', 'Eve', 'Fay');
    const [shared, past] = [`shared-${ann.id}`, `past-${ann.id}`];
    await insertGroup(app, shared, [dan, ann]);
    await insertGroup(app, past, [eve, ann]);
    await leave(past, ann);
    const clients = [await settledClient(dan), await settledClient(eve), await settledClient(fay)];

    await post(ann.agent, path, change);

    const answers = await Promise.all(clients.map((client) => client.sync()));
    expect(answers[0]?.group_members).toMatchObject([{ groupId: shared, memberId: ann.id, user: change }]);
    expect(answers.slice(1).map(isEmpty)).toEqual([true, true]);
  });

  it('tells nobody of a new password', async () => {
    const dan = await insertAndSignIn(app, 'Dan');
    await insertGroup(app, `secret-${ann.id}`, [ann, dan]);
    const client = await settledClient(dan);
    const before = await versionOf('users', { id: ann.id });
    const change = { oldPassword: ann.password, newPassword: `${ann.password}x` };
    expect((await post(ann.agent, '/user/change_password', change)).status).toBe(200);
    expect(isEmpty(await client.sync())).toBe(true);
    expect(await versionOf('users', { id: ann.id })).toBe(before);
  });

  it('returns everything to a client with a version from the future: it comes from another life of the database', async () => {
    await befriend(ann, bob);
    const future = Date.now() * 1_000 + 60_000_000;
    const { friends, version } = await sync(ann, future);
    expect(friends).toHaveLength(1);
    expect(version).toBeLessThan(future);
    expect((await sync(ann, Number.MAX_SAFE_INTEGER)).friends).toHaveLength(1);
  });

  // guard sync-6: a client from another life of the database learns what has ended
  // src/features/sync/sync-service.ts
  // - known > clock ? 1 : known
  // + known > clock ? 0 : known
  it('also tells such a client what has ended, for it may hold rows', async () => {
    const [ann, bob] = [await insertAndSignIn(app, 'Ann'), await insertPerson(app, 'Bob')];
    await insertGroup(app, `future-${ann.id}`, [ann, bob]);
    const client = foldingClientOf(ann);
    await client.sync();
    await app.db('group_members').where({ member_id: bob.id }).delete();
    client.version = Number.MAX_SAFE_INTEGER;
    await client.sync();
    expect(client.state()).toEqual(await fullState(ann));
    expect(client.state().groups.flatMap(({ members }) => members)).toHaveLength(1);
    expect(client.version).toBeLessThan(Date.now() * 1_000);
  });

  it('treats a version between the horizon and the clock like any other', async () => {
    await befriend(ann, bob);
    const client = foldingClientOf(ann);
    // Holds the horizon back.
    const writer = await connectWriter(app);
    await writer.query('BEGIN');
    await writer.query(`UPDATE users SET nickname = 'Other' WHERE id = $1`, [bob.id]);
    await client.sync();
    const { rows } = await app.db.raw<{ rows: { clock: number }[] }>('SELECT sync_clock() AS clock');
    const between = rows[0]?.clock ?? 0;
    expect(between).toBeGreaterThan(client.version);
    const answer = await sync(ann, between);
    expect(isEmpty(answer)).toBe(true);
    expect(answer.version).toBeLessThan(between);
    await writer.end();
  });

  it('sends gzip to clients that accept it, and plain JSON to others, with the same content', async () => {
    const people = await Promise.all(Array.from({ length: 20 }, (_, index) => insertPerson(app, `Person ${index}`)));
    await app.db('friendships').insert(people.map(({ id }) => ({ user_id: ann.id, friend_id: id, status: 20 })));
    const cookie = await cookieFor(app, ann);
    const answer = (version: number, headers = {}) =>
      openAnswer(app, `/user/sync/${version}`, { ...cookie, ...headers });

    const plain = await answer(0);
    const zipped = await answer(0, { 'Accept-Encoding': 'gzip, deflate, br' });
    const refusing = await answer(0, { 'Accept-Encoding': 'gzip;q=0' });

    expect(zipped.headers['content-encoding']).toBe('gzip');
    for (const { headers } of [plain, refusing]) expect(headers['content-encoding']).toBeUndefined();
    for (const { headers } of [plain, zipped, refusing]) expect(headers.vary).toContain('Accept-Encoding');
    const text = withoutVersion(await readBytes(plain));
    expect(withoutVersion(gunzipSync(await readBytes(zipped)))).toEqual(text);
    expect(withoutVersion(await readBytes(refusing))).toEqual(text);
  });

  function befriend(user: { id: string }, friend: { id: string }, columns: object = {}) {
    return app.db('friendships').insert({ user_id: user.id, friend_id: friend.id, status: 20, ...columns });
  }

  function leave(groupId: string, person: { id: string }) {
    return app.db('group_members').where({ group_id: groupId, member_id: person.id }).delete();
  }

  async function versionOf(table: string, key: object): Promise<number | undefined> {
    return (await app.db(table).where(key).first<{ version: number } | undefined>('version'))?.version;
  }
});

function member(groupId: string, person: { id: string; nickname: string }, differing: Record<string, unknown> = {}) {
  const { portraitUri = '', ...columns } = differing;
  return {
    groupId,
    memberId: person.id,
    displayName: '',
    role: 1,
    isDeleted: false,
    timestamp: anyVersion,
    user: { nickname: person.nickname, portraitUri },
    ...columns,
  };
}

function withoutVersion(bytes: Buffer): unknown {
  const { result } = JSON.parse(bytes.toString()) as { result: object };
  return { ...result, version: 0 };
}
