import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { befriend, callGroup, rolesIn } from '../../support/groups';
import { OPERATIONS } from '../../support/operations';
import type { SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';
import { insertGroup } from '../../support/sync';

/** The table of docs/security.md: what each role may do to which other role. */
const page = readFileSync(join(__dirname, '../../../docs/security.md'), 'utf8');
const section = page.slice(page.indexOf('## In a group'));
const [head = [], , ...rows] = section
  .slice(0, section.indexOf('\n#', 1))
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const whos = head.slice(1);
const cells = rows.flatMap(([operation = '', ...answers]) =>
  answers.map((expected, index) => ({ operation, who: whos[index] ?? '', expected })),
);

const people = stage({ people: 5, peopleOnce: true });
const { app, ann: creator, bob: manager, cat: member, dan: other, eve: me } = people;
let count = 0;
beforeAll(() => befriend(app, me, [other]));

/** Makes a group with a creator, a manager and a member. The caller is the creator, or is added to them. */
async function groupFor(who: string): Promise<{ groupId: string; people: Record<string, SignedInPerson> }> {
  const groupId = `matrix-${(count += 1)}`;
  const people = { creator: who === 'creator' ? me : creator, manager, member };
  await insertGroup(app, groupId, Object.values(people));
  const rowOf = ({ id }: SignedInPerson) => app.db('group_members').where({ group_id: groupId, member_id: id });
  await rowOf(manager).update({ role: 2 });
  if (who === 'nobody' || who === 'creator') return { groupId, people };
  await app.db('group_members').insert({ group_id: groupId, member_id: me.id, role: who === 'manager' ? 2 : 1 });
  if (who.startsWith('was')) await rowOf(me).update({ is_deleted: true, ending: who === 'was kicked' ? 'kicked' : '' });
  return { groupId, people };
}

/** Calls an operation of the table with a body that any role could send: '/group/kick of a manager'. */
async function call(operation: string, groupId: string, people: Record<string, SignedInPerson>): Promise<number> {
  const [path = '', words = ''] = operation.replaceAll('`', '').split(/ (.*)/);
  const [, target = 'member'] = /of (?:a|the) (member|manager|creator)/.exec(words) ?? [];
  const userId = people[target]?.id ?? '';
  const memberIds = [path === '/group/add' ? other.id : userId];
  const texts = { name: 'New name', portraitUri: 'https://a.b/c.png', bulletin: 'News', displayName: 'Me' };
  const answer = await callGroup(me, path.replace('/group/', '').replace(':id', groupId), {
    groupId,
    userId,
    memberIds,
    ...texts,
  });
  return answer.status;
}

describe('permissions in a group', () => {
  it('are listed in the table for every operation', () => {
    const named = new Set(rows.map(([operation = '']) => /`(.*?)`/.exec(operation)?.[1]));
    const paths = OPERATIONS.map(({ path }) => path as string).filter((path) => path.startsWith('/group/'));
    expect([...named].sort()).toEqual(paths.filter((path) => path !== '/group/create').sort());
    expect(whos).toEqual(['nobody', 'was a member', 'was kicked', 'member', 'manager', 'creator']);
  });

  // guard group-matrix-1: an action that a role in a group does not allow is refused
  // src/features/groups/refusals.ts
  // - if (!allowed.includes(own)) throw roleTooLow(own);
  it.each(cells)('for $operation by $who are as in the table: $expected', async ({ operation, who, expected }) => {
    const { groupId, people } = await groupFor(who);
    if (operation.includes('dismissed'))
      await app.db('groups').where({ id: groupId }).update({ dismissed_at: new Date() });
    const before = await rolesIn(app, groupId);
    const status = await call(operation, groupId, people);
    expect({ status }).toEqual({ status: expected === 'yes' ? 200 : Number(expected) });
    if (status !== 200) expect(await rolesIn(app, groupId)).toEqual(before);
  });
});
