import type { Knex } from 'knex';
import { groupsEver } from '../../database/groups-ever';
import { PAGE, pagesOf } from '../../database/pages';
import { statement } from '../../database/statement';
import { MembershipsRepository } from './memberships-repository';

/** Memberships that one statement ends: about 20 milliseconds of work, during which writers to them wait. */
const CHUNK = 500;

/** Pages by id, which never changes, so that no row is read twice. */
const endMemberships = statement<{ id: string }, 'groupId' | 'after'>(
  'end-dismissed-memberships',
  `WITH ending AS (
     SELECT member_id FROM group_members
      WHERE group_id = :groupId AND NOT is_deleted AND member_id > :after ORDER BY group_id, member_id LIMIT ${CHUNK}),
   ended AS (
     UPDATE group_members SET is_deleted = true
      WHERE group_id = :groupId AND member_id = ANY (ARRAY(SELECT member_id FROM ending)) AND NOT is_deleted)
   SELECT member_id AS id FROM ending ORDER BY member_id`,
  { prepared: false },
);

const forget = statement<unknown, 'groupId'>(
  'forget-dismissal',
  `DELETE FROM group_dismissals
    WHERE group_id = :groupId AND EXISTS (SELECT FROM group_sizes WHERE group_id = :groupId AND members = 0)`,
);

const groupsOf = statement<{ id: string }, 'userId' | 'groupIds' | 'after'>(
  'page-of-own-groups',
  `SELECT group_id AS id FROM group_members
    WHERE member_id = :userId AND group_id = ANY (:groupIds::text[]) AND NOT is_deleted AND group_id > :after
    ORDER BY group_id LIMIT ${PAGE}`,
  { prepared: false },
);

/** Locks in one order, so that two users who leave the same groups cannot deadlock. */
const lockGroupsOf = statement<{ id: string }, 'userId' | 'after'>(
  'lock-groups-of-member',
  `SELECT group_id AS id FROM group_sizes
    WHERE group_id IN (SELECT group_id FROM group_members
                        WHERE member_id = :userId AND NOT is_deleted AND group_id > :after
                        ORDER BY group_id LIMIT ${PAGE})
    ORDER BY group_id FOR NO KEY UPDATE`,
  {
    prepared: false,
    distributed: async (db: Knex, { userId, after }: { userId: string; after: string }) => {
      const groups = await groupsOf(db, { userId, groupIds: await groupsEver(db, userId), after });
      for (const { id } of groups) await new MembershipsRepository(db).lock(id);
      return groups;
    },
  },
);

const leaveGroups = statement<unknown, 'userId' | 'groupIds'>(
  'leave-groups',
  `UPDATE group_members SET is_deleted = true, display_name = ''
    WHERE member_id = :userId AND group_id = ANY (:groupIds::text[]) AND NOT is_deleted`,
);

const dismissEmpty = statement<{ id: string }, 'groupIds'>(
  'dismiss-empty-groups',
  `UPDATE groups SET dismissed_at = now() FROM group_sizes size
    WHERE id = ANY (:groupIds::text[]) AND dismissed_at IS NULL
      AND size.group_id = id AND size.group_id = ANY (:groupIds::text[]) AND size.members = 0
   RETURNING id`,
);

/**
 * Dismissed groups, and those that end with their last member. The members of a dismissed group are out at once, but the
 * rows of a large one take a while to say so.
 */
export class DismissalsRepository {
  constructor(private readonly db: Knex) {}

  /** Needs the lock of the group. */
  async dismiss(groupId: string): Promise<void> {
    await this.db('groups').where({ id: groupId, dismissed_at: null }).update({ dismissed_at: this.db.fn.now() });
  }

  /** Ends a chunk of memberships, which are all of a small group. Returns true when none is left. */
  async endFirst(groupId: string): Promise<boolean> {
    const ended = await endMemberships(this.db, { groupId, after: '' });
    if (ended.length === CHUNK) return false;
    await forget(this.db, { groupId });
    return true;
  }

  /** Ends all memberships. Each statement is its own transaction, so that it notifies no client more than once. */
  async endAll(groupId: string): Promise<void> {
    const read = (after: string) => endMemberships(this.db, { groupId, after });
    for await (const page of pagesOf(CHUNK, read, ({ id }) => id)) void page;
    await forget(this.db, { groupId });
  }

  /**
   * Ends the user's memberships of a page of groups, in the order of their ids; needs a transaction. Returns the
   * groups, and which of them are now dismissed for lack of members.
   */
  async leavePage(userId: string, after: string): Promise<{ left: { id: string }[]; dismissed: string[] }> {
    const left = await lockGroupsOf(this.db, { userId, after });
    if (left.length === 0) return { left, dismissed: [] };
    const groupIds = left.map(({ id }) => id);
    await leaveGroups(this.db, { userId, groupIds });
    const dismissed = await dismissEmpty(this.db, { groupIds });
    return { left, dismissed: dismissed.map(({ id }) => id) };
  }

  async unfinished(): Promise<string[]> {
    return this.db('group_dismissals').pluck<string[]>('group_id');
  }
}
