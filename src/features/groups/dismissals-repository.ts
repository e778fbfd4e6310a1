import type { Knex } from 'knex';
import { pagesOf } from '../../database/pages';
import { statement } from '../../database/statement';

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

/** Dismissed groups. Their members are out at once, but the rows of a large group take a while to say so. */
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

  async unfinished(): Promise<string[]> {
    return this.db('group_dismissals').pluck<string[]>('group_id');
  }
}
