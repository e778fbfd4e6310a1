import type { Knex } from 'knex';
import { statement } from '../../database/statement';

const endBlacklist = statement<unknown, 'userId'>(
  'end-blacklist',
  'UPDATE blacklist SET status = false WHERE user_id = :userId AND status',
);

/**
 * Both sides, also of a friendship that has but one, in one order: two friends may close their accounts at once. A plain
 * condition, because it is looked at again for a row that was waited for: of a join or a union PostgreSQL may then miss that
 * row, by the plan it happens to have.
 */
const lockFriendships = statement<unknown, 'userId'>(
  'lock-friendships',
  `SELECT FROM friendships WHERE user_id = :userId OR (friend_id = :userId AND status <> 30)
    ORDER BY user_id, friend_id FOR UPDATE`,
);

/** The names that the user has given go, those of friends before too. */
const endFriendships = statement<unknown, 'userId'>(
  'end-friendships',
  `UPDATE friendships SET status = 30, display_name = CASE WHEN user_id = :userId THEN '' ELSE display_name END
    WHERE (user_id = :userId AND (status <> 30 OR display_name <> '')) OR (friend_id = :userId AND status <> 30)`,
);

/** Until the end of the transaction: another service may have written any number of friendships. */
const takeLonger = statement<unknown>('take-longer', `SELECT set_config('statement_timeout', '60s', true)`);

/** What else belongs to an account. Clients are told of each row that ends. */
export class AccountRepository {
  constructor(private readonly db: Knex) {}

  /** Entries of others about the user stay theirs. */
  async endBlacklist(userId: string): Promise<void> {
    await endBlacklist(this.db, { userId });
  }

  async endFriendships(userId: string): Promise<void> {
    await takeLonger(this.db, {});
    await lockFriendships(this.db, { userId });
    await endFriendships(this.db, { userId });
  }
}
