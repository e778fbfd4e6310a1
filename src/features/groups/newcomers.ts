import type { ReasonOf } from '../../base/reasons';
import type { GroupSettings } from './groups-service';
import type { MembershipsRepository } from './memberships-repository';
import { unfit } from './refusals';

interface Bringing extends Pick<GroupSettings, 'addFriendsOnly' | 'maxJoined'> {
  /** The user who brings the others in. */
  userId: string;
  /** As they were sent. */
  memberIds: string[];
  /** Those who are locked: of these what was true before the lock is asked again. */
  open: string[];
}

/**
 * Refuses all when one of them has no open account, is no friend where only friends are brought in, has blacklisted the
 * user, has quit the group, or is in too many. What is said of strangers is the first of these alone.
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
      addFriendsOnly ? 'is not your friend' : 'is no such user',
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
