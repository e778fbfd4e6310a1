import type { Knex } from 'knex';
import { newestFirst, type TimedRow } from '../../database/newest-first';
import { PAGE } from '../../database/pages';
import { statement } from '../../database/statement';
import { NAMES, withNames } from '../users/names';
import type { BlacklistEntry } from './blacklist-schemas';

/**
 * Ids never change: what is written meanwhile moves no entry past a page. Not prepared, so that PostgreSQL knows how long
 * the list is.
 */
const pageOfEntries = statement<Omit<BlacklistEntry, 'updatedAt'> & TimedRow, 'userId' | 'after'>(
  'page-of-blacklist',
  `SELECT entry.friend_id AS id, ${NAMES},
          (extract(epoch FROM entry.updated_at) * 1000000)::float8 AS "updatedMicros"
     FROM (SELECT friend_id, updated_at FROM blacklist
            WHERE user_id = :userId AND status AND friend_id > :after ORDER BY friend_id LIMIT ${PAGE}) AS entry
     ${withNames('entry.friend_id')}
    ORDER BY entry.friend_id`,
  { prepared: false },
);

export interface Added {
  /** There is such a user to put on it. */
  isKnown: boolean;
  /** There is room for the user, who may be on it already. */
  hasRoom: boolean;
}

/** Entries are counted up to the most there may be, and only for one that is not there yet. */
const addEntry = statement<Added, 'userId' | 'friendId' | 'most'>(
  'add-blacklist-entry',
  `WITH friend AS (SELECT id FROM users WHERE id = :friendId AND closed_at IS NULL),
   place AS (
     SELECT :most::integer = 0
         OR EXISTS (SELECT FROM blacklist WHERE user_id = :userId AND friend_id = :friendId AND status)
         OR :most > (SELECT count(*) FROM (
              SELECT FROM blacklist WHERE user_id = :userId AND status LIMIT :most) AS entry) AS is_there),
   added AS (
     INSERT INTO blacklist (user_id, friend_id) SELECT :userId, id FROM friend, place WHERE is_there
     ON CONFLICT (user_id, friend_id) DO UPDATE SET status = true WHERE NOT blacklist.status)
   SELECT EXISTS (SELECT FROM friend) AS "isKnown", is_there AS "hasRoom" FROM place`,
);

export class BlacklistRepository {
  constructor(private readonly db: Knex) {}

  /** Newest first. */
  async list(userId: string): Promise<BlacklistEntry[]> {
    return newestFirst((after) => pageOfEntries(this.db, { userId, after }));
  }

  /** Until the end of the transaction nobody else adds to this blacklist. */
  async lock(userId: string): Promise<void> {
    await this.db('users').where({ id: userId }).forNoKeyUpdate().select('id');
  }

  /**
   * Adds nothing where `most` entries hold already, unless that is 0; two at once need the lock, or neither sees the
   * other's. An entry that is there already is left as it is.
   */
  async add(userId: string, friendId: string, most: number): Promise<Added> {
    const [added] = await addEntry(this.db, { userId, friendId, most });
    if (added === undefined) throw new Error('adding to a blacklist told nothing');
    return added;
  }

  async remove(userId: string, friendId: string): Promise<void> {
    await this.db('blacklist').where({ user_id: userId, friend_id: friendId, status: true }).update({ status: false });
  }
}
