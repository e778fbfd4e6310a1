import type { MembershipsRepository } from './memberships-repository';

type Roles = Map<string, number>;

/**
 * Locks a group for a caller whom `check` lets pass, by the roles of `ids`. It checks once before the lock, so that a
 * caller who may not do it waits for nobody and keeps nobody waiting, and again under the lock, where the answer holds.
 * Returns how many members there are.
 */
export async function lockAs(
  memberships: MembershipsRepository,
  groupId: string,
  ids: string[],
  check: (roles: Roles) => void,
): Promise<number> {
  check(await memberships.roles(groupId, ids));
  const count = await memberships.lock(groupId);
  check(await memberships.roles(groupId, ids));
  return count;
}
