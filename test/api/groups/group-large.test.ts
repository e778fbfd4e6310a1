import { expectBody, expectRefusal, post, type Answer } from '../../support/calls';
import { CREATOR, expectWholeGroup, callGroup, MEMBER, rolesIn } from '../../support/groups';
import { field, signIn } from '../../support/people';
import { stage } from '../../support/stage';
import { connectWriter, foldingClientOf, fullState, settledClient, sync } from '../../support/sync';
import { until } from '../../support/until';
import { cancelWaiting, whileHeld } from '../../support/waiting';

/** Members whose ids sort before all others, so that those of the onlookers are ended last. */
const CROWD = 5_000;

const { app, ann, bob, cat } = stage({ env: { GROUP_MAX_MEMBERS: '100000' }, people: 3, peopleOnce: true });
let groupId: string;
let count = 0;
beforeAll(async () => {
  await app.db.raw(
    `INSERT INTO users (id, nickname) SELECT '-crowd' || n, 'Crowd ' || n FROM generate_series(1, ?) n`,
    [CROWD],
  );
});
/** Makes Ann the creator of a large group and Bob a member. */
beforeEach(async () => {
  groupId = `large${(count += 1)}`;
  await app
    .db('groups')
    .insert({ id: groupId, name: 'Crowd', portrait_uri: 'https://img.example/c.png', creator_id: ann.id });
  // By no connection of the service, which may be cut on a busy machine.
  const importer = await connectWriter(app);
  await importer.query(
    `INSERT INTO group_members (group_id, member_id)
       SELECT $1, '-crowd' || n FROM generate_series(1, ${CROWD}) n UNION ALL SELECT $1, unnest($2::text[])`,
    [groupId, [ann.id, bob.id]],
  );
  await importer.end();
});
afterEach(async () => {
  await app.db('groups').where({ id: groupId, dismissed_at: null }).update({ dismissed_at: new Date() });
  await app.sweep();
});

const dismiss = () => callGroup(ann, 'dismiss', { groupId });
const living = async () => Object.keys(await rolesIn(app, groupId)).length;
const counts = async () => {
  const { rows } = await app.db.raw<{ rows: { written: number; version: number }[] }>(
    `SELECT count(*)::int AS written, max(version)::float8 AS version FROM group_members WHERE group_id = ?`,
    [groupId],
  );
  return rows[0];
};

/** Returns how many rows of memberships a call writes. */
async function writtenBy(call: () => Promise<Answer>): Promise<number> {
  const before = await counts();
  expectBody(await call(), { code: 200 });
  return app
    .db('group_members')
    .where({ group_id: groupId })
    .where('version', '>', before?.version ?? 0)
    .count<{ count: number }[]>('* as count')
    .then(([found]) => Number(found?.count));
}

describe('a group of 5,000 members', () => {
  it('has only the memberships written that a change concerns', async () => {
    expect(await writtenBy(() => callGroup(cat, 'join', { groupId }))).toBe(1);
    expect(await writtenBy(() => callGroup(ann, 'rename', { groupId, name: 'Many' }))).toBe(0);
    expect(await writtenBy(() => callGroup(ann, 'kick', { groupId, memberIds: ['-crowd1', '-crowd2'] }))).toBe(2);
    expect(await writtenBy(() => callGroup(ann, 'transfer', { groupId, userId: bob.id }))).toBe(2);
    expect(await writtenBy(() => callGroup(bob, 'quit', { groupId }))).toBe(2);
    await expectWholeGroup(app, groupId);
  });

  it('returns its members a page at a time, each once', async () => {
    const { body, headers } = await callGroup(bob, `${groupId}/members`);
    const ids = (field(body, 'result') as { user: { id: string } }[]).map(({ user }) => user.id);
    expect(ids).toHaveLength(CROWD + 2);
    expect(ids).toEqual([...new Set(ids)].sort());
    // In chunks: the length is not known in advance.
    expect(headers).toMatchObject({ 'transfer-encoding': 'chunked' });
  });

  // guard group-large-1: the end of a group is reported without its name
  // src/features/sync/sync-groups.ts
  // - CASE WHEN ${IS_OUT} THEN '' ELSE g.name END
  // + g.name
  // guard group-large-2: the end of a group is reported without its portrait
  // src/features/sync/sync-groups.ts
  // - CASE WHEN ${IS_OUT} THEN '' ELSE g.portrait_uri END
  // + g.portrait_uri
  // guard group-large-3: a dismissed group is gone for each client at once
  // src/features/sync/sync-groups.ts
  // - IS_OUT = 'g.dismissed_at IS NOT NULL'
  // + IS_OUT = 'false'
  // guard group-large-4: the members of a dismissed group are not sent
  // src/features/sync/sync-groups.ts
  // - AND NOT EXISTS (SELECT FROM group_dismissals WHERE group_id = me.group_id)
  // guard group-large-5: clients learn of a dismissal
  // migrations/0020_circles.up.sql
  // - (NEW.name, NEW.portrait_uri, NEW.dismissed_at, NEW.bulletin)
  // -   IS DISTINCT FROM (OLD.name, OLD.portrait_uri, OLD.dismissed_at, OLD.bulletin)
  // + (NEW.name, NEW.portrait_uri, NEW.bulletin)
  // +   IS DISTINCT FROM (OLD.name, OLD.portrait_uri, OLD.bulletin)
  it('is gone for everybody once dismiss is answered, while most memberships are still to be ended', async () => {
    const clients = [await settledClient(ann), await settledClient(bob)];
    // Locks a row after the first 500, so that the rest waits for it.
    const lock = `SELECT FROM group_members WHERE group_id = ? AND member_id = '-crowd999' FOR UPDATE`;
    const dismissed = await whileHeld(app, lock, [groupId], dismiss, async () => {
      expect(await living()).toBeGreaterThan(0);
      for (const [index, client] of clients.entries()) {
        const { groups, group_members } = await client.sync();
        expect(groups).toMatchObject([{ isDeleted: true, group: { id: groupId, name: '', portraitUri: '' } }]);
        expect(group_members.filter((member) => member.groupId === groupId)).toEqual([]);
        expect(client.state()).toEqual(await fullState(index === 0 ? ann : bob));
      }
      const full = await sync(bob);
      expect(full.group_members.filter((member) => member.groupId === groupId)).toEqual([]);
      expect((await callGroup(bob, groupId)).body).toMatchObject({ result: { memberCount: 0 } });
      expectRefusal(await callGroup(bob, `${groupId}/members`), 404);
      // The request gives up at the lock, and leaves the rest to the sweep.
      await cancelWaiting(app.db);
      expectRefusal(await callGroup(cat, 'join', { groupId }), 404);
      for (const operation of ['quit', 'set_display_name'])
        expectRefusal(await callGroup(bob, operation, { groupId, displayName: 'Bobby' }), 404);
      expectBody(await post(bob.agent, '/user/groups'), { code: 200, result: [] });
    });
    expectBody(dismissed, { code: 200 });
    await app.sweep();
    await expectWholeGroup(app, groupId);
    for (const [index, client] of clients.entries()) {
      await client.sync();
      expect(client.state()).toEqual(await fullState(index === 0 ? ann : bob));
    }
    expect((await callGroup(bob, groupId)).status).toBe(200);
  });

  // guard group-large-6: a large group is ended in short transactions
  // src/features/groups/dismissals-repository.ts
  // - const CHUNK = 500;
  // + const CHUNK = 100_000;
  it('is ended in transactions of at most 500 memberships', async () => {
    expectBody(await dismiss(), { code: 200 });
    await until(async () => (await app.db('group_dismissals').where({ group_id: groupId })).length === 0);
    const ended = await app
      .db('group_members')
      .where({ group_id: groupId })
      .groupBy('version')
      .select<{ rows: number }[]>(app.db.raw('count(*)::int AS rows'));
    expect(Math.max(...ended.map(({ rows }) => rows))).toBeLessThanOrEqual(500);
    expect(ended.length).toBeGreaterThan(10);
  });

  // guard group-large-7: a sweep ends what is left of a dismissed group
  // src/features/groups/build-groups.ts
  // - { name: 'dismissals', run: () => dismissals.sweep() }
  it('is ended by a sweep if the process that dismissed it stops midway, or another service dismissed it', async () => {
    await app.db('groups').where({ id: groupId }).update({ dismissed_at: new Date() });
    expect(await living()).toBe(CROWD + 2);
    const client = foldingClientOf(await signIn(app, bob));
    await client.sync();
    expect(client.state().groups).toEqual([]);
    await app.sweep();
    await expectWholeGroup(app, groupId);
    expect(await app.db('group_dismissals').where({ group_id: groupId })).toEqual([]);
    expect((await callGroup(bob, groupId)).status).toBe(200);
  });

  it('passes on to the member who has been there longest', async () => {
    await app.db('group_members').where({ group_id: groupId, member_id: bob.id }).delete();
    await app.db('group_members').where({ group_id: groupId, member_id: bob.id }).update({ is_deleted: false });
    expectBody(await callGroup(ann, 'quit', { groupId }), { code: 200 });
    const roles = await rolesIn(app, groupId);
    expect(roles[bob.id]).toBe(MEMBER);
    expect(Object.values(roles).filter((role) => role === CREATOR)).toHaveLength(1);
    await expectWholeGroup(app, groupId);
  });
});
