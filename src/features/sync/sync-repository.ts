import type { Knex } from 'knex';
import type { Reads } from '../../database/reads';

/** Rows that one statement reads and one chunk of the answer holds: a few milliseconds of work, which all others wait for. */
export const CHUNK = 500;
/** Members that are read with everything else, where nobody else waits for long. */
const FEW = 200;

export interface SyncUser {
  id: string;
  nickname: string;
  portraitUri: string;
  version: number;
}

export interface SyncRelation {
  friendId: string;
  version: number;
}

export interface SyncBlacklistEntry extends SyncRelation {
  status: boolean;
}

export interface SyncFriendship extends SyncRelation {
  displayName: string;
  status: number;
}

export interface SyncMembership {
  displayName: string;
  role: number;
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
  role: number;
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

export interface SyncRows {
  horizon: number;
  /** Versions stay behind it. */
  clock: number;
  user: SyncUser;
  blacklist: SyncBlacklistEntry[];
  friends: SyncFriendship[];
  groups: SyncMembership[];
  /** Undefined when they are not few: then they are to be read group by group. */
  members: SyncMember[] | undefined;
}

/** The reads of sync, each a plain autocommit statement; docs/data.md tells why that is enough. */
export class SyncRepository {
  private readonly statements: ReturnType<typeof statements>;

  constructor(
    private readonly reads: Reads,
    private readonly db: Knex,
  ) {
    this.statements = statements(reads, db);
  }

  /** All are sent at once, and answered in this order: the horizon is asked before any data. */
  async rows(userId: string, since: number): Promise<SyncRows> {
    const { horizon, user, blacklist, friendships, memberships, members } = this.statements;
    const on = this.reads.place();
    const of = { userId, since };
    const [[time], [owner], blacklisted, friends, groups, few] = await Promise.all([
      horizon({}, on),
      user(of, on),
      blacklist(of, on),
      friendships(of, on),
      memberships(of, on),
      members(of, on),
    ]);
    if (time === undefined || owner === undefined) throw new Error('a row that is always there is missing');
    return {
      ...time,
      user: owner,
      blacklist: blacklisted,
      friends,
      groups,
      members: few.length <= FEW ? few : undefined,
    };
  }

  /** Members are counted up to what fills a chunk, so that it takes a moment in a large group too. */
  async groupsToRead(userId: string, since: number): Promise<GroupToRead[]> {
    return this.all(
      `SELECT mine.group_id AS "groupId", mine.floor, members.expected
         FROM ${GROUPS_OF_USER} mine
        CROSS JOIN LATERAL (SELECT count(*) AS expected
                              FROM (SELECT FROM group_members m WHERE m.group_id = mine.group_id AND m.version > mine.floor
                                     LIMIT ${CHUNK + 1}) counted) members
        WHERE members.expected > 0
        ORDER BY mine.group_id`,
      [since, since, userId],
    );
  }

  async members(groups: GroupToRead[], since: number): Promise<SyncMember[]> {
    return this.all(membersOf(GIVEN_GROUPS, ''), [...parametersOf(groups), since, since, '']);
  }

  /** One group that is too large for one statement, by pages in the order of its members. */
  async membersPage(
    { groupId, floor }: GroupToRead,
    since: number,
    after: string,
    size: number,
  ): Promise<SyncMember[]> {
    const values = [groupId, floor, since, since, after, size];
    return this.all(membersOf(GIVEN_GROUP, 'ORDER BY member_id LIMIT ?'), values);
  }

  private async all<T>(sql: string, bindings: Knex.RawBinding[]): Promise<T[]> {
    const { rows } = await this.db.raw<{ rows: T[] }>(sql, bindings);
    return rows;
  }
}

function statements(reads: Reads, db: Knex) {
  return {
    /** The clock tells versions of another life of the database. */
    horizon: reads.prepare<{ horizon: number; clock: number }>(
      'sync-horizon',
      db.raw('SELECT sync_horizon() AS horizon, sync_clock() AS clock'),
    ),
    user: reads.prepare<SyncUser, 'userId'>(
      'sync-user',
      db.raw('SELECT id, nickname, portrait_uri AS "portraitUri", version FROM users WHERE id = ?', [':userId']),
    ),
    blacklist: reads.prepare<SyncBlacklistEntry, 'userId' | 'since'>(
      'sync-blacklist',
      db.raw('SELECT friend_id AS "friendId", status, version FROM blacklist WHERE user_id = ? AND version > ?', [
        ':userId',
        ':since',
      ]),
    ),
    friendships: reads.prepare<SyncFriendship, 'userId' | 'since'>(
      'sync-friendships',
      db.raw(
        `SELECT friend_id AS "friendId", display_name AS "displayName", status, version
           FROM friendships WHERE user_id = ? AND version > ?`,
        [':userId', ':since'],
      ),
    ),
    /** The user's own memberships; one is new when its group is. */
    memberships: reads.prepare<SyncMembership, 'userId' | 'since'>(
      'sync-memberships',
      db.raw(
        `SELECT me.display_name AS "displayName", me.role, me.is_deleted AS "isDeleted", g.id AS "groupId",
                g.name AS "groupName", g.portrait_uri AS "groupPortraitUri", g.version AS "groupVersion"
           FROM group_members me
          CROSS JOIN LATERAL (SELECT * FROM groups WHERE id = me.group_id OFFSET 0) g
          WHERE me.member_id = ? AND (me.version > ? OR g.version > ?)`,
        [':userId', ':since', ':since'],
      ),
    ),
    /** One more than few is enough to know that they are not. */
    members: reads.prepare<SyncMember, 'userId' | 'since'>(
      'sync-members',
      db.raw(`${membersOf(GROUPS_OF_USER, '')} LIMIT ${FEW + 1}`, [
        ...[':since', ':since', ':userId'],
        ...[':since', ':since', ''],
      ]),
    ),
  };
}

/** In a group joined since, everyone is new, however old; in the others, who has changed since. */
const GROUPS_OF_USER = `
  (SELECT group_id, CASE WHEN joined_version > ?::bigint THEN -1::bigint ELSE ?::bigint END AS floor
     FROM group_members WHERE member_id = ? AND NOT is_deleted OFFSET 0)`;

const GIVEN_GROUPS = 'unnest(?::text[], ?::bigint[])';

/** PostgreSQL then knows how large the group is, and reads a page of it, not all of it for each page. */
const GIVEN_GROUP = '(SELECT ?::text, ?::bigint)';

/**
 * Tombstones are for who holds the row: newer than `since`, and none at all for a client that holds nothing.
 * Each OFFSET 0 keeps a bad estimate from a hash join over all users.
 */
function membersOf(groups: string, page: string): string {
  return `
    SELECT m.group_id AS "groupId", m.member_id AS "memberId", m.display_name AS "displayName", m.role,
           m.is_deleted AS "isDeleted", m.version,
           coalesce(u.nickname, '') AS nickname, coalesce(u.portrait_uri, '') AS "portraitUri"
      FROM ${groups} AS mine (group_id, floor)
     CROSS JOIN LATERAL (
       SELECT * FROM group_members
        WHERE group_id = mine.group_id AND version > mine.floor
          AND (NOT is_deleted OR (version > ?::bigint AND ?::bigint > 0)) AND member_id > ?
        ${page} OFFSET 0) m
      LEFT JOIN LATERAL (SELECT nickname, portrait_uri FROM users WHERE id = m.member_id OFFSET 0) u ON true`;
}

function parametersOf(groups: GroupToRead[]): [string[], number[]] {
  return [groups.map(({ groupId }) => groupId), groups.map(({ floor }) => floor)];
}
