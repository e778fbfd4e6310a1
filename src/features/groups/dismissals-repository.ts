import type { Knex } from 'knex';
import { pagesOf } from '../../database/pages';
import { statement } from '../../database/statement';

/** Memberships that one statement ends: some 20 milliseconds of work, for which a writer to one of them waits. */
const CHUNK = 500;

/** Ids never change, so that no row is looked at twice. */
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

/** Groups that are dismissed. Their members are out at once; that their rows say so takes a while in a large group. */
export class DismissalsRepository {
  constructor(private readonly db: Knex) {}

  /** With the group locked. */
  async dismiss(groupId: string): Promise<void> {
    await this.db('groups').where({ id: groupId, dismissed_at: null }).update({ dismissed_at: this.db.fn.now() });
  }

  /** Of a small group all; true when none is left. */
  async endFirst(groupId: string): Promise<boolean> {
    const ended = await endMemberships(this.db, { groupId, after: '' });
    if (ended.length === CHUNK) return false;
    await forget(this.db, { groupId });
    return true;
  }

  /** Not in a transaction: each statement is one of its own, so that no client is sent more than once for it. */
  async endAll(groupId: string): Promise<void> {
    const read = (after: string) => endMemberships(this.db, { groupId, after });
    for await (const page of pagesOf(CHUNK, read, ({ id }) => id)) void page;
    await forget(this.db, { groupId });
  }

  async unfinished(): Promise<string[]> {
    return this.db('group_dismissals').pluck<string[]>('group_id');
  }
}
