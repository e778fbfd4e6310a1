import type { Knex } from 'knex';
import { statement } from '../../database/statement';
import type { Group } from './groups-schemas';

/** In one order, so that two who leave the same groups never wait for each other. */
const lockGroupsOf = statement<unknown, 'userId'>(
  'lock-groups-of-member',
  `SELECT id FROM groups
    WHERE id IN (SELECT group_id FROM group_members WHERE member_id = :userId AND NOT is_deleted)
    ORDER BY id FOR NO KEY UPDATE`,
);

const leaveGroups = statement<{ groupId: string }, 'userId'>(
  'leave-groups',
  `UPDATE group_members SET is_deleted = true, display_name = ''
    WHERE member_id = :userId AND NOT is_deleted RETURNING group_id AS "groupId"`,
);

/**
 * A group whose creator is no member any more goes to the manager, else to the member, who has been there longest. Where
 * nobody is left it keeps the creator's name.
 */
const passOn = statement<unknown, 'groupIds'>(
  'pass-groups-on',
  `WITH heirs AS (
     SELECT g.id AS group_id, heir.member_id
       FROM groups g
      CROSS JOIN LATERAL (
        SELECT member_id FROM group_members WHERE group_id = g.id AND NOT is_deleted
         ORDER BY role = 1, role, joined_version, member_id LIMIT 1) heir
      WHERE g.id = ANY (:groupIds::text[])
        AND NOT EXISTS (SELECT FROM group_members
                         WHERE group_id = g.id AND member_id = g.creator_id AND NOT is_deleted)),
   risen AS (
     UPDATE group_members member SET role = 0 FROM heirs
      WHERE member.group_id = heirs.group_id AND member.member_id = heirs.member_id AND NOT is_deleted)
   UPDATE groups SET creator_id = heirs.member_id FROM heirs WHERE groups.id = heirs.group_id`,
);

export class GroupsRepository {
  constructor(private readonly db: Knex) {}

  /** The groups that the user is a member of now; members are counted, so that the number can't drift. */
  async ofMember(userId: string): Promise<Group[]> {
    return this.db('group_members as me')
      .join('groups as g', 'g.id', 'me.group_id')
      .where({ 'me.member_id': userId, 'me.is_deleted': false })
      .orderBy('g.id')
      .select<Group[]>(
        ...['g.id', 'g.name', 'g.portrait_uri as portraitUri', 'g.creator_id as creatorId'],
        this.db.raw(
          `(SELECT count(*) FROM group_members m WHERE m.group_id = g.id AND NOT m.is_deleted) AS "memberCount"`,
        ),
      );
  }

  /** In a transaction. Each group has its next creator before anybody else leaves it. */
  async leaveAll(userId: string): Promise<void> {
    await lockGroupsOf(this.db, { userId });
    const left = await leaveGroups(this.db, { userId });
    await this.passOn(left.map(({ groupId }) => groupId));
  }

  /** Of groups that are locked, once their creator may have left. */
  async passOn(groupIds: string[]): Promise<void> {
    await passOn(this.db, { groupIds });
  }
}
