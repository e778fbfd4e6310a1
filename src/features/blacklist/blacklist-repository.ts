import type { Knex } from 'knex';
import { statement } from '../../database/statement';

export interface BlacklistEntry {
  id: string;
  nickname: string;
  portraitUri: string;
  updatedAt: Date;
}

const addEntry = statement<{ id: string }, 'userId' | 'friendId'>(
  'add-blacklist-entry',
  `WITH friend AS (SELECT id FROM users WHERE id = :friendId AND closed_at IS NULL),
   added AS (
     INSERT INTO blacklist (user_id, friend_id) SELECT :userId, id FROM friend
     ON CONFLICT (user_id, friend_id) DO UPDATE SET status = true WHERE NOT blacklist.status)
   SELECT id FROM friend`,
);

export class BlacklistRepository {
  constructor(private readonly db: Knex) {}

  /** Newest first. */
  async list(userId: string): Promise<BlacklistEntry[]> {
    return this.db('blacklist as b')
      .leftJoin('users as u', 'u.id', 'b.friend_id')
      .where({ 'b.user_id': userId, 'b.status': true })
      .orderBy([{ column: 'b.updated_at', order: 'desc' }, 'b.friend_id'])
      .select<BlacklistEntry[]>(
        'b.friend_id as id',
        this.db.raw(`coalesce(u.nickname, '') AS nickname`),
        this.db.raw(`coalesce(u.portrait_uri, '') AS "portraitUri"`),
        'b.updated_at as updatedAt',
      );
  }

  /** False when there is no such user to put on it; an entry that is there already is left as it is. */
  async add(userId: string, friendId: string): Promise<boolean> {
    return (await addEntry(this.db, { userId, friendId })).length > 0;
  }

  async remove(userId: string, friendId: string): Promise<void> {
    await this.db('blacklist').where({ user_id: userId, friend_id: friendId, status: true }).update({ status: false });
  }
}
