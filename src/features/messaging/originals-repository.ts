import type { Knex } from 'knex';
import { statement } from '../../database/statement';
import type { MessagingUser, Originals } from '../../integrations/messaging/messaging-provider';
import { REQUESTED } from '../friendships/invitation';
import type { UsersRepository } from '../users/users-repository';

interface Ids {
  id: string;
}
const idsIn = (rows: Ids[]) => rows.map(({ id }) => id);

const blacklistedAmong = statement<Ids, 'userId' | 'ids'>(
  'messaging-blacklisted-among',
  'SELECT friend_id AS id FROM blacklist WHERE user_id = :userId AND friend_id = ANY (:ids::text[]) AND status',
);

const everBlacklisted = statement<Ids, 'userId'>(
  'messaging-ever-blacklisted',
  'SELECT friend_id AS id FROM blacklist WHERE user_id = :userId',
);

const requestFrom = statement<{ message: string }, 'userId' | 'fromId'>(
  'messaging-request',
  `SELECT message FROM friendships WHERE user_id = :userId AND friend_id = :fromId AND status = ${REQUESTED}`,
);

const groupById = statement<{ name: string; creatorId: string; isDismissed: boolean }, 'id'>(
  'messaging-group',
  `SELECT name, creator_id AS "creatorId", dismissed_at IS NOT NULL AS "isDismissed" FROM groups WHERE id = :id`,
);

const membersAmong = statement<Ids, 'groupId' | 'ids'>(
  'messaging-members-among',
  `SELECT member_id AS id FROM group_members
    WHERE group_id = :groupId AND member_id = ANY (:ids::text[]) AND NOT is_deleted`,
);

const everMembers = statement<Ids, 'groupId'>(
  'messaging-ever-members',
  'SELECT member_id AS id FROM group_members WHERE group_id = :groupId',
);

/** Users, blacklists and groups as they are now, for the copies of a messaging server. */
export class OriginalsRepository implements Originals {
  constructor(
    private readonly db: Knex,
    private readonly profiles: Pick<UsersRepository, 'profiles'>,
  ) {}

  users(ids: string[]): Promise<MessagingUser[]> {
    return this.profiles.profiles(ids);
  }

  async blacklisted(userId: string, ids: string[]): Promise<string[]> {
    return idsIn(await blacklistedAmong(this.db, { userId, ids }));
  }

  async everBlacklisted(userId: string): Promise<string[]> {
    return idsIn(await everBlacklisted(this.db, { userId }));
  }

  async request(userId: string, fromId: string): Promise<string | undefined> {
    const [found] = await requestFrom(this.db, { userId, fromId });
    return found?.message;
  }

  async group(id: string) {
    const [found] = await groupById(this.db, { id });
    return found;
  }

  async members(groupId: string, ids: string[]): Promise<string[]> {
    return idsIn(await membersAmong(this.db, { groupId, ids }));
  }

  async everMembers(groupId: string): Promise<string[]> {
    return idsIn(await everMembers(this.db, { groupId }));
  }
}
