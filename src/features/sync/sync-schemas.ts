import { z } from 'zod';
import type { SyncBlacklistEntry, SyncFriendship, SyncMember, SyncMembership, SyncUser } from './sync-repository';

const MESSAGE = 'must be an integer from 0 to 9007199254740991';

export const sinceVersion = z.object({
  version: z
    .string()
    .regex(/^[0-9]{1,16}$/, MESSAGE)
    .transform(Number)
    .refine(Number.isSafeInteger, MESSAGE),
});

export function userView({ id, nickname, portraitUri, version }: SyncUser) {
  return { id, nickname, portraitUri, timestamp: version };
}

export function blacklistView({ friendId, status, version }: SyncBlacklistEntry) {
  return { friendId, status, timestamp: version };
}

export function friendView({ friendId, displayName, status, version }: SyncFriendship) {
  return { friendId, displayName, status, timestamp: version };
}

export function groupView(row: SyncMembership) {
  return {
    displayName: row.displayName,
    role: row.role,
    isDeleted: row.isDeleted,
    group: { id: row.groupId, name: row.groupName, portraitUri: row.groupPortraitUri, timestamp: row.groupVersion },
  };
}

export function memberView(row: SyncMember) {
  return {
    groupId: row.groupId,
    memberId: row.memberId,
    displayName: row.displayName,
    role: row.role,
    isDeleted: row.isDeleted,
    timestamp: row.version,
    user: { nickname: row.nickname, portraitUri: row.portraitUri },
  };
}
