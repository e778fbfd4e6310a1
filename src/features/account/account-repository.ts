import type { Knex } from 'knex';
import { statement } from '../../database/statement';

const endBlacklist = statement<unknown, 'userId'>(
  'end-blacklist',
  'UPDATE blacklist SET status = false WHERE user_id = :userId AND status',
);

/**
 * Both sides, also of a friendship that has but one, in one order: two friends may close their accounts at once. The names
 * that the user has given go, those of friends before too.
 */
const endFriendships = statement<unknown, 'userId'>(
  'end-friendships',
  `WITH sides AS (
     SELECT user_id, friend_id FROM friendships
      WHERE (user_id, friend_id) IN (
              SELECT user_id, friend_id FROM friendships WHERE user_id = :userId UNION ALL
              SELECT user_id, friend_id FROM friendships WHERE friend_id = :userId AND status <> 30)
      ORDER BY user_id, friend_id FOR UPDATE)
   UPDATE friendships side
      SET status = 30, display_name = CASE WHEN side.user_id = :userId THEN '' ELSE display_name END
     FROM sides
    WHERE side.user_id = sides.user_id AND side.friend_id = sides.friend_id
      AND (status <> 30 OR (side.user_id = :userId AND display_name <> ''))`,
);

/** What else belongs to an account. Clients are told of each row that ends. */
export class AccountRepository {
  constructor(private readonly db: Knex) {}

  /** Entries of others about the user stay theirs. */
  async endBlacklist(userId: string): Promise<void> {
    await endBlacklist(this.db, { userId });
  }

  async endFriendships(userId: string): Promise<void> {
    await endFriendships(this.db, { userId });
  }
}
