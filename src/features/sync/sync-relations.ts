import { statement, type Source } from '../../database/statement';
import type { FriendStatus } from '../friendships/invitation';
import { joinNames, NAMES, peopleOf } from '../users/names';

/** Maximum rows of a statement, and of a chunk of the answer: a few milliseconds of work, while all others wait. */
export const CHUNK = 500;
/** Maximum rows with names of users that are read with everything else, on the shared connections. */
export const FEW = 200;

/** A row of a list of users, with their names if the client asked for these. */
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

export interface Asking {
  userId: string;
  since: number;
}

export type Asked = keyof Asking;

/** Ended rows are for clients that may hold them. A client that begins with 0 gets none. */
const BLACKLIST = `
  SELECT friend_id AS "friendId", status, version FROM blacklist
   WHERE user_id = :userId AND (status OR :since::bigint > 0)`;

const FRIENDSHIPS = `
  SELECT friend_id AS "friendId", display_name AS "displayName", status, version
    FROM friendships WHERE user_id = :userId AND (status <> 30 OR :since::bigint > 0)`;

/**
 * Reads one row more than a chunk, which shows that there are many. Ordered like the index: with only a LIMIT,
 * PostgreSQL may read the whole table if one user has most of it.
 */
const CHANGED_BLACKLIST = `${BLACKLIST} AND version > :since ORDER BY user_id, version LIMIT ${CHUNK + 1}`;

/** Not prepared, like pages of members. */
export const pageOfBlacklist = statement<SyncBlacklistEntry, Asked | 'after'>(
  'sync-page-of-blacklist',
  `${BLACKLIST} AND version > :since AND friend_id > :after ORDER BY friend_id LIMIT ${CHUNK}`,
  { prepared: false },
);

const CHANGED_FRIENDS = `${FRIENDSHIPS} AND version > :since ORDER BY user_id, version LIMIT ${CHUNK + 1}`;

export const pageOfFriendships = statement<SyncFriendship, Asked | 'after'>(
  'sync-page-of-friendships',
  `${FRIENDSHIPS} AND version > :since AND friend_id > :after ORDER BY friend_id LIMIT ${CHUNK}`,
  { prepared: false },
);

/** Adds names to rows, but not to ended ones. */
function named(columns: string, rows: string, holds: string): string {
  return `
    SELECT row."friendId", ${columns}, greatest(row.version, u.version) AS version,
           ${NAMES}
      FROM (${rows}) AS row
      ${joinNames('row."friendId"', holds)}`;
}

const namedEntries = (rows: string) => named('row.status', rows, 'row.status');
const namedFriends = (rows: string) => named('row."displayName", row.status', rows, 'row.status <> 30');

/** Finds renamed users. A rename writes nothing to blacklists, since anybody can put a user on one. */
const RENAMED_ENTRIES = `
  SELECT friend_id AS "friendId", status, entry.version
    FROM (SELECT friend_id, status, version FROM blacklist
           WHERE user_id = :userId AND status AND version <= :since OFFSET 0) AS entry
   CROSS JOIN LATERAL (SELECT FROM users WHERE id = entry.friend_id AND version > :since OFFSET 0) AS renamed`;

/** Finds renamed friends: a friend's rename gives the friendship a new named_version. Each half has its own index. */
const RENAMED_FRIENDS = `${FRIENDSHIPS} AND version <= :since AND named_version > :since`;

const NAMED_BLACKLIST = namedEntries(`${BLACKLIST} AND version > :since UNION ALL ${RENAMED_ENTRIES} LIMIT ${FEW + 1}`);

export const pageOfNamedBlacklist = statement<SyncBlacklistEntry, Asked | 'after'>(
  'sync-page-of-named-blacklist',
  `${namedEntries(`
    ${BLACKLIST} AND (version > :since OR status AND :since < (SELECT version FROM users WHERE id = friend_id))
       AND friend_id > :after ORDER BY friend_id LIMIT ${CHUNK}`)} ORDER BY row."friendId"`,
  {
    prepared: false,
    distributed: async (on, asked: Asking & { after: string }) =>
      (await changedEntries(on, asked, CHUNK)).slice(0, CHUNK),
  },
);

const NAMED_FRIENDS = namedFriends(`${FRIENDSHIPS} AND version > :since UNION ALL ${RENAMED_FRIENDS} LIMIT ${FEW + 1}`);

export const pageOfNamedFriendships = statement<SyncFriendship, Asked | 'after'>(
  'sync-page-of-named-friendships',
  `${namedFriends(`
    ${FRIENDSHIPS} AND (version > :since OR named_version > :since)
       AND friend_id > :after ORDER BY friend_id LIMIT ${CHUNK}`)} ORDER BY row."friendId"`,
  { prepared: false, distributed: async (on, asked) => withNames(on, await pageOfFriendsToName(on, asked)) },
);

/** Both lists as they are read with everything else. */
export const PLAIN_LISTS = { blacklist: CHANGED_BLACKLIST, friends: CHANGED_FRIENDS };
export const NAMED_LISTS = { blacklist: NAMED_BLACKLIST, friends: NAMED_FRIENDS };

/** On several servers: rows of the user first, then the names of others. */
const plainBlacklist = statement<SyncBlacklistEntry, Asked>('sync-changed-blacklist', CHANGED_BLACKLIST);
const plainFriends = statement<SyncFriendship, Asked>('sync-changed-friends', CHANGED_FRIENDS);

/** Entries that hold are read whatever their version: their users may have new names. */
const entriesToName = statement<SyncBlacklistEntry, Asked | 'after'>(
  'sync-blacklist-to-name',
  `${BLACKLIST} AND (status OR version > :since) AND friend_id > :after ORDER BY friend_id LIMIT ${CHUNK}`,
  { prepared: false },
);

const friendsToName = statement<SyncFriendship, Asked>(
  'sync-friends-to-name',
  `${FRIENDSHIPS} AND version > :since UNION ALL ${RENAMED_FRIENDS} LIMIT ${FEW + 1}`,
);

const pageOfFriendsToName = statement<SyncFriendship, Asked | 'after'>(
  'sync-page-of-friends-to-name',
  `${FRIENDSHIPS} AND (version > :since OR named_version > :since) AND friend_id > :after
    ORDER BY friend_id LIMIT ${CHUNK}`,
  { prepared: false },
);

/** Returns what `PLAIN_LISTS` find, where users are on several servers. */
export async function plainLists(on: Source, asked: Asking) {
  const [blacklist, friends] = await Promise.all([plainBlacklist(on, asked), plainFriends(on, asked)]);
  return { blacklist, friends };
}

/** Returns what `NAMED_LISTS` find, where users are on several servers. */
export async function namedLists(on: Source, asked: Asking) {
  const named = friendsToName(on, asked).then((rows) => withNames(on, rows));
  const [blacklist, friends] = await Promise.all([changedEntries(on, { ...asked, after: '' }, FEW), named]);
  return { blacklist, friends };
}

/** Returns entries that have changed, or whose users have: all of them, or at least one more than `most`. */
async function changedEntries(on: Source, asked: Asking & { after: string }, most: number) {
  const changed: SyncBlacklistEntry[] = [];
  for (let { after } = asked; changed.length <= most;) {
    const page = await entriesToName(on, { ...asked, after });
    changed.push(...(await withNames(on, page)).filter(({ version }) => version > asked.since));
    if (page.length < CHUNK) break;
    after = page.at(-1)?.friendId ?? '';
  }
  return changed;
}

export const NAMELESS = { nickname: '', portraitUri: '', version: 0 };

/** Adds the names of users, but not to ended rows. The version is that of the later change. */
async function withNames<Row extends SyncRelation & { status: unknown }>(on: Source, rows: Row[]): Promise<Row[]> {
  const holding = rows.filter(({ status }) => status !== false && status !== 30);
  const people = await peopleOf(
    on,
    holding.map(({ friendId }) => friendId),
  );
  return rows.map((row) => {
    const { nickname, portraitUri, version } = people.get(row.friendId) ?? NAMELESS;
    return { ...row, nickname, portraitUri, version: Math.max(row.version, version) };
  });
}
