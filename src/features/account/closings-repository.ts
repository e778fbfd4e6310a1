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

/** Ends the rows of a page, and returns their keys. Closed accounts get no new rows, so earlier pages stay complete. */
function endingOf({ table, own, key, condition, change }: Rows): string {
  return `WITH page AS (
     SELECT ${key} FROM ${table} WHERE ${own} = :userId AND ${condition} AND ${key} > :after
      ORDER BY ${key} LIMIT ${PAGE}),
   ended AS (
     UPDATE ${table} SET ${change}
      WHERE ${own} = :userId AND ${key} = ANY (ARRAY(SELECT ${key} FROM page)) AND ${condition})
   SELECT ${key} AS id FROM page ORDER BY ${key}`;
}

/** Not prepared, like other pages. */
const UNPREPARED = { prepared: false };

/** Entries of other users about this user stay. */
const endBlacklist = statement<Ended, Page>(
  'end-blacklist',
  endingOf({ table: 'blacklist', own: 'user_id', key: 'friend_id', condition: 'status', change: 'status = false' }),
  UNPREPARED,
);

/** Also clears the names that the user gave to former friends. */
const endOwnSides = statement<Ended, Page>(
  'end-own-sides',
  endingOf({
    table: 'friendships',
    own: 'user_id',
    key: 'friend_id',
    condition: `(status <> 30 OR display_name <> '')`,
    change: `status = 30, display_name = ''`,
  }),
  UNPREPARED,
);

/** Separate from the own sides, since another service may have written only one side. */
const endOtherSides = statement<Ended, Page>(
  'end-other-sides',
  endingOf({
    table: 'friendships',
    own: 'friend_id',
    key: 'user_id',
    condition: 'status <> 30',
    change: 'status = 30',
  }),
  {
    ...UNPREPARED,
    distributed: async (on, page) => {
      const found = await otherSides(on, page);
      if (found.length > 0) await endSidesOf(on, { ...page, ids: found.map(({ id }) => id) });
      return found;
    },
  },
);

/** On several servers: finding a page asks all of them, ending its rows only theirs. */
const otherSides = statement<Ended, Page>(
  'page-of-other-sides',
  `SELECT user_id AS id FROM friendships WHERE friend_id = :userId AND status <> 30 AND user_id > :after
    ORDER BY user_id LIMIT ${PAGE}`,
  UNPREPARED,
);

const endSidesOf = statement<unknown, 'userId' | 'ids'>(
  'end-sides-of-users',
  'UPDATE friendships SET status = 30 WHERE user_id = ANY (:ids::text[]) AND friend_id = :userId AND status <> 30',
  UNPREPARED,
);

/** Lists of a closed account whose rows end. */
export const LISTS = ['blacklist', 'own sides', 'other sides'] as const;

/**
 * The remaining rows of closed accounts. Clients are told of each row that ends. Each chunk is a transaction of its
 * own, so that others wait for its rows only, and two instances may end the same rows.
 */
export class ClosingsRepository {
  constructor(private readonly db: Knex) {}

  /** Ends a page of a list of the user, and returns it. */
  end(list: (typeof LISTS)[number], userId: string, after: string): Promise<Ended[]> {
    const end = { blacklist: endBlacklist, 'own sides': endOwnSides, 'other sides': endOtherSides }[list];
    return end(this.db, { userId, after });
  }

  /** Removes the account from the accounts with remaining rows. */
  async forget(userId: string): Promise<void> {
    await this.db('account_closings').where({ user_id: userId }).delete();
  }

  /** Returns a page of the closed accounts with remaining rows, ordered by id. */
  async unfinished(after: string): Promise<Ended[]> {
    const later = this.db('account_closings').where('user_id', '>', after);
    return later.orderBy('user_id').limit(PAGE).select<Ended[]>({ id: 'user_id' });
  }
}
