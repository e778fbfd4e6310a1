import type { ReasonOf } from '../../base/reasons';
import type { MembershipsRepository } from './memberships-repository';
import { unfit } from './refusals';

interface Bringing {
  /** The user who brings the others in. */
  userId: string;
  /** As they were sent. */
  memberIds: string[];
  /** Those who are locked: of these what was true before the lock is asked again. */
  open: string[];
  friendsOnly: boolean;
  /** Groups that somebody may be in. 0: any number. */
  maxJoined: number;
}

/**
 * Refuses all when one of them has no open account, is no friend where only friends are brought in, has blacklisted the
 * user, has quit the group, or is in too many. What is said of strangers is the first of these alone.
 */
export async function checkNewcomers(
  memberships: MembershipsRepository,
  { userId, memberIds, open, friendsOnly, maxJoined }: Bringing,
  newcomers: string[],
  groupId?: string,
): Promise<void> {
  const fit = new Set(await memberships.fitAmong(userId, open, friendsOnly));
  const known = newcomers.filter((id) => fit.has(id));
  const kinds: [reason: ReasonOf<400>, why: string, ids: string[]][] = [
    [
      friendsOnly ? 'friends_only' : 'unknown_user',
      friendsOnly ? 'is no friend of yours' : 'is no such user',
      newcomers.filter((id) => !fit.has(id)),
    ],
    ['has_quit', 'has quit, and only comes back by joining', await quitters(memberships, known, groupId)],
    ['member_full', `is in ${maxJoined} groups already`, await memberships.fullAmong(known, maxJoined)],
  ];
  const [first] = kinds.filter(([, , ids]) => ids.length > 0);
  if (!first) return;
  const whys = new Map(kinds.flatMap(([, why, ids]) => ids.map((id) => [id, why] as const)));
  throw unfit(first[0], memberIds, whys);
}

async function quitters(memberships: MembershipsRepository, ids: string[], groupId?: string): Promise<string[]> {
  return groupId === undefined || ids.length === 0 ? [] : memberships.quittersAmong(groupId, ids);
}
