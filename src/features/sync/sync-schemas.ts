import { z } from 'zod';
import { id } from '../../http/parse';
import { profile } from '../users/profile';
import type { SyncBlacklistEntry, SyncFriendship, SyncRelation } from './sync-relations';
import type { SyncMember, SyncMembership, SyncUser } from './sync-repository';

const MESSAGE = 'must be an integer from 0 to 9007199254740991';

export const sinceVersion = z.object({
  version: z
    .string()
    .regex(/^[0-9]{1,16}$/, MESSAGE)
    .transform(Number)
    .refine(Number.isSafeInteger, MESSAGE),
});

export const asked = z.object({ names: z.literal(true).optional() });

const timestamp = z.number().int().nonnegative();
const user = profile.extend({ timestamp });
const shown = z.strictObject({ nickname: z.string(), portraitUri: z.string() });
/** For a client that asks for names. */
const named = z.strictObject({ user: shown.optional() });
const blacklistEntry = named.extend({ friendId: id, status: z.boolean(), timestamp });
const friend = named.extend({ friendId: id, displayName: z.string(), status: z.number(), timestamp });
const group = z.strictObject({
  displayName: z.string(),
  role: z.number(),
  isDeleted: z.boolean(),
  group: z.strictObject({ id, name: z.string(), portraitUri: z.string(), timestamp }),
});
const member = z.strictObject({
  groupId: id,
  memberId: id,
  displayName: z.string(),
  role: z.number(),
  isDeleted: z.boolean(),
  timestamp,
  user: shown,
});

export const changes = z.strictObject({
  version: timestamp,
  user,
  blacklist: z.array(blacklistEntry),
  friends: z.array(friend),
  groups: z.array(group),
  group_members: z.array(member),
});

export function userView({ version, ...profile }: SyncUser): z.infer<typeof user> {
  return { ...profile, timestamp: version };
}

export function blacklistView({
  friendId,
  status,
  version,
  ...names
}: SyncBlacklistEntry): z.infer<typeof blacklistEntry> {
  return { friendId, status, timestamp: version, ...namesView(names) };
}

export function friendView({
  friendId,
  displayName,
  status,
  version,
  ...names
}: SyncFriendship): z.infer<typeof friend> {
  return { friendId, displayName, status, timestamp: version, ...namesView(names) };
}

function namesView({ nickname, portraitUri }: Pick<SyncRelation, 'nickname' | 'portraitUri'>): z.infer<typeof named> {
  return nickname === undefined || portraitUri === undefined ? {} : { user: { nickname, portraitUri } };
}

export function groupView(row: SyncMembership): z.infer<typeof group> {
  return {
    displayName: row.displayName,
    role: row.role,
    isDeleted: row.isDeleted,
    group: { id: row.groupId, name: row.groupName, portraitUri: row.groupPortraitUri, timestamp: row.groupVersion },
  };
}

export function memberView(row: SyncMember): z.infer<typeof member> {
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
