import type { Knex } from 'knex';

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

/** The reads of sync, each a plain autocommit statement; docs/data.md tells why that is enough. */
export class SyncRepository {
  constructor(private readonly db: Knex) {}

  /** Asked before any data, in a statement of its own. The clock tells versions of another life of the database. */
  async horizon(): Promise<{ horizon: number; clock: number }> {
    return this.first('SELECT sync_horizon() AS horizon, sync_clock() AS clock', []);
  }

  async user(id: string): Promise<SyncUser> {
    return this.first('SELECT id, nickname, portrait_uri AS "portraitUri", version FROM users WHERE id = ?', [id]);
  }

  async blacklist(userId: string, since: number): Promise<SyncBlacklistEntry[]> {
    return this.all(
      'SELECT friend_id AS "friendId", status, version FROM blacklist WHERE user_id = ? AND version > ?',
      [userId, since],
    );
  }

  async friendships(userId: string, since: number): Promise<SyncFriendship[]> {
    return this.all(
      `SELECT friend_id AS "friendId", display_name AS "displayName", status, version
         FROM friendships WHERE user_id = ? AND version > ?`,
      [userId, since],
    );
  }

  /** The user's own memberships; one is new when its group is. */
  async memberships(userId: string, since: number): Promise<SyncMembership[]> {
    return this.all(
      `SELECT me.display_name AS "displayName", me.role, me.is_deleted AS "isDeleted", g.id AS "groupId",
              g.name AS "groupName", g.portrait_uri AS "groupPortraitUri", g.version AS "groupVersion"
         FROM group_members me JOIN groups g ON g.id = me.group_id
        WHERE me.member_id = ? AND (me.version > ? OR g.version > ?)`,
      [userId, since, since],
    );
  }

  /** In a group joined since, everyone is new, however old; in the others, who has changed since. */
  async groupsToRead(userId: string, since: number): Promise<GroupToRead[]> {
    return this.all(
      `SELECT mine."groupId", mine.floor, members.expected
         FROM (SELECT group_id AS "groupId", CASE WHEN joined_version > ? THEN -1::bigint ELSE ?::bigint END AS floor
                 FROM group_members WHERE member_id = ? AND NOT is_deleted OFFSET 0) mine
        CROSS JOIN LATERAL (SELECT count(*) AS expected FROM group_members m
                             WHERE m.group_id = mine."groupId" AND m.version > mine.floor) members
        WHERE members.expected > 0
        ORDER BY mine."groupId"`,
      [since, since, userId],
    );
  }

  async members(groups: GroupToRead[], since: number): Promise<SyncMember[]> {
    return this.all(membersOf(''), [...parametersOf(groups), since, since, '']);
  }

  /** One group that is too large for one statement, by pages in the order of its members. */
  async membersPage(group: GroupToRead, since: number, after: string, size: number): Promise<SyncMember[]> {
    return this.all(membersOf('ORDER BY member_id LIMIT ?'), [...parametersOf([group]), since, since, after, size]);
  }

  private async first<T>(sql: string, bindings: Knex.RawBinding[]): Promise<T> {
    const [row] = await this.all<T>(sql, bindings);
    if (row === undefined) throw new Error('a row that is always there is missing');
    return row;
  }

  private async all<T>(sql: string, bindings: Knex.RawBinding[]): Promise<T[]> {
    const { rows } = await this.db.raw<{ rows: T[] }>(sql, bindings);
    return rows;
  }
}

/**
 * Tombstones are for who holds the row: newer than `since`, and none at all for a client that holds nothing.
 * Each OFFSET 0 keeps a bad estimate from a hash join over all users.
 */
function membersOf(page: string): string {
  return `
    SELECT m.group_id AS "groupId", m.member_id AS "memberId", m.display_name AS "displayName", m.role,
           m.is_deleted AS "isDeleted", m.version,
           coalesce(u.nickname, '') AS nickname, coalesce(u.portrait_uri, '') AS "portraitUri"
      FROM unnest(?::text[], ?::bigint[]) AS mine (group_id, floor)
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
