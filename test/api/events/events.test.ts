import { post } from '../../support/calls';
import { untilEventsSeen } from '../../support/events';
import { befriend, callGroup, createGroup } from '../../support/groups';
import { expectOk, registerAndSignIn, signIn, type SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';
import { connectWriter } from '../../support/sync';

const { app, ann, bob } = stage({ people: 2 });
beforeEach(() => befriend(app, ann, [bob]));

/** Returns the events of some work by their kinds, each with the names of those whom it concerns. */
async function told(work: () => Promise<unknown>, names: Record<string, string> = {}): Promise<string[]> {
  await untilEventsSeen(app);
  await app.db('events').delete();
  await work();
  await untilEventsSeen(app);
  const known: Record<string, string> = { [ann.id]: 'ann', [bob.id]: 'bob', ...names };
  const rows = await app
    .db('events')
    .select<{ kind: string; subject: string; other: string }[]>('kind', 'subject', 'other');
  return rows
    .map(({ kind, subject, other }) =>
      [kind, known[subject] ?? 'new', ...(other ? [known[other] ?? other] : [])].join(' '),
    )
    .sort();
}

const by = ({ agent }: SignedInPerson, path: string, body?: object) => expectOk(agent.post(path).send(body));

describe('an event is written', () => {
  it('when a user registers', async () => {
    expect(await told(() => registerAndSignIn(app))).toEqual(['phone.changed new', 'user.registered new']);
  });

  it.each<[string, () => Promise<unknown>, string[]]>([
    ['a new nickname', () => by(ann, '/user/set_nickname', { nickname: 'Annabel' }), ['user.updated ann']],
    ['a nickname that stays the same', () => by(ann, '/user/set_nickname', { nickname: 'Ann' }), []],
    [
      'a new password',
      () => by(ann, '/user/change_password', { ...ann, oldPassword: ann.password, newPassword: 'password-2' }),
      ['password.changed ann', 'sessions.ended ann'],
    ],
    ['a logout', () => by(ann, '/user/logout'), ['sessions.ended ann']],
    [
      'an entry of the blacklist',
      () => by(ann, '/user/add_to_blacklist', { friendId: bob.id }),
      ['blacklist.changed ann bob'],
    ],
    [
      'a name for a friend',
      () => by(ann, '/friendship/set_display_name', { friendId: bob.id, displayName: 'B' }),
      ['friendship.changed ann bob'],
    ],
    [
      'a new group',
      () => createGroup(app, [ann, bob]),
      ['group.created new', 'members.changed new ann', 'members.changed new bob'],
    ],
    [
      'a row of another service',
      () => app.db('users').where({ id: bob.id }).update({ suspended_at: new Date() }),
      ['user.suspended bob'],
    ],
  ])('with %s', async (_, make, events) => {
    expect(await told(make)).toEqual(events);
  });

  it('for each change of a group', async () => {
    const group = await createGroup(app, [ann, bob]);
    const of = (operation: string, body: object = {}, caller = ann) =>
      told(async () => expectOk(await callGroup(caller, operation, { groupId: group, ...body })), { [group]: 'group' });
    expect(await of('rename', { name: 'Walkers' })).toEqual(['group.changed group']);
    expect(await of('set_bulletin', { bulletin: 'Sunday' })).toEqual(['group.changed group']);
    expect(await of('set_manager', { memberIds: [bob.id] })).toEqual(['members.changed group bob']);
    expect(await of('quit', {}, bob)).toEqual(['members.changed group bob']);
    expect(await of('dismiss')).toContain('group.dismissed group');
  });

  const closeAnn = () => {
    const { region, phone, password } = ann;
    return post(ann.agent, '/user/close_account', { region, phone, password });
  };
  const closeAnnBySql = async () => {
    await app.db('users').where({ id: ann.id }).update({ closed_at: app.db.fn.now() });
    await app.sweep();
  };
  const dismissBySql = async () =>
    app.db('groups').where({ creator_id: ann.id }).update({ dismissed_at: app.db.fn.now() });

  it('for the end of an account', async () => {
    expect(await told(closeAnn)).toContain('user.closed ann');
  });

  // guard events-2: the dismissal of an empty group is told
  // migrations/0030_empty_groups_told.up.sql
  // - IF NOT FOUND THEN
  // + IF false THEN
  // guard events-3: the dismissal of a group with members is told once
  // migrations/0030_empty_groups_told.up.sql
  // - IF NOT FOUND THEN
  // + IF true THEN
  it.each<[string, () => Promise<unknown>]>([
    ['the account of its last member is closed', closeAnn],
    ['another service closes that account', closeAnnBySql],
    ['another service dismisses it', dismissBySql],
    [
      'another service empties it and then dismisses it',
      async () => {
        await app.db('group_members').where({ member_id: ann.id }).update({ is_deleted: true });
        await dismissBySql();
      },
    ],
  ])('once for a dismissed group when %s', async (_, dismiss) => {
    const group = await createGroup(app, [ann, bob]);
    await expectOk(await callGroup(bob, 'quit', { groupId: group }));
    const events = await told(dismiss, { [group]: 'group' });
    expect(events.filter((event) => event.startsWith('group.'))).toEqual(['group.dismissed group']);
  });

  it('not for a phone whose account is used, or whose language is known', async () => {
    const change = { awake_at: app.db.raw(`now() - interval '2 days'`), language: 'de' };
    expect(await told(async () => app.db('phones').where({ user_id: ann.id }).update(change))).toEqual([]);
    expect(await told(() => signIn(app, ann))).toEqual([]);
  });

  it('not when the transaction is rolled back', async () => {
    const writer = await connectWriter(app);
    const events = await told(async () => {
      await writer.query('BEGIN');
      await writer.query(`UPDATE users SET nickname = 'Annabel' WHERE id = $1`, [ann.id]);
      await writer.query('ROLLBACK');
    });
    await writer.end();
    expect(events).toEqual([]);
  });

  // guard events-1: the deletion of an expired session is not told
  // migrations/0027_events.up.sql
  // - WHERE expire > now()
  it('not for a session that has expired before it is deleted', async () => {
    await signIn(app, ann);
    expect(
      await told(async () => {
        await app.db('session').update({ expire: app.db.raw(`now() - interval '1 minute'`) });
        await app.db('session').delete();
      }),
    ).toEqual([]);
  });

  it('and deleted a week later', async () => {
    // Ends what other tests have left, which is an event too.
    await app.sweep();
    await untilEventsSeen(app);
    await app.db('events').delete();
    const insert = (hours: number) =>
      app.db.raw(
        `INSERT INTO events (version, number, subject, kind, at)
         VALUES (?, 1, ?, 'user.updated', now() - make_interval(hours => ?))`,
        [hours, String(hours), hours],
      );
    await insert(167);
    await insert(169);
    await app.sweep();
    expect(await app.db('events').pluck('subject')).toEqual(['167']);
  });
});
