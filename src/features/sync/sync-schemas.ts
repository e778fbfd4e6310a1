import { z } from 'zod';
import { described } from '../../base/schemas';
import { viewed, type Streamed } from '../../http/json-stream';
import { friendStatus } from '../friendships/friendships-schemas';
import { groupId, role, shownDisplayName, shownName, shownPortrait } from '../groups/groups-schemas';
import { names, otherId, profile } from '../users/profile';
import type { SyncMember, SyncMembership } from './sync-groups';
import type { SyncBlacklistEntry, SyncFriendship, SyncRelation } from './sync-relations';
import type { SyncUser } from './sync-repository';
import type { Changes } from './sync-service';

/** Proxies end a request without an answer after a minute. */
const MOST_WAIT = 50;
const WAIT_MESSAGE = `must be an integer from 1 to ${MOST_WAIT}, in seconds`;
const VERSION = 1_795_239_147_583_503;
const MESSAGE = 'must be an integer from 0 to 9007199254740991';

export const sinceVersion = z.object({
  version: z
    .string()
    .regex(/^[0-9]{1,16}$/, MESSAGE)
    .meta({
      type: 'integer',
      format: 'int64',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The version of the last answer; 0 for everything.',
      examples: [0],
    })
    .transform(Number)
    .refine(Number.isSafeInteger, MESSAGE),
});

export const asked = z
  .object({
    names: z
      .boolean('must be true or false')
      .optional()
      .meta({
        description: 'With true, rows of blacklist and friends also have `user`. False has no effect.',
        examples: [true],
      }),
    wait: z
      .int(WAIT_MESSAGE)
      .min(1, WAIT_MESSAGE)
      .max(MOST_WAIT, `must be at most ${MOST_WAIT} seconds`)
      .optional()
      .meta({
        description: 'Seconds for which an answer without changes waits for one. Without it, answers come at once.',
        examples: [25],
      }),
  })
  .meta({ id: 'SyncOptions', description: 'Options of the answer.' });

const timestamp = z
  .number()
  .int()
  .nonnegative()
  .meta({ format: 'int64', description: 'The version of the row. Clients do not need it.', examples: [VERSION] });
const isDeleted = z.boolean().meta({ description: 'The membership has ended: remove it.', examples: [false] });
const user = profile.extend({ timestamp }).meta({ id: 'SyncUser', description: 'The user, changed or not.' });
/** Present if the client asks for names. */
const named = z.strictObject({ user: names.optional() });
const blacklistEntry = named
  .extend({
    friendId: otherId,
    status: z.boolean().meta({ description: 'False if the entry has ended: remove it.', examples: [true] }),
    timestamp,
  })
  .meta({ id: 'SyncBlacklistEntry', description: 'A row of the blacklist.' });
const friend = named
  .extend({
    friendId: otherId,
    displayName: z.string().meta({ description: 'Empty if there is none.', examples: ['Annie'] }),
    status: friendStatus,
    timestamp,
  })
  .meta({ id: 'SyncFriend', description: 'A row of the friends and requests.' });
const group = z
  .strictObject({
    displayName: shownDisplayName,
    role,
    isDeleted,
    group: z
      .strictObject({ id: groupId, name: shownName, portraitUri: shownPortrait, timestamp })
      .meta({ id: 'SyncGroup', description: 'The group of a membership.' }),
  })
  .meta({ id: 'SyncMembership', description: 'A membership of the user.' });
const member = z
  .strictObject({ groupId, memberId: otherId, displayName: shownDisplayName, role, isDeleted, timestamp, user: names })
  .meta({ id: 'SyncMember', description: 'A member of a group of the user, or the user.' });

export const changes = z
  .strictObject({
    version: described(timestamp, {
      description: 'Send it with the next call, as it is. It looks like a time, but is not one.',
    }),
    user,
    blacklist: z.array(blacklistEntry).meta({ description: 'Changed entries of the blacklist, by `friendId`.' }),
    friends: z.array(friend).meta({ description: 'Changed friends and requests, by `friendId`.' }),
    groups: z.array(group).meta({ description: 'Changed memberships of the user, by `group.id`.' }),
    group_members: z.array(member).meta({ description: 'Changed members, by `groupId` and `memberId`.' }),
  })
  .meta({ id: 'SyncChanges', description: 'All that has changed since the version that was sent.' });

export function changesView({
  user,
  blacklist,
  friends,
  groups,
  members,
  version,
}: Changes): Streamed<z.infer<typeof changes>> {
  return {
    version,
    user: userView(user),
    blacklist: blacklist.map(blacklistView),
    friends: friends.map(friendView),
    groups: groups.map(groupView),
    group_members: viewed(members, memberView),
  };
}

/** The changes while nothing has changed. */
export function unchangedView({ user, version }: Pick<Changes, 'user' | 'version'>): z.infer<typeof changes> {
  return { version, user: userView(user), blacklist: [], friends: [], groups: [], group_members: [] };
}

function userView({ version, ...profile }: SyncUser): z.infer<typeof user> {
  return { ...profile, timestamp: version };
}

function blacklistView({ friendId, status, version, ...names }: SyncBlacklistEntry): z.infer<typeof blacklistEntry> {
  return { friendId, status, timestamp: version, ...namesView(names) };
}

function friendView({ friendId, displayName, status, version, ...names }: SyncFriendship): z.infer<typeof friend> {
  return { friendId, displayName, status, timestamp: version, ...namesView(names) };
}

function namesView({ nickname, portraitUri }: Pick<SyncRelation, 'nickname' | 'portraitUri'>): z.infer<typeof named> {
  return nickname === undefined || portraitUri === undefined ? {} : { user: { nickname, portraitUri } };
}

function groupView(row: SyncMembership): z.infer<typeof group> {
  return {
    displayName: row.displayName,
    role: row.role,
    isDeleted: row.isDeleted,
    group: { id: row.groupId, name: row.groupName, portraitUri: row.groupPortraitUri, timestamp: row.groupVersion },
  };
}

function memberView(row: SyncMember): z.infer<typeof member> {
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
