import type { MembershipsRepository } from './memberships-repository';
import { unfit } from './refusals';

/**
 * Refuses all when one of them has no open account, or is no friend where only friends are brought in, or has
 * blacklisted the user. `open` are those who are locked: of these what was true before the lock is asked again.
 */
export async function checkNewcomers(
  memberships: MembershipsRepository,
  {
    userId,
    memberIds,
    open,
    friendsOnly,
  }: { userId: string; memberIds: string[]; open: string[]; friendsOnly: boolean },
  newcomers: string[],
): Promise<void> {
  const fit = new Set(await memberships.fitAmong(userId, open, friendsOnly));
  const others = newcomers.filter((id) => !fit.has(id));
  if (others.length === 0) return;
  if (friendsOnly) throw unfit('friends_only', memberIds, others, 'is no friend of yours');
  throw unfit('unknown_user', memberIds, others, 'is no such user');
}
