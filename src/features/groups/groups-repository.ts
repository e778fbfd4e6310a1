import type { Knex } from 'knex';
import { groupsEver } from '../../database/groups-ever';
import { OWNER } from '../../database/owner-reads';
import { isoTime, statement, type Runner } from '../../database/statement';
import type { GroupDetail, GroupSummary } from './groups-schemas';

/** Fields that the creator and managers can change. */
export type GroupChanges = Partial<Pick<GroupDetail, 'name' | 'portraitUri' | 'bulletin'>>;

/** Visible to members, and to those who were members when the group was dismissed. */
const detail = statement<GroupDetail, 'groupId' | 'userId'>(
  'group-detail',
  `SELECT g.id, g.name, g.portrait_uri AS "portraitUri", g.creator_id AS "creatorId", g.bulletin,
          ${isoTime('g.bulletin_updated_at')} AS "bulletinUpdatedAt", ${isoTime('g.dismissed_at')} AS "dismissedAt",
          CASE WHEN g.dismissed_at IS NULL THEN size.members ELSE 0 END AS "memberCount"
     FROM group_members me
     JOIN groups g ON g.id = me.group_id
     JOIN group_sizes size ON size.group_id = me.group_id
    WHERE me.group_id = :groupId AND me.member_id = :userId AND (NOT me.is_deleted OR me.ending = 'dismissed')`,
);

const MADE_BY = 'SELECT count(*) AS count FROM groups WHERE made_by = :userId AND dismissed_at IS NULL';

const madeBy = statement<{ count: number }, 'userId' | 'groupIds'>('count-groups-made', MADE_BY, {
  // Their maker was in them.
  distributed: `${MADE_BY} AND id = ANY (:groupIds::text[])`,
});

const ofMember = (among = '') =>
  `SELECT g.id, g.name, g.portrait_uri AS "portraitUri", g.creator_id AS "creatorId", size.members AS "memberCount"
     FROM group_members me
     JOIN groups g ON g.id = me.group_id
     JOIN group_sizes size ON size.group_id = me.group_id
    WHERE me.member_id = :userId AND NOT me.is_deleted AND g.dismissed_at IS NULL ${among}
    ORDER BY g.id`;

/** Not prepared, so that PostgreSQL plans for the number of groups. */
const groupsOfMember = statement<GroupSummary, 'userId' | 'groupIds'>('groups-of-member', ofMember(), {
  prepared: false,
  distributed: ofMember('AND me.group_id = ANY (:groupIds::text[])'),
});

/** A null keeps the present value. */
const change = statement<unknown, 'groupId' | keyof GroupChanges>(
  'change-group',
  `UPDATE groups SET name = coalesce(:name::text, name), portrait_uri = coalesce(:portraitUri::text, portrait_uri),
                     bulletin = coalesce(:bulletin::text, bulletin)
    WHERE id = :groupId AND dismissed_at IS NULL`,
);

export class GroupsRepository {
  constructor(private readonly db: Knex) {}

  /** Returns the groups that the user is now a member of. */
  async ofMember(userId: string): Promise<GroupSummary[]> {
    return groupsOfMember(this.db, { userId, groupIds: await groupsEver(this.db, userId) });
  }

  /** Returns a group of the owner of the session that `reads` finds. */
  async detail(groupId: string, reads: Runner): Promise<GroupDetail | undefined> {
    const [found] = await detail(reads, { groupId, userId: OWNER });
    return found;
  }

  /** Counts open groups that the user made. Inherited groups do not count: others could use up the limit with them. The
   * user's row must be locked. */
  async countMadeBy(userId: string): Promise<number> {
    const [made] = await madeBy(this.db, { userId, groupIds: await groupsEver(this.db, userId) });
    return Number(made?.count ?? 0);
  }

  async create({ id, name, portraitUri, creatorId }: Omit<GroupSummary, 'memberCount'>): Promise<void> {
    await this.db('groups').insert({ id, name, portrait_uri: portraitUri, creator_id: creatorId });
  }

  /** Needs the lock of the group. */
  async change(groupId: string, changes: GroupChanges): Promise<void> {
    const { name = null, portraitUri = null, bulletin = null } = changes;
    await change(this.db, { groupId, name, portraitUri, bulletin });
  }
}
