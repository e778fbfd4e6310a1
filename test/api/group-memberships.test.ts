import { newUserId } from '../../src/features/users/user-id';
import { expectBody, expectRefusal, post, type Answer } from '../support/calls';
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
} from '../support/groups';
import { instancesBeside } from '../support/instances';
import { expectOk, field, insertAndSignIn, type SignedInPerson } from '../support/people';
import { stage } from '../support/stage';
import { foldingClientOf, fullState, settledClient } from '../support/sync';
import { untilWaiting } from '../support/waiting';

const NOBODY = 'abcdefghijkl';

let groupId: string;
const { app, ann, bob, cat, dan } = stage({ people: 4 });
/** Ann is the creator, Bob a member; Cat and Dan are none. */
beforeEach(async () => {
  groupId = await createGroup(app, [ann, bob]);
});

type Named = Pick<SignedInPerson, 'id'>;
const add = (me: SignedInPerson, ...others: Named[]) => callGroup(me, 'add', { groupId, memberIds: idsOf(others) });
const join = (me: SignedInPerson) => callGroup(me, 'join', { groupId });
const quit = (me: SignedInPerson) => callGroup(me, 'quit', { groupId });
const kick = (me: SignedInPerson, ...others: Named[]) => callGroup(me, 'kick', { groupId, memberIds: idsOf(others) });
const dismiss = (me: SignedInPerson) => callGroup(me, 'dismiss', { groupId });
const expectDone = (answer: Answer) => expectBody(answer, { code: 200 });
const manage = async (...managers: Named[]) =>
  expectOk(ann.agent.post('/group/set_manager').send({ groupId, memberIds: idsOf(managers) }));

async function rows(): Promise<unknown> {
  return app.db('group_members').where({ group_id: groupId }).orderBy('member_id');
}

/** The roles in the table, by name, and that they are whole and told to each member by sync. */
async function expectRoles(expected: Record<string, number>): Promise<void> {
  const roles = await rolesIn(app, groupId);
  const people = [ann, bob, cat, dan];
  const named = people.flatMap(({ id, nickname }) => (id in roles ? [[nickname, roles[id]] as const] : []));
  expect(Object.fromEntries(named)).toEqual(expected);
  await expectWholeGroup(app, groupId);
  for (const person of people.filter(({ nickname }) => nickname in expected)) {
    const [group] = (await fullState(person)).groups;
    expect(group?.role).toBe(expected[person.nickname]);
    expect(group?.members.map(({ memberId, role }) => [memberId, role])).toEqual(
      Object.entries(roles).sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  }
}

describe('POST /group/add', () => {
  it('brings friends in, by any member, and sync tells all of it', async () => {
    await befriend(app, bob, [cat, dan]);
    const [annClient, catClient] = [await settledClient(ann), await settledClient(cat)];
    expectDone(await add(bob, cat, dan));
    await expectRoles({ Ann: CREATOR, Bob: MEMBER, Cat: MEMBER, Dan: MEMBER });
    expect((await annClient.sync()).group_members.map(({ memberId }) => memberId).sort()).toEqual(
      idsOf([cat, dan]).sort(),
    );
    expect((await catClient.sync()).group_members).toHaveLength(4);
  });

  it('changes nothing of members, friends or not', async () => {
    await befriend(app, bob, [cat]);
    expectDone(await add(bob, cat));
    await expectOk(cat.agent.post('/group/set_display_name').send({ groupId, displayName: 'Kitty' }));
    const before = await rows();
    expectDone(await add(bob, cat, ann, bob, cat));
    await app.db('friendships').where({ user_id: bob.id }).update({ status: 30 });
    expectDone(await add(bob, cat, ann));
    expect(await rows()).toEqual(before);
  });

  it('names each id that is no friend, and adds nobody', async () => {
    await befriend(app, bob, [cat]);
    const answer = await add(bob, ann, cat, dan, { id: NOBODY });
    expectRefusal(answer, 400, 'not your friend');
    const details = field(answer.body, 'details') as { path: string; message: string }[];
    expect(details).toMatchObject([
      { path: 'memberIds.2', message: expect.stringContaining(dan.id) as string },
      { path: 'memberIds.3', message: expect.stringContaining(NOBODY) as string },
    ]);
    await expectRoles({ Ann: CREATOR, Bob: MEMBER });
  });

  it('adds no closed account', async () => {
    await befriend(app, ann, [cat]);
    await app.db('users').where({ id: cat.id }).update({ closed_at: new Date() });
    expectRefusal(await add(ann, cat), 400, cat.id);
    await expectRoles({ Ann: CREATOR, Bob: MEMBER });
  });

  it('brings back members who were kicked, as plain members without the name from before', async () => {
    await befriend(app, ann, [cat]);
    await manage(bob);
    expectDone(await add(ann, cat));
    for (const one of [bob, cat])
      await expectOk(one.agent.post('/group/set_display_name').send({ groupId, displayName: 'X' }));
    const clients = [foldingClientOf(bob), foldingClientOf(cat)];
    for (const client of clients) await client.sync();
    expectDone(await kick(ann, bob, cat));
    expectDone(await add(ann, bob, cat));
    await expectRoles({ Ann: CREATOR, Bob: MEMBER, Cat: MEMBER });
    for (const client of clients) {
      await client.sync();
      expect(client.state().groups).toMatchObject([{ displayName: '', members: [{}, {}, {}] }]);
    }
  });

  it('pulls nobody back who has quit, kicked after that or not, and names each', async () => {
    await befriend(app, ann, [cat, dan]);
    expectDone(await add(ann, cat, dan));
    for (const one of [bob, cat]) expectDone(await quit(one));
    expectDone(await kick(ann, cat));
    const before = await rows();
    const answer = await add(ann, dan, bob, cat);
    expectRefusal(answer, 400, 'has quit', 'has_quit');
    expect(field(answer.body, 'details')).toMatchObject([{ path: 'memberIds.1' }, { path: 'memberIds.2' }]);
    // What is said of a stranger does not depend on that.
    await app.db('friendships').where({ user_id: ann.id, friend_id: bob.id }).update({ status: 30 });
    expectRefusal(await add(ann, bob), 400, 'not your friend', 'friends_only');
    expect(await rows()).toEqual(before);
    expectDone(await join(bob));
    expectRefusal(await join(cat), 404, 'your groups');
    await expectRoles({ Ann: CREATOR, Bob: MEMBER, Dan: MEMBER });
  });

  it('does not pull back a member who quits beside it', async () => {
    await befriend(app, ann, [cat]);
    expectDone(await add(ann, cat));
    expectDone(await kick(ann, cat));
    expectDone(await add(ann, cat));
    let quitting: Promise<Answer> | undefined;
    let adding: Promise<Answer> | undefined;
    await app.db.transaction(async (trx) => {
      await trx('group_sizes').where({ group_id: groupId }).forUpdate();
      quitting = quit(cat);
      await untilWaiting(app.db, 1);
      adding = add(ann, cat);
      await untilWaiting(app.db, 2);
    });
    expectDone((await quitting) as Answer);
    expectRefusal((await adding) as Answer, 400, 'has quit', 'has_quit');
    await expectRoles({ Ann: CREATOR, Bob: MEMBER });
  });

  it('is 404 for who is no member, whoever is to be added', async () => {
    await befriend(app, cat, [dan]);
    expectRefusal(await add(cat, dan), 404, 'your groups');
    expectRefusal(await add(cat, cat), 404, 'your groups');
    expectRefusal(await add(cat, { id: NOBODY }), 404, 'your groups');
    expectRefusal(await callGroup(cat, 'add', { groupId: NOBODY, memberIds: [dan.id] }), 404, 'your groups');
    expectDone(await quit(bob));
    expectRefusal(await add(bob, bob), 404, 'your groups');
  });

  it.each([
    [[], 'memberIds: must be 1 to 100 ids'],
    [Array.from({ length: 101 }, (_, index) => `u${index}`), 'memberIds: must be 1 to 100 ids'],
    ['abc', 'memberIds: must be an array of ids'],
    [[1], 'memberIds.0: must be'],
    [undefined, 'memberIds: is missing'],
  ])('wants 1 to 100 ids: %#', async (memberIds, words) => {
    expectRefusal(await callGroup(ann, 'add', { groupId, memberIds }), 400, words);
  });

  it('names the first few of many who cannot be brought in, and has all in details', async () => {
    const memberIds = Array.from({ length: 100 }, (_, index) => `nobody-${index}`);
    const answer = await callGroup(ann, 'add', { groupId, memberIds });
    expectRefusal(answer, 400, 'memberIds.2: nobody-2 is not your friend; and 97 others');
    expect(String(field(answer.body, 'message')).length).toBeLessThan(300);
    expect(field(answer.body, 'details')).toHaveLength(100);
  });

  it('is 400 where there is no room for all, and adds nobody', async () => {
    await app.db('groups').where({ id: groupId }).update({ name: 'Crowd' });
    await crowd(497);
    await befriend(app, ann, [cat, dan]);
    expectRefusal(await add(ann, cat, dan), 400, 'full');
    expectDone(await add(ann, bob, cat));
    expectRefusal(await add(ann, dan), 400, 'full');
    expectDone(await add(ann, cat));
    expect(Object.keys(await rolesIn(app, groupId))).toHaveLength(500);
  });
});

/** So many more members. */
async function crowd(count: number): Promise<void> {
  const people = Array.from({ length: count }, () => ({ id: newUserId(), nickname: 'One of many' }));
  await app.db('users').insert(people);
  await app.db('group_members').insert(people.map(({ id }) => ({ group_id: groupId, member_id: id })));
}

describe('POST /group/join', () => {
  it('takes whoever has the id, and tells all by sync', async () => {
    const client = await settledClient(ann);
    expectDone(await join(cat));
    await expectRoles({ Ann: CREATOR, Bob: MEMBER, Cat: MEMBER });
    expect((await client.sync()).group_members).toMatchObject([{ memberId: cat.id, role: MEMBER, isDeleted: false }]);
  });

  it('changes nothing for a member, also of a full group', async () => {
    await manage(bob);
    await crowd(498);
    const before = await rows();
    for (const one of [ann, bob]) expectDone(await join(one));
    expect(await rows()).toEqual(before);
    expectRefusal(await join(cat), 400, 'full');
  });

  it('lets who has quit come back, as a member', async () => {
    await manage(bob);
    expectDone(await quit(bob));
    expectDone(await join(bob));
    await expectRoles({ Ann: CREATOR, Bob: MEMBER });
  });

  it('is 404 for a kicked user until a member adds them, also when they have quit before the kick', async () => {
    expectDone(await kick(ann, bob));
    expectRefusal(await join(bob), 404, 'your groups');
    expectDone(await add(ann, bob));
    expectDone(await quit(bob));
    expectDone(await join(bob));
    await expectRoles({ Ann: CREATOR, Bob: MEMBER });
  });

  it('is 404 for a group that is not there, is dismissed, or has no members', async () => {
    expectRefusal(await callGroup(cat, 'join', { groupId: NOBODY }), 404, 'your groups');
    await app.db('groups').insert({ id: `empty-${ann.id}`, name: 'Empty', creator_id: ann.id });
    expectRefusal(await callGroup(ann, 'join', { groupId: `empty-${ann.id}` }), 404, 'your groups');
    expectDone(await dismiss(ann));
    for (const one of [ann, bob, cat]) expectRefusal(await join(one), 404, 'your groups');
    await expectWholeGroup(app, groupId);
  });
});

describe('POST /group/quit', () => {
  it('ends the own membership, and tells all by sync', async () => {
    const clients = [await settledClient(ann), await settledClient(bob)] as const;
    expectDone(await quit(bob));
    await expectRoles({ Ann: CREATOR });
    expect((await clients[0].sync()).group_members).toMatchObject([{ memberId: bob.id, isDeleted: true }]);
    expect((await clients[1].sync()).groups).toMatchObject([{ isDeleted: true, group: { id: groupId, name: '' } }]);
    expectRefusal(await quit(bob), 404, 'your groups');
  });

  it("passes the creator's place to the manager who has been there longest", async () => {
    expectDone(await join(dan));
    expectDone(await join(cat));
    await manage(cat);
    await manage(dan);
    expectDone(await quit(ann));
    await expectRoles({ Bob: MEMBER, Dan: CREATOR, Cat: MANAGER });
  });

  it("passes the creator's place to the member who has been there longest, since coming back", async () => {
    expectDone(await join(cat));
    expectDone(await quit(bob));
    expectDone(await join(bob));
    const client = await settledClient(bob);
    expectDone(await quit(ann));
    await expectRoles({ Cat: CREATOR, Bob: MEMBER });
    await client.sync();
    expect(client.state()).toEqual(await fullState(bob));
    // Whoever comes back is a member.
    expectDone(await join(ann));
    await expectRoles({ Ann: MEMBER, Cat: CREATOR, Bob: MEMBER });
  });

  it('dismisses the group with the last one, and notes it', async () => {
    expectDone(await quit(bob));
    const client = await settledClient(ann);
    expectDone(await quit(ann));
    await expectWholeGroup(app, groupId);
    expect((await callGroup(ann, groupId)).body).toMatchObject({
      result: { memberCount: 0, dismissedAt: expect.any(String) as string },
    });
    expectRefusal(await callGroup(bob, groupId), 404);
    await client.sync();
    expect(client.state().groups).toEqual([]);
    expect(await app.db('security_events').where({ event: 'group_dismissed', detail: groupId })).toMatchObject([
      { user_id: ann.id },
    ]);
  });

  it('is 404 for who is no member', async () => {
    expectRefusal(await quit(cat), 404, 'your groups');
    expectRefusal(await callGroup(cat, 'quit', { groupId: NOBODY }), 404, 'your groups');
  });
});

describe('POST /group/kick', () => {
  beforeEach(async () => {
    for (const one of [cat, dan]) expectDone(await join(one));
  });

  it('ends the memberships of others, by the creator, managers among them, and tells all by sync', async () => {
    await manage(bob);
    const clients = [await settledClient(dan), await settledClient(bob)] as const;
    expectDone(await kick(ann, bob, cat));
    await expectRoles({ Ann: CREATOR, Dan: MEMBER });
    await clients[0].sync();
    expect(clients[0].state()).toEqual(await fullState(dan));
    expect((await clients[1].sync()).groups).toMatchObject([{ isDeleted: true, group: { id: groupId, name: '' } }]);
  });

  it('ends the memberships of plain members, by a manager', async () => {
    await manage(bob);
    expectDone(await kick(bob, cat, dan));
    await expectRoles({ Ann: CREATOR, Bob: MANAGER });
  });

  it('is 403 for a manager who kicks a manager or the creator, and kicks nobody', async () => {
    await manage(bob, cat);
    expectRefusal(await kick(bob, dan, cat), 403, 'manager');
    expectRefusal(await kick(bob, ann), 403, 'manager');
    await expectRoles({ Ann: CREATOR, Bob: MANAGER, Cat: MANAGER, Dan: MEMBER });
  });

  it('is 403 for a member, and 404 for who is none', async () => {
    expectRefusal(await kick(bob, cat), 403, 'member');
    expectDone(await quit(dan));
    expectRefusal(await kick(dan, cat), 404, 'your groups');
    await expectRoles({ Ann: CREATOR, Bob: MEMBER, Cat: MEMBER });
  });

  it('is 400 for oneself, and kicks nobody', async () => {
    expectRefusal(await kick(ann, cat, ann), 400, 'yourself');
    await expectRoles({ Ann: CREATOR, Bob: MEMBER, Cat: MEMBER, Dan: MEMBER });
  });

  it('changes nothing for who was never there, or was kicked before', async () => {
    expectDone(await kick(ann, cat));
    const before = await rows();
    expectDone(await kick(ann, cat, { id: NOBODY }));
    expect(await rows()).toEqual(before);
  });

  it('keeps out who has quit before it', async () => {
    const client = await settledClient(ann);
    await manage(bob);
    expectDone(await quit(cat));
    expectDone(await kick(bob, cat));
    expectRefusal(await join(cat), 404, 'your groups');
    await expectRoles({ Ann: CREATOR, Bob: MANAGER, Dan: MEMBER });
    await client.sync();
    expect(client.state()).toEqual(await fullState(ann));
  });
});

describe('POST /group/dismiss', () => {
  it('ends the group for all, which sync tells each of them, and who was there is shown when', async () => {
    expectDone(await join(cat));
    expectDone(await kick(ann, cat));
    expectDone(await join(dan));
    const clients = [await settledClient(ann), await settledClient(bob), await settledClient(dan)];
    expectDone(await dismiss(ann));
    await expectWholeGroup(app, groupId);
    for (const [index, client] of clients.entries()) {
      const { groups, group_members } = await client.sync();
      expect(groups).toMatchObject([{ isDeleted: true, group: { id: groupId, name: '', portraitUri: '' } }]);
      expect(group_members).toEqual([]);
      expect(client.state()).toEqual(await fullState([ann, bob, dan][index] ?? ann));
    }
    for (const one of [ann, bob, dan]) {
      expect((await callGroup(one, groupId)).body).toMatchObject({
        result: { name: 'Hiking club', creatorId: ann.id, memberCount: 0, dismissedAt: expect.any(String) as string },
      });
      expectRefusal(await callGroup(one, `${groupId}/members`), 404);
      expectBody(await post(one.agent, '/user/groups'), { code: 200, result: [] });
    }
    expectRefusal(await callGroup(cat, groupId), 404);
  });

  it('is noted, with who did it', async () => {
    expectDone(await dismiss(ann));
    expect(await app.db('security_events').where({ event: 'group_dismissed', detail: groupId })).toMatchObject([
      { user_id: ann.id },
    ]);
  });

  it('is 403 for members and managers, and 404 for anybody else', async () => {
    await manage(bob);
    expectRefusal(await dismiss(bob), 403, 'manager');
    expectRefusal(await dismiss(cat), 404, 'your groups');
    expectDone(await dismiss(ann));
    expectRefusal(await dismiss(ann), 404, 'your groups');
  });
});

describe('POST /group/transfer', () => {
  const transfer = (me: SignedInPerson, other: Named) => callGroup(me, 'transfer', { groupId, userId: other.id });

  it('makes another member the creator, and the creator a member', async () => {
    expectDone(await join(cat));
    await manage(bob);
    const client = await settledClient(cat);
    expectDone(await transfer(ann, bob));
    await expectRoles({ Ann: MEMBER, Bob: CREATOR, Cat: MEMBER });
    await client.sync();
    expect(client.state()).toEqual(await fullState(cat));
    expect((await callGroup(cat, groupId)).body).toMatchObject({ result: { creatorId: bob.id } });
    expectRefusal(await transfer(ann, ann), 403, 'member');
  });

  it('to oneself changes nothing', async () => {
    const before = await rows();
    expectDone(await transfer(ann, ann));
    expect(await rows()).toEqual(before);
  });

  it('is 400 to who is no member', async () => {
    expectDone(await join(dan));
    expectDone(await quit(dan));
    for (const other of [cat, dan, { id: NOBODY }]) expectRefusal(await transfer(ann, other), 400, 'userId');
    await expectRoles({ Ann: CREATOR, Bob: MEMBER });
  });

  it('is 403 for a member and a manager, whoever the other is, and 404 for anybody else', async () => {
    expectDone(await join(dan));
    await manage(bob);
    for (const other of [ann, dan, cat, { id: NOBODY }]) {
      expectRefusal(await transfer(bob, other), 403, 'manager');
      expectRefusal(await transfer(dan, other), 403, 'member');
      expectRefusal(await transfer(cat, other), 404, 'your groups');
    }
    await expectRoles({ Ann: CREATOR, Bob: MANAGER, Dan: MEMBER });
  });
});

describe('a caller who may not do it', () => {
  it('waits for no lock of the group', async () => {
    expectDone(await join(dan));
    await manage(bob);
    const others = { memberIds: [ann.id], userId: ann.id, name: 'X', portraitUri: '', bulletin: 'X' };
    const changing = ['rename', 'set_portrait_uri', 'set_bulletin'];
    const forCreator = ['dismiss', 'transfer', 'set_manager', 'remove_manager'];
    await app.db.transaction(async (trx) => {
      await trx('group_sizes').where({ group_id: groupId }).forUpdate();
      for (const operation of [...changing, ...forCreator, 'kick', 'quit', 'add'])
        expectRefusal(await callGroup(cat, operation, { groupId, ...others }), 404, 'your groups');
      for (const operation of [...changing, ...forCreator, 'kick'])
        expectRefusal(await callGroup(dan, operation, { groupId, ...others }), 403, 'a member of this group may not');
      for (const operation of [...forCreator, 'kick'])
        expectRefusal(await callGroup(bob, operation, { groupId, ...others }), 403, 'a manager of this group may not');
    });
  });
});

describe('POST /group/set_manager and /group/remove_manager', () => {
  const set = (me: SignedInPerson, ...others: Named[]) =>
    callGroup(me, 'set_manager', { groupId, memberIds: idsOf(others) });
  const remove = (me: SignedInPerson, ...others: Named[]) =>
    callGroup(me, 'remove_manager', { groupId, memberIds: idsOf(others) });

  it('make members managers, and members again, which sync tells', async () => {
    expectDone(await join(cat));
    const client = await settledClient(bob);
    expectDone(await set(ann, bob, cat));
    await expectRoles({ Ann: CREATOR, Bob: MANAGER, Cat: MANAGER });
    expect(await client.sync()).toMatchObject({ groups: [{ role: MANAGER }] });
    expectDone(await remove(ann, bob));
    await expectRoles({ Ann: CREATOR, Bob: MEMBER, Cat: MANAGER });
    await client.sync();
    expect(client.state()).toEqual(await fullState(bob));
  });

  it('change nothing for who is what they make already', async () => {
    expectDone(await join(cat));
    expectDone(await set(ann, bob));
    const before = await rows();
    expectDone(await set(ann, bob, bob));
    expectDone(await remove(ann, cat, ann, { id: NOBODY }));
    expect(await rows()).toEqual(before);
  });

  it('set_manager names each who is no other member, and changes nobody', async () => {
    const answer = await set(ann, bob, cat, ann);
    expectRefusal(answer, 400, 'no other member');
    expect(field(answer.body, 'details')).toMatchObject([{ path: 'memberIds.1' }, { path: 'memberIds.2' }]);
    await expectRoles({ Ann: CREATOR, Bob: MEMBER });
  });

  it('are 403 for a manager, and 404 for who is no member', async () => {
    expectDone(await join(cat));
    expectDone(await set(ann, bob));
    expectRefusal(await set(bob, cat), 403, 'manager');
    expectRefusal(await remove(bob, bob), 403, 'manager');
    expectRefusal(await set(dan, cat), 404, 'your groups');
    expectRefusal(await remove(dan, bob), 404, 'your groups');
    await expectRoles({ Ann: CREATOR, Bob: MANAGER, Cat: MEMBER });
  });
});

describe('with other settings', () => {
  const instance = instancesBeside(() => app);

  it('GROUP_JOIN=closed: nobody joins who is no member, whatever the group', async () => {
    const there = await instance({ GROUP_JOIN: 'closed' });
    const [me, other] = [await insertAndSignIn(there, 'Me'), await insertAndSignIn(there, 'Other')];
    const id = await createGroup(app, [me]);
    for (const asked of [id, NOBODY, groupId])
      expectRefusal(await callGroup(other, 'join', { groupId: asked }), 403, 'a member has to add you');
    expectDone(await callGroup(me, 'join', { groupId: id }));
    expect(await rolesIn(app, id)).toEqual({ [me.id]: CREATOR });
  });

  it('GROUP_CHANGES_PER_USER_HOUR: so many changes an hour, each of a member as one, whatever comes of them', async () => {
    const there = await instance({ GROUP_CHANGES_PER_USER_HOUR: '10' });
    const calls: [string, object, number][] = [
      ['create', { name: 'Hikers', memberIds: [NOBODY] }, 2],
      ['add', { memberIds: [NOBODY, cat.id, cat.id] }, 2],
      ['kick', { memberIds: [NOBODY, cat.id] }, 2],
      ['set_manager', { memberIds: [NOBODY, cat.id] }, 2],
      ['remove_manager', { memberIds: [NOBODY, cat.id] }, 2],
      ['transfer', { userId: NOBODY }, 1],
      ['join', {}, 1],
      ['rename', { name: 'Climbers' }, 1],
      ['set_portrait_uri', { portraitUri: 'https://img.example/p.png' }, 1],
      ['set_bulletin', { bulletin: 'x' }, 1],
      ['set_display_name', { displayName: 'x' }, 1],
    ];
    for (const [operation, fields, count] of calls) {
      const me = await insertAndSignIn(there);
      const nine = { groupId: NOBODY, memberIds: Array.from({ length: 10 - count }, (_, index) => `u${index}`) };
      await callGroup(me, 'kick', nine);
      // The last ones may go beyond the amount.
      for (const status of [expect.not.stringMatching('429'), '429'])
        expect(String((await callGroup(me, operation, { groupId: NOBODY, ...fields })).status)).toEqual(status);
      const used = await app
        .db('rate_limits')
        .where({ key: `group_changes_hour:${me.id}` })
        .first<{ used: number }>('used');
      expect([operation, used.used]).toEqual([operation, 10]);
      // Nobody is kept in a group.
      expectRefusal(await callGroup(me, 'quit', { groupId: NOBODY }), 404);
      expectRefusal(await callGroup(me, 'dismiss', { groupId: NOBODY }), 404);
    }
  });

  it.each(['friends', 'anyone'])(
    'GROUP_ADD=%s: brings in nobody who has blacklisted the one who does it',
    async (who) => {
      const there = await instance({ GROUP_ADD: who });
      const me = await insertAndSignIn(there);
      await befriend(app, me, [cat, dan]);
      expectDone(await callGroup(me, 'join', { groupId }));
      await expectOk(dan.agent.post('/user/add_to_blacklist').send({ friendId: me.id }));
      const refused = [
        await add(me, cat, dan),
        await callGroup(me, 'create', { name: 'Hikers', memberIds: idsOf([cat, dan]) }),
      ];
      for (const answer of refused) {
        expectRefusal(answer, 400, who === 'friends' ? 'not your friend' : 'no such user');
        expect(field(answer.body, 'details')).toMatchObject([{ path: 'memberIds.1' }]);
      }
      await expectOk(dan.agent.post('/user/remove_from_blacklist').send({ friendId: me.id }));
      expectDone(await add(me, cat, dan));
    },
  );

  it('GROUP_ADD=anyone: a member brings in whoever has an open account', async () => {
    const me = await insertAndSignIn(await instance({ GROUP_ADD: 'anyone' }));
    expectDone(await callGroup(me, 'join', { groupId }));
    expectDone(await add(me, cat));
    await app.db('users').where({ id: dan.id }).update({ closed_at: new Date() });
    expectRefusal(await add(me, dan, { id: NOBODY }), 400, 'no such user');
    expect((await rolesIn(app, groupId))[cat.id]).toBe(MEMBER);
  });
});
