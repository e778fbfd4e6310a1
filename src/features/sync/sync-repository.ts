import { groupsEver } from '../../database/groups-ever';
import { POSITION, type Position, type ReadAt } from '../../database/replica';
import { columnList, statement, together } from '../../database/statement';
import type { Role } from '../groups/roles';
import { NAMES, joinNames } from '../users/names';
import { PROFILE_COLUMNS, type Profile } from '../users/profile';
import * as relations from './sync-relations';
import {
  CHUNK,
  FEW,
  NAMED_LISTS,
  PLAIN_LISTS,
  type Asked,
  type SyncBlacklistEntry,
  type SyncFriendship,
} from './sync-relations';

export interface SyncUser extends Profile {
  version: number;
}

export interface SyncMembership {
  displayName: string;
  role: Role;
  isDeleted: boolean;
  groupId: string;
  groupName: string;
  groupPortraitUri: string;
  groupVersion: number;
}

export interface SyncMember {
  groupId: string;
  memberId: string;
  displayName: string;
  role: Role;
  isDeleted: boolean;
  version: number;
  nickname: string;
  portraitUri: string;
}

/** A group with members to deliver: those whose version is above `floor`, about `expected` of them. */
export interface GroupToRead {
  groupId: string;
  floor: number;
  expected: number;
}

export interface SyncTime {
  /** Version up to which any later statement sees all writes. */
  horizon: number;
  /** Upper bound of all versions. */
  clock: number;
}

/** The version that a client has, and its options. */
export interface Wanted {
  since: number;
  /** Whether to send the names of friends and of users on the blacklist. */
  names: boolean;
}

export interface SyncRows {
  user: SyncUser;
  /** Undefined if there are many: they are then read by pages. */
  blacklist: SyncBlacklistEntry[] | undefined;
  /** Like `blacklist`. */
  friends: SyncFriendship[] | undefined;
  groups: SyncMembership[];
  /** Whether there are many ended memberships: `groups` then has none of them, and they are read by pages. */
  manyEnded: boolean;
  /** Undefined if there are many: they are then read group by group. */
  members: SyncMember[] | undefined;
}

/** The clock reveals a version from an earlier state of the database. */
const TIME = 'sync_horizon() AS horizon, sync_clock() AS clock';
export const syncTime = statement<SyncTime>('sync-horizon', `SELECT ${TIME}`);
/** Where horizons are known without asking. */
export const syncClock = statement<Pick<SyncTime, 'clock'>>('sync-clock', 'SELECT sync_clock() AS clock');
export const timeOfStandby = statement<SyncTime & Position>('sync-horizon-of-standby', `SELECT ${TIME}, ${POSITION}`);

export const USER = `SELECT ${columnList({ ...PROFILE_COLUMNS, version: 'version' })} FROM users WHERE id = :userId`;

export const endedKey = ({ groupVersion, groupId }: SyncMembership) => `${groupVersion}|${groupId}`;

/** A dismissed group has no members, even before all their rows say so. */
const IS_OUT = 'g.dismissed_at IS NOT NULL';

/** Memberships of `groupsEver`. */
export const AMONG = 'AND group_id = ANY (:groupIds::text[])';

/** Ended memberships. A client that may hold the row learns that it has ended, and nothing else about the group. */
export const ENDED = `
  SELECT display_name AS "displayName", role, true AS "isDeleted", group_id AS "groupId",
         '' AS "groupName", '' AS "groupPortraitUri", version AS "groupVersion", true AS "hasEnded"
    FROM group_members
   WHERE member_id = :userId AND is_deleted AND version > :since AND :since::bigint > 0`;

/**
 * The user's own memberships. A present one is sent when it or its group has changed. Ended ones have an index of their
 * own, since their number is not limited. One row more than a chunk shows that there are many.
 */
const MEMBERSHIPS = `
  ${presentMemberships('CROSS JOIN LATERAL (SELECT * FROM groups WHERE id = me.group_id OFFSET 0) g')}
   UNION ALL (${ENDED} ORDER BY member_id, version LIMIT ${CHUNK + 1})`;

export function presentMemberships(joinGroups: string): string {
  return `
    SELECT me.display_name AS "displayName", me.role, ${IS_OUT} AS "isDeleted", g.id AS "groupId",
           CASE WHEN ${IS_OUT} THEN '' ELSE g.name END AS "groupName",
           CASE WHEN ${IS_OUT} THEN '' ELSE g.portrait_uri END AS "groupPortraitUri", g.version AS "groupVersion",
           false AS "hasEnded"
      FROM group_members me ${joinGroups}
     WHERE me.member_id = :userId AND NOT me.is_deleted AND (me.version > :since OR g.version > :since)
       AND (:since::bigint > 0 OR NOT ${IS_OUT})`;
}

/** Ordered like the index. A row written at the same time moves to a later page. Not prepared, like members' pages. */
const pageOfEnded = statement<SyncMembership, Asked | 'groupIds' | 'afterVersion' | 'afterId'>(
  'sync-page-of-ended-memberships',
  pageOf(ENDED),
  { prepared: false, distributed: pageOf(`${ENDED} ${AMONG}`) },
);

function pageOf(memberships: string): string {
  return `${memberships} AND (version, group_id) > (:afterVersion::bigint, :afterId)
    ORDER BY member_id, version, group_id LIMIT ${CHUNK}`;
}

/**
 * Finds all members of groups joined after :since, and members of other groups that changed after :since. Leaves out
 * dismissed groups whose memberships are being ended, since there may be many.
 */
export const GROUPS_OF_USER = `
  SELECT group_id, CASE WHEN joined_version > :since::bigint THEN -1::bigint ELSE :since::bigint END AS floor
    FROM group_members me
   WHERE member_id = :userId AND NOT is_deleted
     AND NOT EXISTS (SELECT FROM group_dismissals WHERE group_id = me.group_id)`;

const MINE = `(${GROUPS_OF_USER} OFFSET 0)`;

/** Columns of a row `m`. A tombstone shows nothing else: former members no longer share a group with its members. */
export const MEMBER = `
  m.group_id AS "groupId", m.member_id AS "memberId", CASE WHEN m.is_deleted THEN '' ELSE m.display_name END AS "displayName",
  CASE WHEN m.is_deleted THEN 1 ELSE m.role END AS role, m.is_deleted AS "isDeleted", m.version`;

/** Tombstones are for a client that holds the row: newer than :since, and a client that holds nothing gets none. */
export const IS_FOR_CLIENT = '(NOT is_deleted OR (version > :since::bigint AND :since::bigint > 0))';

/** Each OFFSET 0 prevents a hash join over all users after a bad estimate. */
function membersOf(groups: string, page = ''): string {
  return `
    SELECT ${MEMBER}, ${NAMES}
      FROM ${groups} AS mine (group_id, floor)
     CROSS JOIN LATERAL (
       SELECT * FROM group_members
        WHERE group_id = mine.group_id AND version > mine.floor AND ${IS_FOR_CLIENT}
        ${page} OFFSET 0) m
      ${joinNames('m.member_id', 'NOT m.is_deleted')}`;
}

/** Reads one row more than FEW, which shows that there are many. */
const FEW_MEMBERS = `${membersOf(MINE)} LIMIT ${FEW + 1}`;

/** Counts at most a chunk of members, so that a large group is counted as quickly as a small one. */
const groupsToRead = statement<GroupToRead, Asked>(
  'sync-groups-to-read',
  `SELECT mine.group_id AS "groupId", mine.floor, members.expected
     FROM ${MINE} mine
    CROSS JOIN LATERAL (SELECT count(*) AS expected
                          FROM (SELECT FROM group_members m WHERE m.group_id = mine.group_id AND m.version > mine.floor
                                 LIMIT ${CHUNK + 1}) counted) members
    WHERE members.expected > 0
    ORDER BY mine.group_id`,
  { prepared: false },
);

const membersOfGroups = statement<SyncMember, 'groupIds' | 'floors' | 'since'>(
  'sync-members-of-groups',
  membersOf('unnest(:groupIds::text[], :floors::bigint[])'),
  { prepared: false },
);

/** Not prepared: PostgreSQL then plans for the group's size, and reads one page of it instead of all. */
const pageOfMembers = statement<SyncMember, 'groupId' | 'floor' | 'since' | 'after'>(
  'sync-page-of-members',
  membersOf('(SELECT :groupId::text, :floor::bigint)', `AND member_id > :after ORDER BY member_id LIMIT ${CHUNK}`),
  { prepared: false },
);

/** Rows that each sync reads. A long list has some rows more than are sent from here. */
export interface Found {
  users: SyncUser[];
  blacklist: SyncBlacklistEntry[];
  friends: SyncFriendship[];
  groups: (SyncMembership & { hasEnded: boolean })[];
  members: SyncMember[];
}

const ALWAYS = { users: USER, groups: MEMBERSHIPS, members: FEW_MEMBERS };
const plainRows = statement<Found, Asked>('sync-rows', together({ ...ALWAYS, ...PLAIN_LISTS }));
const namedRows = statement<Found, Asked>('sync-named-rows', together({ ...ALWAYS, ...NAMED_LISTS }));

/** The reads of one sync, each a plain autocommit statement. docs/data.md says why that is enough. */
export class SyncRepository {
  /** `at` must be the server of the horizon, or the primary. */
  constructor(protected readonly at: ReadAt) {}

  async rows(userId: string, wanted: Wanted): Promise<SyncRows> {
    const found = await this.found(userId, wanted);
    const [owner] = found?.users ?? [];
    if (found === undefined || owner === undefined) throw new Error('sync found no user');
    const { blacklist, friends, groups, members } = found;
    const few = wanted.names ? FEW : CHUNK;
    const living = groups.filter(({ hasEnded }) => !hasEnded);
    const manyEnded = groups.length - living.length > CHUNK;
    return {
      user: owner,
      blacklist: blacklist.length <= few ? blacklist : undefined,
      friends: friends.length <= few ? friends : undefined,
      groups: manyEnded ? living : groups,
      manyEnded,
      members: members.length <= FEW ? members : undefined,
    };
  }

  protected async found(userId: string, { since, names }: Wanted): Promise<Found | undefined> {
    const read = names ? namedRows : plainRows;
    return (await this.at(({ reads }) => read(reads, { userId, since })))[0];
  }

  /** Returns a page in the order of the friends' ids, which never change: no write moves an entry past a page. */
  async blacklistPage(userId: string, { since, names }: Wanted, after: string): Promise<SyncBlacklistEntry[]> {
    const page = names ? relations.pageOfNamedBlacklist : relations.pageOfBlacklist;
    return this.at(({ db }) => page(db, { userId, since, after }));
  }

  /** Returns a page in the order of `blacklistPage`. */
  async friendsPage(userId: string, { since, names }: Wanted, after: string): Promise<SyncFriendship[]> {
    const page = names ? relations.pageOfNamedFriendships : relations.pageOfFriendships;
    return this.at(({ db }) => page(db, { userId, since, after }));
  }

  /** Returns a page in the order of `endedKey`. */
  async endedPage(userId: string, since: number, after: string): Promise<SyncMembership[]> {
    const [afterVersion, afterId] = (after || '0|').split('|');
    return this.at(async ({ db }) =>
      pageOfEnded(db, { userId, since, groupIds: await groupsEver(db, userId), afterVersion, afterId }),
    );
  }

  async groupsToRead(userId: string, since: number): Promise<GroupToRead[]> {
    return this.at(({ db }) => groupsToRead(db, { userId, since }));
  }

  async members(groups: GroupToRead[], since: number): Promise<SyncMember[]> {
    const groupIds = groups.map(({ groupId }) => groupId);
    const floors = groups.map(({ floor }) => floor);
    return this.at(({ db }) => membersOfGroups(db, { groupIds, floors, since }));
  }

  /** Returns a page of a group that is too large for one statement, in the order of its members' ids. */
  async membersPage({ groupId, floor }: GroupToRead, since: number, after: string): Promise<SyncMember[]> {
    return this.at(({ db }) => pageOfMembers(db, { groupId, floor, since, after }));
  }
}
