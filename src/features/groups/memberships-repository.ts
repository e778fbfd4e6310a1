import type { Knex } from 'knex';
import { holdInPlace } from '../../database/hold-in-place';
import { PAGE } from '../../database/pages';
import { NOTHING, isoTime, statement, type Source } from '../../database/statement';
import { lockOpenUsers } from '../users/lock-open-users';
import { addNames } from '../users/names';
import type { Names, Person } from '../users/profile';
import { CREATOR, MANAGER, MEMBER, type Role } from './roles';

export interface Member extends Person {
  displayName: string;
  role: Role;
  createdAt: string;
  updatedAt: string;
}

/** A user's relation to a group that is not dismissed. */
export interface Standing {
  isMember: boolean;
  wasKicked: boolean;
}

/** OFFSET 0 makes PostgreSQL look up each id, instead of reading all friends of the user. */
const ownFriendsAmong = statement<{ id: string }, 'userId' | 'ids'>(
  'own-friends-among',
  `SELECT id FROM unnest(:ids::text[]) AS wanted (id)
    WHERE EXISTS (SELECT FROM friendships WHERE user_id = :userId AND friend_id = wanted.id AND status = 20 OFFSET 0)`,
);

/** Users who have this user as a friend. Not prepared, so that PostgreSQL plans for the number of ids. */
const befriendersAmong = statement<{ id: string }, 'userId' | 'ids'>(
  'befrienders-among',
  'SELECT user_id AS id FROM friendships WHERE user_id = ANY (:ids::text[]) AND friend_id = :userId AND status = 20',
  { prepared: false },
);

const blockingAmong = statement<{ id: string }, 'userId' | 'ids'>(
  'blocking-among',
  'SELECT user_id AS id FROM blacklist WHERE user_id = ANY (:ids::text[]) AND friend_id = :userId AND status',
);

const lockGroup = statement<{ members: number }, 'groupId'>(
  'lock-group',
  'SELECT members FROM group_sizes WHERE group_id = :groupId FOR NO KEY UPDATE',
);

const rolesIn = statement<{ id: string; role: number }, 'groupId' | 'ids'>(
  'roles-in-group',
  `SELECT m.member_id AS id, m.role FROM group_members m JOIN groups g ON g.id = m.group_id
    WHERE m.group_id = :groupId AND m.member_id = ANY (:ids::text[]) AND NOT m.is_deleted AND g.dismissed_at IS NULL`,
);

/** A returning user is a plain member, without a name of the group. */
const AGAIN = `
  ON CONFLICT (group_id, member_id) DO UPDATE SET is_deleted = false, role = ${MEMBER}, display_name = ''
    WHERE group_members.is_deleted`;

/** Where users are on several servers, they are led to their groups by it. */
const noteJoining = statement<unknown, 'groupId' | 'ids'>('note-joining', NOTHING, {
  distributed: 'SELECT user_joins(id, :groupId) FROM unnest(:ids::text[]) AS newcomer (id) ORDER BY id',
});

const addMembers = statement<unknown, 'groupId' | 'ids'>(
  'add-group-members',
  `INSERT INTO group_members (group_id, member_id)
     SELECT :groupId, id FROM unnest(:ids::text[]) AS newcomer (id) ORDER BY id COLLATE "C"
   ${AGAIN}`,
);

/** Whether the user, whose row is locked, may be in one more group. */
const HAS_ROOM = '(:mostJoined::integer = 0 OR memberships_of(id, :mostJoined) < :mostJoined)';

const REJOIN = `${AGAIN} AND group_members.ending NOT IN ('kicked', 'barred') RETURNING group_id`;

interface Joining {
  groupId: string;
  userId: string;
  /** Maximum members of the group. */
  most: number;
  /** Maximum groups of the user (0: no limit). */
  mostJoined: number;
}

/**
 * One statement, so that other joins wait for nothing more than it. The user is locked before the group, so that a
 * request waiting for a user does not block a group. Rows read before waiting for a lock are read again.
 */
const joinGroup = statement<unknown, keyof Joining>(
  'join-group',
  `WITH me AS MATERIALIZED (SELECT id FROM users WHERE id = :userId AND closed_at IS NULL FOR NO KEY UPDATE),
   free AS MATERIALIZED (SELECT id FROM me WHERE ${HAS_ROOM}),
   place AS MATERIALIZED (
     SELECT group_id FROM group_sizes
      WHERE group_id = :groupId AND members > 0 AND members < :most::integer AND (SELECT count(*) FROM free) = 1
        FOR NO KEY UPDATE)
   INSERT INTO group_members (group_id, member_id) SELECT group_id, :userId FROM place ${REJOIN}`,
  { distributed: joinInSteps },
);

/** With the user and the group locked. */
const joinLocked = statement<unknown, 'groupId' | 'userId'>(
  'join-locked-group',
  `INSERT INTO group_members (group_id, member_id) VALUES (:groupId, :userId) ${REJOIN}`,
);

const fullAmong = statement<{ id: string }, 'ids' | 'mostJoined'>(
  'users-in-too-many-groups',
  `SELECT id FROM unnest(:ids::text[]) AS wanted (id) WHERE NOT ${HAS_ROOM}`,
);

const quittersAmong = statement<{ id: string }, 'groupId' | 'ids'>(
  'quitters-of-group',
  `SELECT member_id AS id FROM group_members
    WHERE group_id = :groupId AND member_id = ANY (:ids::text[]) AND is_deleted AND ending IN ('', 'barred')`,
);

/** A user who has quit cannot be added. After a kick the user cannot join either. */
const kickMembers = statement<unknown, 'groupId' | 'ids'>(
  'kick-group-members',
  `UPDATE group_members SET is_deleted = true, ending = CASE WHEN is_deleted THEN 'barred' ELSE 'kicked' END
    WHERE group_id = :groupId AND member_id = ANY (:ids::text[]) AND ending NOT IN ('kicked', 'barred')`,
);

const standing = statement<Standing, 'groupId' | 'userId'>(
  'standing-in-group',
  `SELECT coalesce(NOT me.is_deleted, false) AS "isMember",
          coalesce(me.is_deleted AND me.ending IN ('kicked', 'barred'), false) AS "wasKicked"
     FROM groups g
     JOIN group_sizes size ON size.group_id = g.id
     LEFT JOIN group_members me ON me.group_id = g.id AND me.member_id = :userId
    WHERE g.id = :groupId AND g.dismissed_at IS NULL AND size.members > 0`,
);

const setDisplayName = statement<unknown, 'groupId' | 'userId' | 'displayName'>(
  'set-group-display-name',
  `UPDATE group_members SET display_name = :displayName
    WHERE group_id = :groupId AND member_id = :userId AND NOT is_deleted
      AND EXISTS (SELECT FROM groups WHERE id = :groupId AND dismissed_at IS NULL)
   RETURNING member_id`,
);

/** Pages by id: no write moves a row past a page. Not prepared, like other pages. */
const pageOfMembers = statement<Omit<Member, keyof Names>, 'groupId' | 'after'>(
  'page-of-group-members',
  `SELECT member_id AS id, display_name AS "displayName", role,
          ${isoTime('coalesce(joined_at, updated_at)')} AS "createdAt", ${isoTime('updated_at')} AS "updatedAt"
     FROM group_members WHERE group_id = :groupId AND NOT is_deleted AND member_id > :after
    ORDER BY group_id, member_id LIMIT ${PAGE}`,
  { prepared: false },
);

/** Memberships. Decisions by a role, or by the number of members, need a transaction that has locked the group. */
export class MembershipsRepository {
  constructor(private readonly db: Knex) {}

  /** Returns the users who have an open account, and keeps these open until the transaction ends. */
  async lockOpen(ids: string[]): Promise<string[]> {
    return lockOpenUsers(this.db, ids);
  }

  /**
   * Returns the users whom the user may add: friends on both sides, or all, except those who have blacklisted the user.
   * Does not check whether they have an account.
   */
  async fitAmong(userId: string, ids: string[], friendsOnly: boolean): Promise<string[]> {
    if (ids.length === 0) return [];
    const own = friendsOnly ? idsOf(await ownFriendsAmong(this.db, { userId, ids })) : ids;
    const fit = friendsOnly ? idsOf(await befriendersAmong(this.db, { userId, ids: own })) : ids;
    const blocking = new Set(idsOf(await blockingAmong(this.db, { userId, ids: fit })));
    return fit.filter((id) => !blocking.has(id));
  }

  /** Keeps others from changing memberships until the transaction ends. Returns the number of members. */
  async lock(groupId: string): Promise<number> {
    await holdInPlace(this.db, { key: groupId });
    const [size] = await lockGroup(this.db, { groupId });
    return size?.members ?? 0;
  }

  /**
   * Locks a group if `check` accepts the roles of `ids`, and returns the number of members. It checks before the lock,
   * so that a refused caller neither waits nor blocks others, and again under the lock, where the answer stays true.
   */
  async lockAs(groupId: string, ids: string[], check: (roles: Map<string, number>) => void): Promise<number> {
    check(await this.roles(groupId, ids));
    const count = await this.lock(groupId);
    check(await this.roles(groupId, ids));
    return count;
  }

  /** Returns the roles by member. A dismissed group has no members. */
  async roles(groupId: string, ids: string[]): Promise<Map<string, number>> {
    const rows = await rolesIn(this.db, { groupId, ids });
    return new Map(rows.map(({ id, role }) => [id, role]));
  }

  /** With the group locked. */
  async add(groupId: string, ids: string[]): Promise<void> {
    await noteJoining(this.db, { groupId, ids });
    await addMembers(this.db, { groupId, ids });
  }

  /** Returns false for a member, a kicked user or one in too many groups, and for a full or unknown group. */
  async join(groupId: string, userId: string, most: { members: number; joined: number }): Promise<boolean> {
    const joined = await joinGroup(this.db, { groupId, userId, most: most.members, mostJoined: most.joined });
    return joined.length > 0;
  }

  /** Returns the users who are in as many groups as allowed (0: no limit). For locked users this stays true. */
  async fullAmong(ids: string[], mostJoined: number): Promise<string[]> {
    return mostJoined === 0 ? [] : idsOf(await fullAmong(this.db, { ids, mostJoined }));
  }

  /** Returns the users who have quit. */
  async quittersAmong(groupId: string, ids: string[]): Promise<string[]> {
    return idsOf(await quittersAmong(this.db, { groupId, ids }));
  }

  /** Returns undefined unless the group exists. */
  async standing(groupId: string, userId: string): Promise<Standing | undefined> {
    const [found] = await standing(this.db, { groupId, userId });
    return found;
  }

  /** Ends a membership. If it is the creator's, the database passes the group on when the transaction ends. */
  async leave(groupId: string, userId: string): Promise<void> {
    await this.living(groupId, [userId]).update({ is_deleted: true });
  }

  /** Kicks users, and needs the lock of the group. Includes users who have quit, who could join again otherwise. */
  async kick(groupId: string, ids: string[]): Promise<void> {
    await kickMembers(this.db, { groupId, ids });
  }

  /** Makes a member the creator. The database changes the roles of both. */
  async transfer(groupId: string, creatorId: string): Promise<void> {
    await this.db('groups')
      .where({ id: groupId })
      .whereNot({ creator_id: creatorId })
      .update({ creator_id: creatorId });
  }

  /** Sets the role of members, except the creator's. */
  async setRole(groupId: string, ids: string[], role: typeof MEMBER | typeof MANAGER): Promise<void> {
    await this.living(groupId, ids).whereNotIn('role', [CREATOR, role]).update({ role });
  }

  /** Returns false for a user who is not a member. */
  async setDisplayName(groupId: string, userId: string, displayName: string): Promise<boolean> {
    return (await setDisplayName(this.db, { groupId, userId, displayName })).length > 0;
  }

  async page(on: Source, groupId: string, after: string): Promise<Member[]> {
    return addNames(on, await pageOfMembers(on, { groupId, after }));
  }

  private living(groupId: string, ids: string[]): Knex.QueryBuilder {
    return this.db('group_members').where({ group_id: groupId, is_deleted: false }).whereIn('member_id', ids);
  }
}

function joinInSteps(db: Knex, { groupId, userId, most, mostJoined }: Joining): Promise<unknown[]> {
  return db.transaction(async (trx) => {
    const inside = new MembershipsRepository(trx);
    if ((await inside.lockOpen([userId])).length === 0) return [];
    if ((await inside.fullAmong([userId], mostJoined)).length > 0) return [];
    const count = await inside.lock(groupId);
    if (count === 0 || count >= most) return [];
    await noteJoining(trx, { groupId, ids: [userId] });
    return joinLocked(trx, { groupId, userId });
  });
}

function idsOf(rows: { id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
