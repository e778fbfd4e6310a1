import type { TestApp } from './app';
import { post, type Answer } from './calls';
import { expectOk, field, type SignedInPerson } from './people';

type Named = Pick<SignedInPerson, 'id'>;

export const CREATOR = 0;
export const MEMBER = 1;
export const MANAGER = 2;

/** Calls an operation under /group. */
export function callGroup({ agent }: Pick<SignedInPerson, 'agent'>, operation: string, body?: object): Promise<Answer> {
  return post(agent, `/group/${operation}`, body);
}

export const idsOf = (people: Named[]) => people.map(({ id }) => id);

/** Inserts the friendship on both sides straight into the table. */
export async function befriend({ db }: Pick<TestApp, 'db'>, one: Named, others: Named[]): Promise<void> {
  const rows = others.flatMap(({ id }) => [
    { user_id: one.id, friend_id: id, status: 20 },
    { user_id: id, friend_id: one.id, status: 20 },
  ]);
  if (rows.length > 0) await db('friendships').insert(rows).onConflict(['user_id', 'friend_id']).merge(['status']);
}

/** Creates a group by the operation. The first person is its creator, and a friend of all others. */
export async function createGroup(app: TestApp, [creator, ...others]: [SignedInPerson, ...Named[]]): Promise<string> {
  await befriend(app, creator, others);
  const body = { name: 'Hiking club', memberIds: idsOf(others) };
  const { result } = await expectOk(creator.agent.post('/group/create').send(body));
  return String(field(result, 'id'));
}

/** Returns the roles in the table by member. */
export async function rolesIn({ db }: Pick<TestApp, 'db'>, groupId: string): Promise<Record<string, number>> {
  const rows = await db('group_members')
    .where({ group_id: groupId, is_deleted: false })
    .select<{ member_id: string; role: number }[]>('member_id', 'role');
  return Object.fromEntries(rows.map(({ member_id, role }) => [member_id, role]));
}

/**
 * Expects the rules that always hold: a living group has one creator, who is a member and whom creator_id names; the
 * number of members is that of living memberships; and a dismissed group has none.
 */
export async function expectWholeGroup({ db }: Pick<TestApp, 'db'>, groupId: string): Promise<void> {
  const group = await db('groups')
    .where({ id: groupId })
    .first<{ creator_id: string; dismissed_at: Date | null }>('creator_id', 'dismissed_at');
  const roles = await rolesIn({ db }, groupId);
  const size = await db('group_sizes').where({ group_id: groupId }).first<{ members: number }>('members');
  const creators = Object.keys(roles).filter((id) => roles[id] === CREATOR);
  expect({ members: size.members, creators }).toEqual({
    members: Object.keys(roles).length,
    creators: group.dismissed_at === null ? [group.creator_id] : [],
  });
  if (group.dismissed_at !== null) expect(roles).toEqual({});
}
