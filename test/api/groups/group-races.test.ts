import type { Knex } from 'knex';
import type { Client } from 'pg';
import { amount } from '../../support/amounts';
import { countCodes, expectBody, expectRefusal, post, type Answer } from '../../support/calls';
import {
  befriend,
  createGroup,
  CREATOR,
  expectWholeGroup,
  idsOf,
  callGroup,
  MEMBER,
  rolesIn,
} from '../../support/groups';
import { instancesBeside } from '../../support/instances';
import { itOnOneServer } from '../../support/on-one-server';
import {
  expectOk,
  field,
  insertAndSignIn,
  insertAndSignInAll,
  signIn,
  type SignedInPerson,
} from '../../support/people';
import { stage } from '../../support/stage';
import { connectWriter, fullState, settledClient } from '../../support/sync';
import { LOCK_GROUP, LOCK_USER, untilWaiting, whileHeld, whileOpen, withFailures } from '../../support/waiting';

/** More connections than calls that wait at a time, so that the test can still count the waiting ones. */
const ENV = { DATABASE_POOL_MAX: '40', GROUP_MAX_MEMBERS: '5' };

let groupId: string;
const { app, ann, bob, cat, dan } = stage({ env: ENV, people: 4 });
/** Makes Ann the creator, and Bob and Cat members. Dan is not a member, and a friend of all. */
beforeEach(async () => {
  groupId = await createGroup(app, [ann, bob]);
  await expectOk(cat.agent.post('/group/join').send({ groupId }));
  await befriend(app, dan, [ann, bob, cat]);
});

type Call = () => Promise<Answer>;
const ofGroup = (operation: string) => (me: SignedInPerson) => () => callGroup(me, operation, { groupId });
const [join, quit, dismiss] = ['join', 'quit', 'dismiss'].map(ofGroup) as [
  (me: SignedInPerson) => Call,
  (me: SignedInPerson) => Call,
  (me: SignedInPerson) => Call,
];
const ofMembers =
  (operation: string) =>
  (me: SignedInPerson, ...others: SignedInPerson[]) =>
  () =>
    callGroup(me, operation, { groupId, memberIds: idsOf(others) });
const [add, kick, setManager, removeManager] = ['add', 'kick', 'set_manager', 'remove_manager'].map(ofMembers) as [
  ReturnType<typeof ofMembers>,
  ReturnType<typeof ofMembers>,
  ReturnType<typeof ofMembers>,
  ReturnType<typeof ofMembers>,
];
const transfer = (me: SignedInPerson, other: SignedInPerson) => () =>
  callGroup(me, 'transfer', { groupId, userId: other.id });

/** Lets the calls reach the locked group in turn, and then go on all at once. */
async function inOrder(...calls: Call[]): Promise<number[]> {
  const statuses = (await whileHeld(app, LOCK_GROUP, [groupId], calls)).map(({ status }) => status);
  await expectWholeGroup(app, groupId);
  return statuses;
}

const markDismissed = (trx: Knex) => trx('groups').where({ id: groupId }).update({ dismissed_at: trx.fn.now() });

async function roles(): Promise<Record<string, number>> {
  const found = Object.entries(await rolesIn(app, groupId));
  const nameOf = (id: string) => [ann, bob, cat, dan].find((person) => person.id === id)?.nickname ?? id;
  return Object.fromEntries(found.map(([id, role]) => [nameOf(id), role]));
}

describe('the last place', () => {
  // guard group-races-1: one of many concurrent joins gets the last place in a group
  // src/features/groups/memberships-repository.ts
  // -       (SELECT count(*) FROM free) = 1
  // -         FOR NO KEY UPDATE)
  // + (SELECT count(*) FROM free) = 1)
  it('goes to one of twenty users who join at once', async () => {
    await expectOk(dan.agent.post('/group/join').send({ groupId }));
    const people = await insertAndSignInAll(app, ...Array.from({ length: 20 }, () => 'Eve'));
    const writer = await connectWriter(app);
    await writer.query('BEGIN');
    await writer.query('SELECT FROM group_sizes WHERE group_id = $1 FOR UPDATE', [groupId]);
    const answers = people.map((person) => join(person)());
    await untilWaiting(app.db, 20);
    await writer.query('COMMIT');
    await writer.end();
    expect(countCodes(await Promise.all(answers))).toEqual({ 200: 1, 400: 19 });
    await expectWholeGroup(app, groupId);
    expect(Object.keys(await rolesIn(app, groupId))).toHaveLength(5);
  });

  // guard group-races-2: two members who add others at once do so in turn
  // src/features/groups/memberships-repository.ts
  // - FROM group_sizes WHERE group_id = :groupId FOR NO KEY UPDATE
  // + FROM group_sizes WHERE group_id = :groupId
  it('goes to one of two members who add others at once', async () => {
    const [eve, fay] = await insertAndSignInAll(app, 'Eve', 'Fay');
    await befriend(app, ann, [eve]);
    await befriend(app, bob, [fay]);
    expect(await inOrder(add(ann, dan, eve), add(bob, fay))).toEqual([200, 400]);
  });
});

describe('a concurrent transfer', () => {
  // guard group-races-5: a former creator decides nothing in the group
  // src/features/groups/memberships-repository.ts
  // -     check(await this.roles(groupId, ids));
  // -     return count;
  // + return count;
  // guard group-races-6: a role in a group is read under the group's lock
  // src/features/groups/memberships-repository.ts
  // - const count = await this.lock(groupId);
  // + const count = 2;
  it.each<[string, () => Call, number]>([
    ['cannot kick a manager', () => kick(ann, bob), 403],
    ['cannot transfer again', () => transfer(ann, cat), 403],
    ['cannot make a manager', () => setManager(ann, cat), 403],
    ['cannot remove a manager', () => removeManager(ann, bob), 403],
    ['cannot dismiss the group', () => dismiss(ann), 403],
    ['quits as a plain member', () => quit(ann), 200],
  ])('leaves a former creator who %s', async (_what, call, status) => {
    expect(await inOrder(transfer(ann, bob), call())).toEqual([200, status]);
    expect(await roles()).toEqual({
      ...(status === 403 && { Ann: MEMBER }),
      Bob: CREATOR,
      Cat: MEMBER,
    });
  });

  it('wins over a later one', async () => {
    expect(await inOrder(transfer(ann, cat), transfer(ann, bob))).toEqual([200, 403]);
    expect(await roles()).toEqual({ Ann: MEMBER, Bob: MEMBER, Cat: CREATOR });
  });

  it('answers 400 for a member who has just quit, or was just kicked', async () => {
    expect(await inOrder(quit(bob), transfer(ann, bob))).toEqual([200, 400]);
    expect(await inOrder(kick(ann, cat), transfer(ann, cat))).toEqual([200, 400]);
    expect(await roles()).toEqual({ Ann: CREATOR });
  });
});

describe('concurrent rename, set_portrait_uri and set_bulletin', () => {
  // guard group-races-15: a former manager changes nothing of a group
  // src/features/groups/memberships-repository.ts
  // -     const count = await this.lock(groupId);
  // -     check(await this.roles(groupId, ids));
  // + const count = await this.lock(groupId);
  it.each([
    ['rename', { name: 'Climbers' }],
    ['set_portrait_uri', { portraitUri: 'https://a.b/c.png' }],
    ['set_bulletin', { bulletin: 'Tomorrow' }],
  ])('%s: a former manager changes nothing', async (operation, fields) => {
    const group = () => app.db('groups').where({ id: groupId }).first<object>('name', 'portrait_uri', 'bulletin');
    for (const [end, status] of [
      [removeManager(ann, bob), 403],
      [kick(ann, bob), 404],
    ] as const) {
      await expectOk(ann.agent.post('/group/set_manager').send({ groupId, memberIds: [bob.id] }));
      const before = await group();
      expect(await inOrder(end, () => callGroup(bob, operation, { groupId, ...fields }))).toEqual([200, status]);
      expect(await group()).toEqual(before);
    }
  });
});

describe('concurrent kick, quit and transfer', () => {
  it.each<[string, () => Call[], number[], Record<string, number>]>([
    [
      'kick, quit, transfer',
      () => [kick(ann, bob), quit(bob), transfer(ann, bob)],
      [200, 404, 400],
      { Ann: 0, Cat: 1 },
    ],
    [
      'kick, transfer, quit',
      () => [kick(ann, bob), transfer(ann, bob), quit(bob)],
      [200, 400, 404],
      { Ann: 0, Cat: 1 },
    ],
    [
      'quit, kick, transfer',
      () => [quit(bob), kick(ann, bob), transfer(ann, bob)],
      [200, 200, 400],
      { Ann: 0, Cat: 1 },
    ],
    [
      'quit, transfer, kick',
      () => [quit(bob), transfer(ann, bob), kick(ann, bob)],
      [200, 400, 200],
      { Ann: 0, Cat: 1 },
    ],
    [
      'transfer, kick, quit',
      () => [transfer(ann, bob), kick(ann, bob), quit(bob)],
      [200, 403, 200],
      { Ann: 0, Cat: 1 },
    ],
    [
      'transfer, quit, kick',
      () => [transfer(ann, bob), quit(bob), kick(ann, bob)],
      [200, 200, 200],
      { Ann: 0, Cat: 1 },
    ],
  ])('in the order %s leave a whole group', async (_order, calls, statuses, expected) => {
    expect(await inOrder(...calls())).toEqual(statuses);
    expect(await roles()).toEqual(expected);
  });
});

describe('a concurrent quit', () => {
  it('by the creator lets an add succeed, and leaves the next creator', async () => {
    expect(await inOrder(quit(ann), add(bob, dan))).toEqual([200, 200]);
    expect(await roles()).toEqual({ Bob: CREATOR, Cat: MEMBER, Dan: MEMBER });
  });

  // guard group-races-4: a member who has quit a group cannot add anybody
  // src/features/groups/memberships-repository.ts
  // - FROM group_sizes WHERE group_id = :groupId FOR NO KEY UPDATE
  // + FROM group_sizes WHERE group_id = :groupId
  it('by a member makes their own add fail', async () => {
    expect(await inOrder(quit(bob), add(bob, dan))).toEqual([200, 404]);
    expect(await roles()).toEqual({ Ann: CREATOR, Cat: MEMBER });
  });

  // guard group-races-3: the last of two members who leave at once dismisses the group
  // src/features/groups/memberships-repository.ts
  // - FROM group_sizes WHERE group_id = :groupId FOR NO KEY UPDATE
  // + FROM group_sizes WHERE group_id = :groupId
  it('by all members dismisses the group with the last one', async () => {
    expect(await inOrder(quit(ann), quit(bob), quit(cat))).toEqual([200, 200, 200]);
    // Only the last of the three, whichever that is, still sees the group.
    const looks = await Promise.all([ann, bob, cat].map((one) => callGroup(one, groupId)));
    expect(countCodes(looks)).toEqual({ 200: 1, 404: 2 });
  });

  it('by the last member makes a later join fail', async () => {
    for (const one of [bob, cat]) await expectOk(one.agent.post('/group/quit').send({ groupId }));
    expect(await inOrder(quit(ann), join(dan))).toEqual([200, 404]);
  });

  it('by the last member after a join makes the joining user the creator', async () => {
    for (const one of [bob, cat]) await expectOk(one.agent.post('/group/quit').send({ groupId }));
    expect(await inOrder(join(dan), quit(ann))).toEqual([200, 200]);
    expect(await roles()).toEqual({ Dan: CREATOR });
  });

  it('by the creator after the removal of the manager makes a plain member the creator', async () => {
    await expectOk(ann.agent.post('/group/set_manager').send({ groupId, memberIds: [cat.id] }));
    expect(await inOrder(removeManager(ann, cat), quit(ann))).toEqual([200, 200]);
    expect(await roles()).toEqual({ Bob: CREATOR, Cat: MEMBER });
  });
});

describe('a concurrent join', () => {
  // guard group-races-8: a user who is being kicked cannot join again
  // src/features/groups/memberships-repository.ts
  // - ${AGAIN} AND group_members.ending NOT IN ('kicked', 'barred')
  // + ${AGAIN}
  it('does not bring a user back who is kicked first', async () => {
    await expectOk(cat.agent.post('/group/quit').send({ groupId }));
    await expectOk(ann.agent.post('/group/add').send({ groupId, memberIds: [dan.id] }));
    expect(await inOrder(kick(ann, dan), join(dan))).toEqual([200, 404]);
    expect(await roles()).toEqual({ Ann: CREATOR, Bob: MEMBER });
  });

  it('finds no group after a dismissal', async () => {
    expect(await inOrder(dismiss(ann), join(dan))).toEqual([200, 404]);
  });

  it('before a dismissal lets the joining user learn of the end', async () => {
    const client = await settledClient(dan);
    expect(await inOrder(join(dan), dismiss(ann))).toEqual([200, 200]);
    await client.sync();
    expect(client.state()).toEqual(await fullState(dan));
    expect((await callGroup(dan, groupId)).status).toBe(200);
  });

  // guard group-races-17: a dismissed group gets no member
  // migrations/0018_groups.up.sql
  // - IF dismissed THEN
  // -   RETURN NULL;
  // - END IF;
  it('leaves no membership when those of a dismissed group are still to be ended', async () => {
    const answer = await whileHeld(app, LOCK_GROUP, [groupId], join(dan), markDismissed);
    expectRefusal(answer, 404, 'your groups');
    await app.sweep();
    await expectWholeGroup(app, groupId);
  });

  // guard group-races-9: a user whose row is locked does not keep others from a group
  // src/features/groups/memberships-repository.ts
  // - AND (SELECT count(*) FROM free) = 1
  it('waits for a user whose row is locked, and does not keep others from the group', async () => {
    const eve = await insertAndSignIn(app, 'Eve');
    const waiting = await whileHeld(app, LOCK_USER, [dan.id], join(dan), () =>
      expectOk(eve.agent.post('/group/join').send({ groupId })),
    );
    expectBody(waiting, { code: 200 });
  });
});

describe('two concurrent calls for the last group that a user may be in', () => {
  const instance = instancesBeside(() => app, { GROUPS_JOINED_PER_USER: '1' });

  // guard group-races-7: two groups that a user joins at once are counted in turn
  // src/features/groups/memberships-repository.ts
  // - WHERE id = :userId AND closed_at IS NULL FOR NO KEY UPDATE)
  // + WHERE id = :userId AND closed_at IS NULL FOR SHARE)
  it.each<[string, (me: SignedInPerson, other: string, creator: SignedInPerson) => Promise<Answer>, number]>([
    ['joined', (me, other) => callGroup(me, 'join', { groupId: other }), 1000],
    ['made', (me) => callGroup(me, 'create', { name: 'Hikers', memberIds: [] }), 1000],
    ['added to', (_me, other, creator) => callGroup(creator, 'add', { groupId: other, memberIds: [dan.id] }), 400],
  ])('with one of them %s: one succeeds', async (_how, call, refused) => {
    const there = await instance();
    const me = await signIn(there, dan);
    const other = await createGroup(app, [ann, bob]);
    const creator = await signIn(there, ann);
    const calls = [() => callGroup(me, 'join', { groupId }), () => call(me, other, creator)];
    const codes = (await whileHeld(app, LOCK_USER, [dan.id], calls)).map(({ body }) => field(body, 'code'));
    expect(codes).toContain(200);
    expect([1000, refused]).toContain(codes.find((code) => code !== 200));
    expect(await app.db('group_members').where({ member_id: dan.id, is_deleted: false })).toHaveLength(1);
  });
});

describe('a concurrent add', () => {
  // guard group-races-10: an account that is closing is not added to a group
  // src/features/users/lock-open-users.ts
  // - closed_at IS NULL ORDER BY id FOR NO KEY UPDATE
  // + closed_at IS NULL ORDER BY id
  it("adds nobody, and says so, when the user's account is closing", async () => {
    const answer = await whileHeld(app, 'UPDATE users SET closed_at = now() WHERE id = ?', [dan.id], add(ann, dan));
    expectRefusal(answer, 400, dan.id);
    expect(await roles()).toEqual({ Ann: CREATOR, Bob: MEMBER, Cat: MEMBER });
  });

  it('adds nobody when the adding member is kicked first', async () => {
    expect(await inOrder(kick(ann, bob), add(bob, dan))).toEqual([200, 404]);
  });

  // guard group-races-11: adding a user to a group does not overtake the user's own requests
  // src/features/users/lock-open-users.ts
  // - closed_at IS NULL ORDER BY id FOR NO KEY UPDATE
  // + closed_at IS NULL ORDER BY id FOR SHARE
  it('does not overtake an earlier request of the added user', async () => {
    const other = await createGroup(app, [bob]);
    const [writer, second] = [await connectWriter(app), await connectWriter(app)];
    const hold = async (client: Client, id: string) => {
      await client.query('BEGIN');
      await client.query('SELECT FROM group_sizes WHERE group_id = $1 FOR UPDATE', [id]);
    };
    await hold(writer, groupId);
    await hold(second, other);
    const first = add(ann, dan)();
    await untilWaiting(app.db, 1);
    const renamed = post(dan.agent, '/user/set_nickname', { nickname: 'Danny' });
    await untilWaiting(app.db, 2);
    const later = callGroup(bob, 'add', { groupId: other, memberIds: [dan.id] });
    await untilWaiting(app.db, 3);
    await writer.query('COMMIT');
    expectBody(await first, { code: 200 });
    expectBody(await renamed, { code: 200 });
    await second.query('COMMIT');
    expectBody(await later, { code: 200 });
    await Promise.all([writer.end(), second.end()]);
  });

  // guard group-races-12: a stranger who adds users to a group does not lock them
  // src/features/groups/memberships-service.ts
  // - asMember((await memberships.roles(groupId, [userId])).get(userId));
  // guard group-races-13: adding to a group does not lock a user who is not a friend
  // src/features/groups/memberships-service.ts
  // - const open = await memberships.lockOpen(fit);
  // + const open = await memberships.lockOpen([...wanted, ...fit]);
  // guard group-races-14: making a group does not lock a user who is not a friend
  // src/features/groups/groups-service.ts
  // - const open = await memberships.lockOpen([userId, ...fit]);
  // + const open = await memberships.lockOpen([userId, ...others, ...fit]);
  it('locks nobody and waits for nobody when the caller is a stranger or the user is not a friend', async () => {
    const eve = await insertAndSignIn(app, 'Eve');
    await whileHeld(app, 'SELECT FROM users WHERE id IN (?, ?) FOR UPDATE', [dan.id, eve.id], [], async () => {
      expectRefusal(await add(eve, dan)(), 404, 'your groups');
      expectRefusal(await callGroup(ann, 'add', { groupId: 'abcdefghijkl', memberIds: [dan.id] }), 404, 'your groups');
      expectRefusal(await add(ann, eve)(), 400, eve.id);
      expectRefusal(await callGroup(ann, 'create', { name: 'Hikers', memberIds: [eve.id] }), 400, eve.id);
    });
  });

  it('leaves one membership when the user joins too', async () => {
    expect(await inOrder(add(ann, dan), join(dan))).toEqual([200, 200]);
    expect(await roles()).toEqual({ Ann: CREATOR, Bob: MEMBER, Cat: MEMBER, Dan: MEMBER });
  });
});

describe('with another service writing at the same time', () => {
  const NAME_CREATOR = 'UPDATE groups SET creator_id = ? WHERE id = ?';

  it('a member whom it ends does not become the creator', async () => {
    const end = 'DELETE FROM group_members WHERE group_id = ? AND member_id = ?';
    expectRefusal(await whileHeld(app, end, [groupId, bob.id], transfer(ann, bob)), 400, 'userId');
    await expectWholeGroup(app, groupId);
  });

  it('a creator whom it names has the rights at once', async () => {
    expectRefusal(await whileHeld(app, NAME_CREATOR, [bob.id, groupId], dismiss(ann)), 403);
    expect(await roles()).toEqual({ Ann: MEMBER, Bob: CREATOR, Cat: MEMBER });
  });

  // guard group-races-18: a group that is being dismissed gets no member from another service
  // migrations/0018_groups.up.sql
  // - PERFORM FROM group_sizes WHERE group_id = NEW.group_id FOR NO KEY UPDATE;
  it('a member whom it adds during a dismissal is left out', async () => {
    const dismissing = async (trx: Knex) => {
      await trx('group_sizes').where({ group_id: groupId }).forUpdate();
      await markDismissed(trx);
    };
    await whileOpen(app, dismissing, async () =>
      app.db('group_members').insert({ group_id: groupId, member_id: dan.id }),
    );
    expect(await app.db('group_members').where({ group_id: groupId, member_id: dan.id })).toEqual([]);
  });

  it('a former creator whom it brings back while the creator changes is a plain member', async () => {
    await app.db('group_members').where({ group_id: groupId, member_id: ann.id }).update({ is_deleted: true });
    expect(await roles()).toEqual({ Bob: CREATOR, Cat: MEMBER });
    await whileHeld(app, NAME_CREATOR, [cat.id, groupId], async () =>
      app
        .db('group_members')
        .insert({ group_id: groupId, member_id: ann.id, role: 0 })
        .onConflict(['group_id', 'member_id'])
        .merge({ is_deleted: false, role: 0 }),
    );
    expect(await roles()).toEqual({ Ann: MEMBER, Bob: MEMBER, Cat: CREATOR });
    await expectWholeGroup(app, groupId);
  });
});

describe('group operations', () => {
  itOnOneServer('are retried when PostgreSQL aborts them as a deadlock', async () => {
    await withFailures(app, async (nextOn) => {
      await nextOn('group_members');
      expectBody(await join(dan)(), { code: 200 });
      await nextOn('group_members');
      expectBody(await callGroup(dan, 'set_display_name', { groupId, displayName: 'Danny' }), { code: 200 });
      await nextOn('group_members');
      expectBody(await kick(ann, dan)(), { code: 200 });
      await nextOn('groups');
      expectBody(await callGroup(ann, 'rename', { groupId, name: 'Climbers' }), { code: 200 });
    });
  });
});

describe('closing an account', () => {
  // guard group-races-16: closing an account dismisses groups without other members
  // src/features/groups/dismissals-repository.ts
  // - const dismissed = await dismissEmpty(this.db, { groupIds });
  // + const dismissed: { id: string }[] = [];
  it('passes its groups on like quit, and dismisses those without other members', async () => {
    const alone = await createGroup(app, [ann]);
    await expectOk(ann.agent.post('/group/set_manager').send({ groupId, memberIds: [cat.id] }));
    expectBody(await post(ann.agent, '/user/close_account', { password: ann.password }), { code: 200 });
    expect(await roles()).toEqual({ Bob: MEMBER, Cat: CREATOR });
    for (const id of [groupId, alone]) await expectWholeGroup(app, id);
    expect(await app.db('security_events').where({ event: 'group_dismissed', detail: alone })).toHaveLength(1);
  });
});

it('four members acting at random leave each group whole, and their clients show it', async () => {
  const groups = [groupId, await createGroup(app, [bob, ann]), await createGroup(app, [cat, dan])];
  const people = [ann, bob, cat, dan];
  const second = await Promise.all(people.map((person) => signIn(app, person)));
  const clients = await Promise.all(people.map((person) => settledClient(person)));
  let state = Number(process.env.GROUPS_SEED ?? 1);
  const below = (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor(state / 65_536) % limit;
  };
  const act = async (me: SignedInPerson): Promise<Answer[]> => {
    const answers: Answer[] = [];
    while (answers.length < amount(40)) {
      const id = groups[below(groups.length)] ?? groupId;
      const other = people[below(people.length)] ?? ann;
      const some = { groupId: id, memberIds: [other.id] };
      const calls: Call[] = [
        () => callGroup(me, 'join', { groupId: id }),
        () => callGroup(me, 'join', { groupId: id }),
        () => callGroup(me, 'add', some),
        () => callGroup(me, 'add', some),
        () => callGroup(me, 'quit', { groupId: id }),
        () => callGroup(me, 'kick', some),
        () => callGroup(me, 'set_manager', some),
        () => callGroup(me, 'remove_manager', some),
        () => callGroup(me, 'rename', { groupId: id, name: `No ${below(99)}` }),
        () => callGroup(me, 'transfer', { groupId: id, userId: other.id }),
      ];
      answers.push(await (calls[below(calls.length)] ?? join(me))());
    }
    return answers;
  };
  let isGoing = true;
  const reading = clients.map(async (client) => {
    while (isGoing) await client.sync();
  });
  const answers = (await Promise.all([...people, ...second].map(act))).flat();
  isGoing = false;
  await Promise.all(reading);
  expect(Object.keys(countCodes(answers)).every((code) => ['200', '400', '403', '404'].includes(code))).toBe(true);
  for (const id of groups) await expectWholeGroup(app, id);
  for (const [index, client] of clients.entries()) {
    await client.sync();
    expect(client.state()).toEqual(await fullState(people[index] ?? ann));
  }
});
