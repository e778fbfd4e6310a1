import type { Knex } from 'knex';
import { PAGE } from '../../database/pages';
import { statement } from '../../database/statement';

export interface Ended {
  id: string;
}

type Page = 'userId' | 'after';

interface Rows {
  table: string;
  /** The column with the closed account, and the one with the other user. */
  own: string;
  key: string;
  condition: string;
  change: string;
}

/**
 * Ends the rows of a page, and returns their keys. Nothing begins for a closed account, so no row appears behind a page.
 */
function endingOf({ table, own, key, condition, change }: Rows): string {
  return `WITH page AS (
     SELECT ${key} FROM ${table} WHERE ${own} = :userId AND ${condition} AND ${key} > :after
      ORDER BY ${key} LIMIT ${PAGE}),
   ended AS (
     UPDATE ${table} SET ${change}
      WHERE ${own} = :userId AND ${key} = ANY (ARRAY(SELECT ${key} FROM page)) AND ${condition})
   SELECT ${key} AS id FROM page ORDER BY ${key}`;
}

/** Like other pages. */
const UNPREPARED = { prepared: false };

/** Entries of others about the user stay theirs. */
const endBlacklist = statement<Ended, Page>(
  'end-blacklist',
  endingOf({
    ...{ table: 'blacklist', own: 'user_id', key: 'friend_id' },
    ...{ condition: 'status', change: 'status = false' },
  }),
  UNPREPARED,
);

/** Also the names that the user gave to former friends. */
const endOwnSides = statement<Ended, Page>(
  'end-own-sides',
  endingOf({
    ...{ table: 'friendships', own: 'user_id', key: 'friend_id' },
    condition: `(status <> 30 OR display_name <> '')`,
    change: `status = 30, display_name = ''`,
  }),
  UNPREPARED,
);

/** Apart from the own sides, for another service may have written one side only. */
const endOtherSides = statement<Ended, Page>(
  'end-other-sides',
  endingOf({
    ...{ table: 'friendships', own: 'friend_id', key: 'user_id' },
    ...{ condition: 'status <> 30', change: 'status = 30' },
  }),
  UNPREPARED,
);

/**
 * What closed accounts leave. Clients are told of each row that ends. Not in a transaction: each chunk is one of its own, so
 * that nobody waits for more than its rows, and two instances may end the same ones.
 */
export class ClosingsRepository {
  constructor(private readonly db: Knex) {}

  /** Each ends a page of one list, and returns it. */
  endings(userId: string): ((after: string) => Promise<Ended[]>)[] {
    return [endBlacklist, endOwnSides, endOtherSides].map((end) => (after) => end(this.db, { userId, after }));
  }

  /** Once nothing is left. */
  async forget(userId: string): Promise<void> {
    await this.db('account_closings').where({ user_id: userId }).delete();
  }

  /** In the order of their ids. */
  async unfinished(after: string): Promise<Ended[]> {
    const later = this.db('account_closings').where('user_id', '>', after);
    return later.orderBy('user_id').limit(PAGE).select<Ended[]>({ id: 'user_id' });
  }
}
