import type { ReasonOf } from '../../base/reasons';
import type { MembershipsRepository } from './memberships-repository';
import { unfit } from './refusals';

interface Bringing {
  /** The user who adds the others. */
  userId: string;
  /** Ids as sent. */
  memberIds: string[];
  /** Locked users. Conditions that held before the lock are checked again for them. */
  open: string[];
  addFriendsOnly: boolean;
  maxJoined: number;
}

/**
 * Refuses all when one of them does not have an open account, is not a friend where only friends may be added, has
 * blacklisted the user, has quit the group, or is in too many. About strangers it only reveals the first of these.
 */
export async function checkNewcomers(
  memberships: MembershipsRepository,
  { userId, memberIds, open, addFriendsOnly, maxJoined }: Bringing,
  newcomers: string[],
  groupId?: string,
): Promise<void> {
  const fit = new Set(await memberships.fitAmong(userId, open, addFriendsOnly));
  const known = newcomers.filter((id) => fit.has(id));
  const quitters = groupId === undefined ? [] : await memberships.quittersAmong(groupId, known);
  const kinds: [reason: ReasonOf<400>, why: string, ids: string[]][] = [
    [
      addFriendsOnly ? 'friends_only' : 'unknown_user',
      addFriendsOnly ? 'is not your friend' : 'is not a user',
      newcomers.filter((id) => !fit.has(id)),
    ],
    ['has_quit', 'has quit, and only comes back by joining', quitters],
    ['member_full', `is in ${maxJoined} groups already`, await memberships.fullAmong(known, maxJoined)],
  ];
  const first = kinds.find(([, , ids]) => ids.length > 0);
  if (!first) return;
  const whys = new Map(kinds.flatMap(([, why, ids]) => ids.map((id) => [id, why] as const)));
  throw unfit(first[0], memberIds, whys);
}
