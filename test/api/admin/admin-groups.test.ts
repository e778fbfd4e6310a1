import { expectRefusal, post } from '../../support/calls';
import { createGroup, expectWholeGroup, rolesIn } from '../../support/groups';
import { command, noted, rowsOf } from '../../support/operator';
import { e164 } from '../../support/people';
import { stage } from '../../support/stage';

const { app, ann, bob, cat } = stage({ people: 3 });

const admin = (name: string, words: string[], options: Record<string, boolean> = {}) =>
  command(app, name, words, options);

describe('groups show', () => {
  it('shows a group with its creator and managers first', async () => {
    const group = await createGroup(app, [ann, bob, cat]);
    await post(ann.agent, '/group/set_manager', { groupId: group, memberIds: [cat.id] });
    const told = await admin('groups show', [group]);
    const expected = { id: group, name: 'Hiking club', state: 'open', creatorId: ann.id, madeBy: ann.id, members: 3 };
    expect(rowsOf(told, 'group')).toMatchObject([expected]);
    expect(rowsOf(told, 'members').map(({ nickname, role }) => [nickname, role])).toEqual([
      ['Ann', 'creator'],
      ['Cat', 'manager'],
      ['Bob', 'member'],
    ]);
  });
});

describe('groups dismiss', () => {
  it('dismisses a group for all, as its creator can, and the audit trail names the operator', async () => {
    const group = await createGroup(app, [ann, bob]);
    expect(rowsOf(await admin('groups dismiss', [group], { dryRun: true }), 'would dismiss')).toHaveLength(1);
    expect(Object.keys(await rolesIn(app, group))).toHaveLength(2);
    await admin('groups dismiss', [group]);
    await expectWholeGroup(app, group);
    expectRefusal(await post(bob.agent, `/group/${group}/members`), 404);
    const event = { event: 'group_dismissed', detail: group };
    expect(await app.db('security_events').where(event)).toMatchObject([
      { user_id: ann.id, user_agent: 'operator olga' },
    ]);
    expect((await noted(app))?.detail).toBe(`groups dismiss ${group}, by olga`);
    expect(rowsOf(await admin('groups show', [group]), 'group')).toMatchObject([{ state: 'dismissed', members: 0 }]);
    await expect(admin('groups dismiss', [group])).rejects.toThrow('the group is dismissed');
  });
});

describe('groups transfer', () => {
  it('makes another member the creator, by id or by phone', async () => {
    const group = await createGroup(app, [ann, bob]);
    await admin('groups transfer', [group, bob.id], { dryRun: true });
    expect(await rolesIn(app, group)).toMatchObject({ [ann.id]: 0 });
    const [row] = rowsOf(await admin('groups transfer', [group, e164(bob)]), 'transferred');
    expect(row).toEqual({ id: group, name: 'Hiking club', before: ann.id, after: bob.id });
    expect(await rolesIn(app, group)).toEqual({ [ann.id]: 1, [bob.id]: 0 });
    await expectWholeGroup(app, group);
    expect((await noted(app))?.detail).toBe(`groups transfer ${group} +447…${e164(bob).slice(-2)}, by olga`);
  });

  it('is refused in a sentence for anybody who cannot be the next creator', async () => {
    const group = await createGroup(app, [ann, bob]);
    for (const options of [{}, { dryRun: true }]) {
      await expect(admin('groups transfer', [group, ann.id], options)).rejects.toThrow('is the creator of this group');
      await expect(admin('groups transfer', [group, cat.id], options)).rejects.toThrow('is not a member of this group');
    }
    await expect(admin('groups transfer', ['nothing', bob.id])).rejects.toThrow('no group has this id');
  });
});
