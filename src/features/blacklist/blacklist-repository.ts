import type { Knex } from 'knex';
import { holdInPlace } from '../../database/hold-in-place';
import { newestFirst, type TimedRow } from '../../database/newest-first';
import { PAGE } from '../../database/pages';
import { statement } from '../../database/statement';
import { addNames } from '../users/names';
import type { Names } from '../users/profile';
import type { BlacklistEntry } from './blacklist-schemas';

/** Pages by id: no write moves an entry past a page. Not prepared, so that PostgreSQL plans for the list's length. */
const pageOfEntries = statement<Omit<BlacklistEntry, 'updatedAt' | keyof Names> & TimedRow, 'userId' | 'after'>(
  'page-of-blacklist',
  `SELECT friend_id AS id, (extract(epoch FROM updated_at) * 1000000)::float8 AS "updatedMicros"
     FROM blacklist WHERE user_id = :userId AND status AND friend_id > :after
    ORDER BY friend_id LIMIT ${PAGE}`,
  { prepared: false },
);

/** Counts entries up to the maximum, and only for an entry that does not exist yet. */
const addEntry = statement<{ hasRoom: boolean }, 'userId' | 'friendId' | 'most'>(
  'add-blacklist-entry',
  `WITH place AS (
     SELECT :most::integer = 0
         OR EXISTS (SELECT FROM blacklist WHERE user_id = :userId AND friend_id = :friendId AND status)
         OR :most > (SELECT count(*) FROM (
              SELECT FROM blacklist WHERE user_id = :userId AND status LIMIT :most) AS entry) AS is_there),
   added AS (
     INSERT INTO blacklist (user_id, friend_id) SELECT :userId, :friendId FROM place WHERE is_there
     ON CONFLICT (user_id, friend_id) DO UPDATE SET status = true WHERE NOT blacklist.status)
   SELECT is_there AS "hasRoom" FROM place`,
);

export class BlacklistRepository {
  constructor(private readonly db: Knex) {}

  /** Returns the entries, newest first. */
  async list(userId: string): Promise<BlacklistEntry[]> {
    return newestFirst(async (after) => addNames(this.db, await pageOfEntries(this.db, { userId, after })));
  }

  /** Keeps other requests from adding to this blacklist until the transaction ends. */
  async lock(userId: string): Promise<void> {
    await holdInPlace(this.db, { key: userId });
    await this.db('users').where({ id: userId }).forNoKeyUpdate().select('id');
  }

  /**
   * Adds an entry unless there are already `most` (0: no limit): then it returns false. Simultaneous calls need the
   * lock, or neither sees the other's entry. An existing entry does not change.
   */
  async add(userId: string, friendId: string, most: number): Promise<boolean> {
    const [added] = await addEntry(this.db, { userId, friendId, most });
    if (added === undefined) throw new Error('adding to a blacklist returned no row');
    return added.hasRoom;
  }

  async remove(userId: string, friendId: string): Promise<void> {
    await this.db('blacklist').where({ user_id: userId, friend_id: friendId, status: true }).update({ status: false });
  }
}
