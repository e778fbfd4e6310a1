import type { Knex } from 'knex';
import type { Group } from './groups-schemas';

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
}
