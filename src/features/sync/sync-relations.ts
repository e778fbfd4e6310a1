import { statement } from '../../database/statement';
import type { FriendStatus } from '../friendships/invitation';
import { NAMES, withNames } from '../users/names';

/** Rows of one statement and of one chunk of the answer: a few milliseconds of work, for which all others wait. */
export const CHUNK = 500;
/** So many rows with names of users are read with everything else, on the shared connections. */
export const FEW = 200;

/** The names are there when the client has asked for them. */
export interface SyncRelation {
  friendId: string;
  version: number;
  nickname?: string;
  portraitUri?: string;
}

export interface SyncBlacklistEntry extends SyncRelation {
  status: boolean;
}

export interface SyncFriendship extends SyncRelation {
  displayName: string;
  status: FriendStatus;
}

export type Asked = 'userId' | 'since';

/** Rows that have ended are for a client that may hold them: none is sent to one that begins with 0. */
const BLACKLIST = `
  SELECT friend_id AS "friendId", status, version FROM blacklist
   WHERE user_id = :userId AND (status OR :since::bigint > 0)`;

const FRIENDSHIPS = `
  SELECT friend_id AS "friendId", display_name AS "displayName", status, version
    FROM friendships WHERE user_id = :userId AND (status <> 30 OR :since::bigint > 0)`;

/**
 * One more than a chunk is enough to know that there are many. In the order of the index: with a LIMIT alone PostgreSQL
 * may read the table, where one user has most of it.
 */
export const blacklist = statement<SyncBlacklistEntry, Asked>(
  'sync-blacklist',
  `${BLACKLIST} AND version > :since ORDER BY user_id, version LIMIT ${CHUNK + 1}`,
);

/** Not prepared, like pages of members. */
export const pageOfBlacklist = statement<SyncBlacklistEntry, Asked | 'after'>(
  'sync-page-of-blacklist',
  `${BLACKLIST} AND version > :since AND friend_id > :after ORDER BY friend_id LIMIT ${CHUNK}`,
  { prepared: false },
);

export const friendships = statement<SyncFriendship, Asked>(
  'sync-friendships',
  `${FRIENDSHIPS} AND version > :since ORDER BY user_id, version LIMIT ${CHUNK + 1}`,
);

export const pageOfFriendships = statement<SyncFriendship, Asked | 'after'>(
  'sync-page-of-friendships',
  `${FRIENDSHIPS} AND version > :since AND friend_id > :after ORDER BY friend_id LIMIT ${CHUNK}`,
  { prepared: false },
);

/** A row that has ended shows no name. */
function named(columns: string, rows: string, holds: string): string {
  return `
    SELECT row."friendId", ${columns}, greatest(row.version, u.version) AS version,
           ${NAMES}
      FROM (${rows}) AS row
      ${withNames('row."friendId"', holds)}`;
}

const namedEntries = (rows: string) => named('row.status', rows, 'row.status');
const namedFriends = (rows: string) => named('row."displayName", row.status', rows, 'row.status <> 30');

/** Anybody can put a user on a blacklist, and so the user's rename writes nothing there: it is looked for. */
const RENAMED_ENTRIES = `
  SELECT friend_id AS "friendId", status, entry.version
    FROM (SELECT friend_id, status, version FROM blacklist
           WHERE user_id = :userId AND status AND version <= :since OFFSET 0) AS entry
   CROSS JOIN LATERAL (SELECT FROM users WHERE id = entry.friend_id AND version > :since OFFSET 0) AS renamed`;

/** A friend's rename gives the friendship a new named_version. Each half has an index of its own. */
const RENAMED_FRIENDS = `${FRIENDSHIPS} AND version <= :since AND named_version > :since`;

export const namedBlacklist = statement<SyncBlacklistEntry, Asked>(
  'sync-named-blacklist',
  namedEntries(`${BLACKLIST} AND version > :since UNION ALL ${RENAMED_ENTRIES} LIMIT ${FEW + 1}`),
);

export const pageOfNamedBlacklist = statement<SyncBlacklistEntry, Asked | 'after'>(
  'sync-page-of-named-blacklist',
  `${namedEntries(`
    ${BLACKLIST} AND (version > :since OR status AND :since < (SELECT version FROM users WHERE id = friend_id))
       AND friend_id > :after ORDER BY friend_id LIMIT ${CHUNK}`)} ORDER BY row."friendId"`,
  { prepared: false },
);

export const namedFriendships = statement<SyncFriendship, Asked>(
  'sync-named-friendships',
  namedFriends(`${FRIENDSHIPS} AND version > :since UNION ALL ${RENAMED_FRIENDS} LIMIT ${FEW + 1}`),
);

export const pageOfNamedFriendships = statement<SyncFriendship, Asked | 'after'>(
  'sync-page-of-named-friendships',
  `${namedFriends(`
    ${FRIENDSHIPS} AND (version > :since OR named_version > :since)
       AND friend_id > :after ORDER BY friend_id LIMIT ${CHUNK}`)} ORDER BY row."friendId"`,
  { prepared: false },
);
