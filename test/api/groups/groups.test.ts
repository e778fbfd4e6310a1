import { fixedWords } from '../../../src/http/operations-router';
import {
  countCodes,
  expectBody,
  expectRefusal,
  post,
  retryAfterOf,
  inParallel,
  type Answer,
} from '../../support/calls';
import {
  befriend,
  createGroup,
  CREATOR,
  expectWholeGroup,
  idsOf,
  callGroup,
  MANAGER,
  MEMBER,
  rolesIn,
} from '../../support/groups';
import { OPERATIONS } from '../../support/operations';
import { expectOk, field, insertAndSignIn, insertPerson, signIn, type SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';
import { insertGroup, settledClient } from '../../support/sync';
import { whileHeld } from '../../support/waiting';

const NOBODY = 'abcdefghijkl';

const { app, instance, ann, bob, cat } = stage({ people: 3 });

const resultOf = ({ status, body }: Answer) => {
  expect(status).toBe(200);
  return field(body, 'result');
};
const detailsOf = ({ body }: Answer) => field(body, 'details') as { path: string; message: string }[];

describe('POST /user/groups', () => {
  it('returns an empty list to a user without groups', async () => {
    expect(await expectOk(ann.agent.post('/user/groups'))).toEqual({ code: 200, result: [] });
  });

  it("lists id, name, portraitUri, creatorId and memberCount of the user's present groups", async () => {
    const creator = await insertPerson(app);
    const gone = await insertPerson(app);
    await app.db('groups').insert([
      { id: 'g-1', name: 'One', portrait_uri: 'https://a.b/1.png', creator_id: creator.id },
      { id: 'g-2', name: 'Left', creator_id: creator.id },
      { id: 'g-3', name: 'Never joined', creator_id: creator.id },
      { id: 'g-4', name: 'Dismissed', creator_id: ann.id },
    ]);
    const member = (group_id: string, member_id: string, is_deleted = false) => ({ group_id, member_id, is_deleted });
    await app
      .db('group_members')
      .insert([
        member('g-1', ann.id),
        member('g-1', creator.id),
        member('g-1', gone.id, true),
        member('g-2', ann.id, true),
        member('g-2', creator.id),
        member('g-3', creator.id),
        member('g-4', ann.id),
      ]);
    await app.db('groups').where({ id: 'g-4' }).update({ dismissed_at: new Date() });
    expect((await expectOk(ann.agent.post('/user/groups'))).result).toEqual([
      { id: 'g-1', name: 'One', portraitUri: 'https://a.b/1.png', creatorId: creator.id, memberCount: 2 },
    ]);
  });

  it('needs a session', async () => {
    expect((await app.api.post('/user/groups')).status).toBe(401);
  });
});

describe('POST /group/create', () => {
  it('makes a group of the user and friends, which sync tells each of them', async () => {
    await befriend(app, ann, [bob, cat]);
    const clients = [await settledClient(bob), await settledClient(ann)];
    const portraitUri = 'https://a.b/hikers.png';
    const body = { name: 'Hikers', memberIds: [bob.id, cat.id], portraitUri };
    const id = String(field(resultOf(await callGroup(ann, 'create', body)), 'id'));
    expect(id).toMatch(/^[A-Za-z0-9]{12}$/);
    expect(await rolesIn(app, id)).toEqual({ [ann.id]: CREATOR, [bob.id]: MEMBER, [cat.id]: MEMBER });
    await expectWholeGroup(app, id);
    for (const client of clients) {
      await client.sync();
      expect(client.state().groups).toMatchObject([
        { group: { id, name: 'Hikers', portraitUri }, members: [{}, {}, {}] },
      ]);
    }
  });

  it('makes a group of only the user, without a portrait; the user and repeated memberIds count once', async () => {
    await befriend(app, ann, [bob]);
    const id = await createGroup(app, [ann]);
    expect(await rolesIn(app, id)).toEqual({ [ann.id]: CREATOR });
    expect(resultOf(await callGroup(ann, id))).toMatchObject({ portraitUri: '', memberCount: 1 });
    const memberIds = [bob.id, ann.id, bob.id];
    const other = resultOf(await callGroup(ann, 'create', { name: 'Two', memberIds }));
    expect(await rolesIn(app, String(field(other, 'id')))).toEqual({ [ann.id]: CREATOR, [bob.id]: MEMBER });
  });

  // guard groups-8: an added member must be a friend on both sides
  // src/features/groups/memberships-repository.ts
  // - idsOf(await befriendersAmong(this.db, { userId, ids: own }))
  // + own
  // guard groups-9: a friend whom the user has deleted cannot be added
  // src/features/groups/memberships-repository.ts
  // - idsOf(await ownFriendsAmong(this.db, { userId, ids }))
  // + ids
  it('names each id that is not a friend on both sides, and makes nothing', async () => {
    const [dan, eve] = [await insertPerson(app), await insertPerson(app)];
    await befriend(app, ann, [bob, cat, dan, eve]);
    await app.db('friendships').where({ user_id: cat.id, friend_id: ann.id }).update({ status: 30 });
    await app.db('friendships').where({ user_id: ann.id, friend_id: dan.id }).update({ status: 30 });
    await app.db('users').where({ id: eve.id }).update({ closed_at: new Date() });
    const memberIds = [bob.id, cat.id, NOBODY, dan.id, eve.id];
    const answer = await callGroup(ann, 'create', { name: 'Hikers', memberIds });
    expectRefusal(answer, 400, 'not your friend');
    expect(detailsOf(answer).map(({ path }) => path)).toEqual([1, 2, 3, 4].map((index) => `memberIds.${index}`));
    for (const [index, id] of [cat.id, NOBODY, dan.id, eve.id].entries())
      expect(detailsOf(answer)[index]?.message).toContain(id);
    expect(resultOf(await post(ann.agent, '/user/groups'))).toEqual([]);
    expect(await app.db('groups').where({ creator_id: ann.id })).toEqual([]);
  });

  it.each([
    ['an empty name', { name: '' }, 'name'],
    ['a name of 33 characters', { name: `${'🙂'.repeat(32)}x` }, 'name'],
    ['a name with a line break', { name: 'a\nb' }, 'name'],
    ['a name with an escape', { name: '\u001b[31mred' }, 'name'],
    ['a name with an override', { name: '\u202Egnp.exe' }, 'name'],
    ['500 others', { memberIds: Array.from({ length: 500 }, (_, index) => `u${index}`) }, 'memberIds'],
    ['memberIds that are not an array', { memberIds: NOBODY }, 'memberIds'],
    ['missing memberIds', { memberIds: undefined }, 'memberIds'],
    ['an invalid id', { memberIds: ['a/b'] }, 'memberIds.0'],
    ['a portrait that is not an address', { portraitUri: 'portrait.png' }, 'portraitUri'],
  ])('refuses %s', async (_what, fields, path) => {
    const answer = await callGroup(ann, 'create', { name: 'Hikers', memberIds: [], ...fields });
    expectRefusal(answer, 400, path);
    expect(detailsOf(answer).map((detail) => detail.path)).toEqual([path]);
  });

  it('shares its path with fixed words, and no group id can equal one in any case', async () => {
    const words = fixedWords(OPERATIONS, 'group');
    expect(words).toHaveLength(13);
    for (const id of [...words, ...words.map((word) => word.toUpperCase())])
      await expect(app.db('groups').insert({ id, name: 'x', creator_id: ann.id })).rejects.toThrow('groups_id_no_path');
  });
});

describe('POST /group/:id', () => {
  it('returns the group to a member', async () => {
    const id = await createGroup(app, [ann, bob]);
    expectBody(await callGroup(bob, id), {
      code: 200,
      result: {
        id,
        name: 'Hiking club',
        portraitUri: '',
        creatorId: ann.id,
        memberCount: 2,
        maxMemberCount: 500,
        bulletin: '',
        bulletinUpdatedAt: null,
        dismissedAt: null,
      },
    });
  });

  // guard groups-1: a group is shown only to its members
  // src/features/groups/groups-repository.ts
  // - AND (NOT me.is_deleted OR me.ending = 'dismissed')
  it('answers 404 to others, as for a group that does not exist', async () => {
    const id = await createGroup(app, [ann, bob]);
    expectRefusal(await callGroup(cat, id), 404, 'your groups');
    expectRefusal(await callGroup(cat, NOBODY), 404, 'your groups');
    expectBody(await callGroup(bob, 'quit', { groupId: id }), { code: 200 });
    expectRefusal(await callGroup(bob, id), 404, 'your groups');
    expectRefusal(await post(app.api, `/group/${id}`), 401);
  });
});

describe('POST /group/:id/members', () => {
  it('lists the members in the order of their ids', async () => {
    const groupId = await createGroup(app, [ann, bob, cat]);
    await expectOk(cat.agent.post('/group/quit').send({ groupId }));
    await expectOk(bob.agent.post('/group/set_display_name').send({ groupId, displayName: 'Bobby' }));
    const anyTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/) as string;
    const times = { createdAt: anyTime, updatedAt: anyTime };
    const user = ({ id, nickname }: SignedInPerson) => ({ id, nickname, portraitUri: '' });
    const members = [
      { displayName: '', role: CREATOR, ...times, user: user(ann) },
      { displayName: 'Bobby', role: MEMBER, ...times, user: user(bob) },
    ].sort((a, b) => (a.user.id < b.user.id ? -1 : 1));
    expectBody(await callGroup(ann, `${groupId}/members`), { code: 200, result: members });
  });

  it('returns when each member joined, and when the membership was last changed', async () => {
    const groupId = await createGroup(app, [ann, bob]);
    const before = '2020-01-02T03:04:05.678Z';
    await app.db('group_members').where({ member_id: bob.id }).update({ joined_at: before, updated_at: before });
    const mine = async () => {
      const list = resultOf(await callGroup(ann, `${groupId}/members`)) as { user: { id: string } }[];
      return list.find(({ user }) => user.id === bob.id);
    };
    expect(await mine()).toMatchObject({ createdAt: before, updatedAt: before });
    await expectOk(bob.agent.post('/group/set_display_name').send({ groupId, displayName: 'Bobby' }));
    expect(await mine()).toMatchObject({ createdAt: before });
    expect(field(await mine(), 'updatedAt')).not.toBe(before);
    await expectOk(bob.agent.post('/group/quit').send({ groupId }));
    await expectOk(bob.agent.post('/group/join').send({ groupId }));
    expect(field(await mine(), 'createdAt')).not.toBe(before);
  });

  it('returns the last change as the join of memberships that are older than that column', async () => {
    const groupId = await createGroup(app, [ann]);
    await app.db('group_members').where({ group_id: groupId }).update({ joined_at: null });
    const [member] = resultOf(await callGroup(ann, `${groupId}/members`)) as object[];
    expect(field(member, 'createdAt')).toBe(field(member, 'updatedAt'));
  });

  // guard groups-2: the members of a group are shown only to its members
  // src/features/groups/groups-service.ts
  // - if (!roles.has(userId)) throw new NotFound('no_such_group', 'id: is not one of your groups');
  it('answers 404 to a caller who is not a member', async () => {
    const groupId = await createGroup(app, [ann, bob]);
    expectRefusal(await callGroup(cat, `${groupId}/members`), 404, 'your groups');
    expectRefusal(await callGroup(cat, `${NOBODY}/members`), 404, 'your groups');
  });
});

describe('POST /group/rename, /group/set_portrait_uri and /group/set_bulletin', () => {
  const CHANGES: [operation: string, fields: object, shown: object][] = [
    ['rename', { name: 'Climbers' }, { name: 'Climbers' }],
    ['set_portrait_uri', { portraitUri: 'https://a.b/c.png' }, { portraitUri: 'https://a.b/c.png' }],
    [
      'set_bulletin',
      { bulletin: 'Tomorrow at nine' },
      { bulletin: 'Tomorrow at nine', bulletinUpdatedAt: expect.any(String) as string },
    ],
  ];

  it.each(CHANGES)('%s changes only that, for the creator and managers', async (operation, fields, shown) => {
    for (const one of [ann, bob]) {
      const groupId = await createGroup(app, [ann, bob, cat]);
      await expectOk(ann.agent.post('/group/set_manager').send({ groupId, memberIds: [bob.id] }));
      const before = resultOf(await callGroup(cat, groupId)) as object;
      expectBody(await callGroup(one, operation, { groupId, ...fields }), { code: 200 });
      expect(resultOf(await callGroup(cat, groupId))).toEqual({ ...before, ...shown });
    }
  });

  it.each(CHANGES)('%s answers 403 to a plain member, and 404 to others', async (operation, fields) => {
    const groupId = await createGroup(app, [ann, bob]);
    const before = resultOf(await callGroup(ann, groupId));
    expectRefusal(await callGroup(bob, operation, { groupId, ...fields }), 403, 'a member of this group may not');
    expectRefusal(await callGroup(cat, operation, { groupId, ...fields }), 404, 'your groups');
    expectRefusal(await callGroup(ann, operation, { groupId: NOBODY, ...fields }), 404, 'your groups');
    expect(resultOf(await callGroup(ann, groupId))).toEqual(before);
  });

  it('rename and set_portrait_uri reach members by sync, with one row of the group and no memberships', async () => {
    const groupId = await createGroup(app, [ann, bob]);
    const client = await settledClient(bob);
    expectBody(await callGroup(ann, 'rename', { groupId, name: 'Climbers' }), { code: 200 });
    expect(await client.sync()).toMatchObject({
      groups: [{ role: MEMBER, isDeleted: false, group: { id: groupId, name: 'Climbers' } }],
      group_members: [],
    });
  });

  // guard groups-7: a new bulletin reaches members by sync
  // migrations/0020_circles.up.sql
  // - OLD.dismissed_at, OLD.bulletin)
  // + OLD.dismissed_at, NEW.bulletin)
  it('set_bulletin reaches members by sync, with one row of the group, and its time is shown', async () => {
    const groupId = await createGroup(app, [ann, bob]);
    const client = await settledClient(bob);
    const started = Date.now();
    expectBody(await callGroup(ann, 'set_bulletin', { groupId, bulletin: 'Tomorrow at nine' }), { code: 200 });
    expect(await client.sync()).toMatchObject({ groups: [{ group: { id: groupId } }], group_members: [] });
    const at = field(resultOf(await callGroup(bob, groupId)), 'bulletinUpdatedAt');
    expect(Math.abs(Date.parse(String(at)) - started)).toBeLessThan(60_000);
    // Setting the same bulletin again is not a change, and a new name does not change the bulletin's time.
    const upToDate = await settledClient(bob);
    expectBody(await callGroup(ann, 'set_bulletin', { groupId, bulletin: 'Tomorrow at nine' }), { code: 200 });
    expect((await upToDate.sync()).groups).toEqual([]);
    expectBody(await callGroup(ann, 'rename', { groupId, name: 'Climbers' }), { code: 200 });
    expect(field(resultOf(await callGroup(bob, groupId)), 'bulletinUpdatedAt')).toBe(at);
  });

  it('set_bulletin takes 1,024 characters in several lines and an empty text, and refuses others', async () => {
    const groupId = await createGroup(app, [ann]);
    for (const bulletin of [`${'🙂'.repeat(1_021)}\r\n\n`, ''])
      expectBody(await callGroup(ann, 'set_bulletin', { groupId, bulletin }), { code: 200 });
    for (const bulletin of ['x'.repeat(1_025), 'a\tb', '\u0007', '\u202E', '\u009b'])
      expectRefusal(await callGroup(ann, 'set_bulletin', { groupId, bulletin }), 400, 'bulletin');
    for (const name of ['🙂'.repeat(32), 'x'])
      expectBody(await callGroup(ann, 'rename', { groupId, name }), { code: 200 });
    for (const name of ['', '🙂'.repeat(33), 'a\nb', '\u202A'])
      expectRefusal(await callGroup(ann, 'rename', { groupId, name }), 400, 'name');
    expectRefusal(await callGroup(ann, 'set_portrait_uri', { groupId, portraitUri: 'ftp://a.b' }), 400, 'portraitUri');
  });

  // guard groups-15: a late rename does not change a dismissed group
  // src/features/groups/groups-repository.ts
  // - WHERE id = :groupId AND dismissed_at IS NULL`
  // + WHERE id = :groupId`
  // src/features/groups/groups-service.ts
  // - await memberships.lockAs(groupId, [userId], (roles) => asOneOf(roles.get(userId), CREATOR, MANAGER));
  it('change nothing in a group that is dismissed at the same time', async () => {
    const groupId = await createGroup(app, [ann, bob]);
    const rename = () => callGroup(ann, 'rename', { groupId, name: 'Too late' });
    await whileHeld(app, 'UPDATE groups SET dismissed_at = now() WHERE id = ?', [groupId], rename);
    expect(resultOf(await callGroup(bob, groupId))).toMatchObject({ name: 'Hiking club' });
    expectRefusal(await rename(), 404);
  });
});

describe('POST /group/set_display_name', () => {
  // guard groups-26: names of friends and groups are counted in characters
  // src/base/schemas.ts
  // - const { length } = Array.from(value);
  // + const { length } = value;
  it("changes the user's own name there, which sync tells the others", async () => {
    const groupId = await createGroup(app, [ann, bob]);
    const client = await settledClient(ann);
    for (const displayName of ['🙂'.repeat(32), '']) {
      expectBody(await callGroup(bob, 'set_display_name', { groupId, displayName }), { code: 200 });
      expect((await client.sync()).group_members).toMatchObject([{ memberId: bob.id, displayName }]);
    }
    for (const displayName of ['🙂'.repeat(33), 'a\nb', '\u202E'])
      expectRefusal(await callGroup(bob, 'set_display_name', { groupId, displayName }), 400, 'displayName');
  });

  it('answers 404 to a caller who is not a member', async () => {
    const groupId = await createGroup(app, [ann, bob]);
    await expectOk(bob.agent.post('/group/quit').send({ groupId }));
    for (const one of [bob, cat])
      expectRefusal(await callGroup(one, 'set_display_name', { groupId, displayName: 'x' }), 404, 'your groups');
  });
});

describe('groups with limits', () => {
  const create = (one: SignedInPerson, name = 'Hikers') => callGroup(one, 'create', { name, memberIds: [] });

  // guard groups-11: a user makes one group at a time
  // src/features/users/lock-open-users.ts
  // - closed_at IS NULL ORDER BY id FOR NO KEY UPDATE
  // + closed_at IS NULL ORDER BY id FOR SHARE
  it('GROUPS_PER_USER: limits the living groups a user has made, even when many are created at once', async () => {
    const [here, there] = [await instance({ GROUPS_PER_USER: '3' }), await instance({ GROUPS_PER_USER: '3' })];
    const me = await insertAndSignIn(here);
    const elsewhere = await signIn(there, me);
    const answers = await inParallel(10, (index) => create(index % 2 === 0 ? me : elsewhere));
    expect(countCodes(answers)).toEqual({ 200: 3, 1000: 7 });
    expectBody(await create(me), { code: 1000 });
    // A group that has passed to another creator counts until it is dismissed.
    const [groupId] = await app.db('groups').where({ creator_id: me.id }).pluck<string[]>('id');
    await expectOk(bob.agent.post('/group/join').send({ groupId }));
    await expectOk(me.agent.post('/group/transfer').send({ groupId, userId: bob.id }));
    expectBody(await create(me), { code: 1000 });
    await expectOk(bob.agent.post('/group/dismiss').send({ groupId }));
    expect((await create(me)).body).toMatchObject({ code: 200 });
    expectBody(await create(me), { code: 1000 });
  });

  // guard groups-5: an inherited or handed over group counts against the user who made it
  // src/features/groups/groups-repository.ts
  // - FROM groups WHERE made_by = :userId
  // + FROM groups WHERE creator_id = :userId
  // guard groups-6: a group that another service writes counts against its creator
  // migrations/0020_circles.up.sql
  // - coalesce(NEW.made_by, NEW.creator_id)
  // + coalesce(NEW.made_by, '')
  it('GROUPS_PER_USER: does not count inherited and handed over groups against their new creator', async () => {
    const me = await insertAndSignIn(await instance({ GROUPS_PER_USER: '2' }));
    const [inherited, handedOver] = [await createGroup(app, [ann, me]), await createGroup(app, [ann, me])];
    await insertGroup(app, `written-by-${me.id}`, [ann, me]);
    await expectOk(ann.agent.post('/group/quit').send({ groupId: inherited }));
    await expectOk(ann.agent.post('/group/transfer').send({ groupId: handedOver, userId: me.id }));
    expect(await app.db('groups').where({ creator_id: me.id })).toHaveLength(2);
    for (const code of [200, 200, 1000]) expect((await create(me)).body).toMatchObject({ code });
    // A group that another service writes counts against its creator.
    const other = await insertAndSignIn(await instance({ GROUPS_PER_USER: '1' }));
    await insertGroup(app, `written-by-${other.id}`, [other]);
    expectBody(await create(other), { code: 1000 });
  });

  // guard groups-3: a user cannot be added to more groups than allowed
  // src/features/groups/newcomers.ts
  // - await memberships.fullAmong(known, maxJoined)],
  // + []],
  // guard groups-4: a user cannot join more groups than allowed
  // src/features/groups/memberships-repository.ts
  // - SELECT id FROM me WHERE ${HAS_ROOM}
  // + SELECT id FROM me
  it('GROUPS_JOINED_PER_USER: limits groups that are joined, made and added to, even at once', async () => {
    const env = { GROUPS_JOINED_PER_USER: '3' };
    const [here, there] = [await instance(env), await instance(env)];
    const me = await insertAndSignIn(here);
    const elsewhere = await signIn(there, me);
    const adder = await insertAndSignIn(there);
    const groups = await Promise.all(Array.from({ length: 8 }, () => createGroup(app, [ann, adder])));
    await befriend(app, adder, [me]);
    const answers = await inParallel(24, (index) => {
      const [one, groupId] = [index % 2 === 0 ? me : elsewhere, groups[index % 8]];
      if (index < 8) return callGroup(one, 'join', { groupId });
      return index < 16 ? create(one) : callGroup(adder, 'add', { groupId, memberIds: [me.id] });
    });
    expect(await app.db('group_members').where({ member_id: me.id, is_deleted: false })).toHaveLength(3);
    expect(countCodes(answers)[1000]).toBeGreaterThan(0);

    const isIn = await app.db('group_members').where({ member_id: me.id }).pluck<string[]>('group_id');
    const groupId = groups.find((id) => !isIn.includes(id));
    expectBody(await callGroup(me, 'join', { groupId }), { code: 1000 });
    expectBody(await create(me), { code: 1000 });
    const maker = await insertAndSignIn(here);
    for (const one of [adder, maker]) await befriend(app, one, [cat, me]);
    const memberIds = [cat.id, me.id];
    for (const refused of [
      await callGroup(adder, 'add', { groupId, memberIds }),
      await callGroup(maker, 'create', { name: 'Hikers', memberIds }),
    ]) {
      expectRefusal(refused, 400, 'is in 3 groups already', 'member_full');
      expect(detailsOf(refused).map(({ path }) => path)).toEqual(['memberIds.1']);
    }
    // Joining again changes nothing, and leaving a group makes room.
    expectBody(await callGroup(me, 'join', { groupId: isIn[0] }), { code: 200 });
    expectBody(await callGroup(me, 'quit', { groupId: isIn[0] }), { code: 200 });
    expectBody(await callGroup(me, 'join', { groupId }), { code: 200 });
  });

  // guard groups-10: the groups made per user and day are limited
  // src/features/groups/groups-router.ts
  // - 'groupsCreatedPerDay',
  it('GROUPS_CREATED_PER_USER_DAY: limits creations per day, successful or not', async () => {
    const me = await insertAndSignIn(await instance({ GROUPS_CREATED_PER_USER_DAY: '3' }));
    expectRefusal(await create(me, ''), 400);
    expectRefusal(await callGroup(me, 'create', { name: 'Hikers', memberIds: [NOBODY] }), 400);
    const answers = await inParallel(5, () => create(me));
    expect(countCodes(answers)).toEqual({ 200: 2, 429: 3 });
    for (const refused of answers.filter(({ status }) => status === 429))
      expect(retryAfterOf(refused)).toBeGreaterThan(80_000);
  });

  // guard groups-12: a new group is not larger than a group may be
  // src/features/groups/groups-service.ts
  // - if (others.length >= maxMembers) throw
  // + if (others.length > maxMembers) throw
  it('GROUP_MAX_MEMBERS: answers 400 for more members, counting the creator', async () => {
    const there = await instance({ GROUP_MAX_MEMBERS: '2' });
    const me = await insertAndSignIn(there);
    await befriend(app, me, [bob, cat]);
    expectRefusal(await callGroup(me, 'create', { name: 'Hikers', memberIds: idsOf([bob, cat]) }), 400, '2 members');
    const made = resultOf(await callGroup(me, 'create', { name: 'Hikers', memberIds: [bob.id] }));
    expect(resultOf(await callGroup(me, String(field(made, 'id'))))).toMatchObject({
      memberCount: 2,
      maxMemberCount: 2,
    });
  });

  it('GROUP_ADD=anyone: adds any user with an open account', async () => {
    const there = await instance({ GROUP_ADD: 'anyone' });
    const me = await insertAndSignIn(there);
    const made = resultOf(await callGroup(me, 'create', { name: 'Hikers', memberIds: [bob.id] }));
    expect(await rolesIn(app, String(field(made, 'id')))).toEqual({ [me.id]: CREATOR, [bob.id]: MEMBER });
    await app.db('users').where({ id: cat.id }).update({ closed_at: new Date() });
    const answer = await callGroup(me, 'create', { name: 'Hikers', memberIds: [bob.id, cat.id, NOBODY] });
    expectRefusal(answer, 400, 'is not a user');
    expect(detailsOf(answer).map(({ path }) => path)).toEqual(['memberIds.1', 'memberIds.2']);
  });

  it('PORTRAIT_HOSTS: a group may have no portrait, from the beginning or later', async () => {
    const me = await insertAndSignIn(await instance({ PORTRAIT_HOSTS: 'img.example' }));
    const made = await callGroup(me, 'create', { name: 'Hikers', memberIds: [], portraitUri: '' });
    const groupId = String(field(resultOf(made), 'id'));
    for (const portraitUri of ['https://img.example/p.png', '']) {
      expectBody(await callGroup(me, 'set_portrait_uri', { groupId, portraitUri }), { code: 200 });
      expect(resultOf(await callGroup(me, groupId))).toMatchObject({ portraitUri });
    }
  });

  // guard groups-13: the portrait of a new group must be on the hosts that the operator names
  // src/features/groups/groups-service.ts
  // - checkPortraitHost(this.portraits, portraitUri);
  // guard groups-14: the portrait of a group must be on the hosts that the operator names
  // src/features/groups/groups-service.ts
  // - checkPortraitHost(this.portraits, changes.portraitUri);
  it('PORTRAIT_HOSTS: a portrait must be on one of these hosts', async () => {
    const me = await insertAndSignIn(await instance({ PORTRAIT_HOSTS: 'img.example' }));
    const made = (host: string) =>
      callGroup(me, 'create', { name: 'Hikers', memberIds: [], portraitUri: `https://${host}/p.png` });
    expectRefusal(await made('tracker.example'), 400, 'portraitUri');
    const groupId = String(field(resultOf(await made('img.example')), 'id'));
    const portraitUri = 'https://tracker.example/p.png';
    expectRefusal(await callGroup(me, 'set_portrait_uri', { groupId, portraitUri }), 400, 'portraitUri');
  });
});

describe('a group written by another service', () => {
  // guard groups-21: the creator has no other role, no matter who writes
  // migrations/0018_groups.up.sql
  // - IF NEW.member_id = creator THEN
  // + IF false THEN
  // guard groups-22: only the creator has the creator's role, no matter who writes
  // migrations/0018_groups.up.sql
  // - ELSIF NEW.role = 0 THEN
  // + ELSIF false THEN
  it('has one creator, the one in its row, whatever roles are written', async () => {
    const groupId = `roles-${ann.id}`;
    await app.db('groups').insert({ id: groupId, name: 'Roles', creator_id: ann.id });
    const rows = [ann, bob, cat].map(({ id }, index) => ({
      group_id: groupId,
      member_id: id,
      role: index === 0 ? 1 : 0,
    }));
    await app.db('group_members').insert(rows);
    expect(await rolesIn(app, groupId)).toEqual({ [ann.id]: CREATOR, [bob.id]: MEMBER, [cat.id]: MEMBER });
    await app.db('group_members').where({ group_id: groupId }).update({ role: MANAGER });
    expect(await rolesIn(app, groupId)).toEqual({ [ann.id]: CREATOR, [bob.id]: MANAGER, [cat.id]: MANAGER });
    await app.db('groups').where({ id: groupId }).update({ creator_id: cat.id });
    expect(await rolesIn(app, groupId)).toEqual({ [ann.id]: MEMBER, [bob.id]: MANAGER, [cat.id]: CREATOR });
    await expectWholeGroup(app, groupId);
  });

  // guard groups-23: a group whose creator leaves passes on, no matter who writes
  // migrations/0018_groups.up.sql
  // - WHEN (OLD.role = 0 AND NOT OLD.is_deleted AND NEW.is_deleted) EXECUTE
  // + WHEN (OLD.role = 0 AND NOT OLD.is_deleted AND NEW.is_deleted AND false) EXECUTE
  // guard groups-24: a group whose new creator is not a member passes on
  // migrations/0018_groups.up.sql
  // - WHEN (NEW.creator_id <> OLD.creator_id) EXECUTE FUNCTION groups_pass_on()
  // + WHEN (NEW.creator_id <> OLD.creator_id AND false) EXECUTE FUNCTION groups_pass_on()
  it('passes to another member when its creator goes, or when its new creator is not a member', async () => {
    const groupId = `passes-${ann.id}`;
    await insertGroup(app, groupId, [ann, bob]);
    await app.db('group_members').where({ group_id: groupId, member_id: ann.id }).delete();
    expect(await rolesIn(app, groupId)).toEqual({ [bob.id]: CREATOR });
    await app.db('groups').where({ id: groupId }).update({ creator_id: cat.id });
    await expectWholeGroup(app, groupId);
    await app.db('group_members').where({ group_id: groupId, member_id: ann.id }).update({ is_deleted: false });
    expect(await rolesIn(app, groupId)).toEqual({ [ann.id]: MEMBER, [bob.id]: CREATOR });
    await expectWholeGroup(app, groupId);
  });

  // guard groups-25: a group passes on at the end of the transaction
  // migrations/0018_groups.up.sql
  // - CREATE CONSTRAINT TRIGGER groups_pass_on AFTER UPDATE ON groups DEFERRABLE INITIALLY DEFERRED FOR
  // + CREATE CONSTRAINT TRIGGER groups_pass_on AFTER UPDATE ON groups FOR
  it('takes a new creator who joins it in the same transaction', async () => {
    const groupId = `given-${ann.id}`;
    await insertGroup(app, groupId, [ann, bob]);
    await app.db.transaction(async (trx) => {
      await trx('group_members').where({ group_id: groupId, member_id: ann.id }).delete();
      await trx('groups').where({ id: groupId }).update({ creator_id: cat.id });
      await trx('group_members').insert({ group_id: groupId, member_id: cat.id });
    });
    expect(await rolesIn(app, groupId)).toEqual({ [bob.id]: MEMBER, [cat.id]: CREATOR });
  });

  // guard groups-17: new members are counted, no matter who writes
  // migrations/0018_groups.up.sql
  // - WHERE NOT is_deleted GROUP BY group_id) change
  // + GROUP BY group_id) change
  // guard groups-18: members whom a DELETE ends are counted
  // migrations/0018_groups.up.sql
  // - INSERT INTO group_members_buried (group_id) VALUES (OLD.group_id);
  // + NULL;
  // guard groups-19: members whom a DELETE ends are counted once, at its end
  // migrations/0018_groups.up.sql
  // - IF current_setting('group_sizes.later', true) = 'on' THEN
  // + IF false THEN
  // guard groups-20: departing members are counted, no matter who writes
  // migrations/0018_groups.up.sql
  // - UNION ALL SELECT group_id, -1 FROM before WHERE NOT is_deleted
  it('is counted, however many groups are written at once', async () => {
    const groups = ['x', 'y', 'z'].map((name) => `${name}-${ann.id}`);
    for (const id of groups) await app.db('groups').insert({ id, name: id, creator_id: ann.id });
    const rows = groups.flatMap((group_id, index) =>
      [ann, bob, cat]
        .slice(index)
        .map(({ id }) => ({ group_id, member_id: id, is_deleted: index === 0 && id === cat.id })),
    );
    await app.db('group_members').insert(rows);
    for (const id of groups) await expectCounted(id);
    await app.db.raw('UPDATE group_members SET is_deleted = NOT is_deleted WHERE group_id = ANY (?)', [groups]);
    for (const id of groups) await expectCounted(id);
    await app.db('group_members').whereIn('group_id', groups).delete();
    for (const id of groups) await expectCounted(id);
    await app.db('group_members').insert(rows).onConflict(['group_id', 'member_id']).merge({ is_deleted: false });
    for (const id of groups) await expectCounted(id);
  });

  async function expectCounted(groupId: string): Promise<void> {
    const { members } = await app.db('group_sizes').where({ group_id: groupId }).first<{ members: number }>('members');
    expect(members).toBe(Object.keys(await rolesIn(app, groupId)).length);
  }

  // guard groups-16: a dismissal cannot be undone
  // migrations/0018_groups.up.sql
  // - WHEN (OLD.dismissed_at IS NOT NULL AND NEW.dismissed_at IS NULL) EXECUTE
  // + WHEN (OLD.dismissed_at IS NOT NULL AND NEW.dismissed_at IS NULL AND false) EXECUTE
  it('has no member once it is dismissed, and stays dismissed', async () => {
    const groupId = await createGroup(app, [ann, bob]);
    await expectOk(ann.agent.post('/group/dismiss').send({ groupId }));
    const row = { group_id: groupId, member_id: cat.id };
    await app.db('group_members').insert(row);
    await app.db('group_members').where({ group_id: groupId }).update({ is_deleted: false });
    await expectWholeGroup(app, groupId);
    await expect(app.db('groups').where({ id: groupId }).update({ dismissed_at: null })).rejects.toThrow(
      'UPDATE on groups',
    );
  });
});
