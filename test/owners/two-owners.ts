/**
 * Statements of the service that touch rows of two owners, by their reason. A statement without a name stands here with
 * its text. In the tests of the API all others touched rows of one owner.
 */
export const TWO_OWNERS: Record<string, string[]> = {
  'A session is read with its user, and with what is asked: most requests need one round trip.': [
    'session',
    'session and friend',
    'session and group-detail',
    'session and live-groups-of-user',
    'session and phone-owner',
    'session and profile',
    'session and profiles',
    'session and sync-horizon',
  ],
  'All sessions of a user, which are kept by their own ids.': [
    'sessions-of-user',
    'start-session',
    `delete from "session" where "sid" in (select "sid" from "session" where sess ->> 'userId' = ? limit ?)`,
    `delete from "session" where "sid" in (select "sid" from "session" where sess ->> 'userId' = ? and not "sid" = ? limit ?)`,
  ],
  'A phone leads to its user, whose recent addresses tell whether a password is guessed.': ['used-addresses'],
  'A code is counted for its country and network, and its token is found by its own hash.': [
    'add-code',
    'exchange-code',
    'withdraw-code',
    'spend-token',
    'use-token',
    'end-codes-and-tokens',
  ],
  'The share of codes of a way that are verified in a country.': ['traffic-of-ways'],
  'The token of a test number is not good for a phone that was proved by a code that was sent.': [
    'token-by-hash',
    'select "phone" as "number", "region" as "region", "language" as "language", "is_test" as "isTest" from "verification_tokens" where "token_hash" = ? and "expires_at" > CURRENT_TIMESTAMP and NOT (is_test AND EXISTS ( SELECT FROM phones WHERE phones.phone = verification_tokens.phone AND NOT phones.is_test)) limit ?',
    'select "phone" as "number", "region" as "region", "expires_at" as "expiresAt" from "verification_tokens" where "token_hash" = ? and "expires_at" > CURRENT_TIMESTAMP and NOT (is_test AND EXISTS ( SELECT FROM phones WHERE phones.phone = verification_tokens.phone AND NOT phones.is_test)) limit ? for update',
  ],
  'A request counts for a phone, a user and an address at once: all of them or none.': [
    'take-limits',
    'hold-limits',
    'change-limits',
    'full-limits',
    'note-limits',
    'delete from "rate_limits" where "key" >= ? and "key" < ?',
  ],
  'Users are locked in the order of their ids.': ['lock-open-users'],
  'Rows by a list of ids. Each server could answer with its own.': ['names', 'profiles', 'befrienders-among'],
  'Names and portraits stand beside the rows of a sync, and a row is sent again after a rename.': [
    'sync-named-rows',
    'sync-page-of-members',
    'sync-page-of-named-blacklist',
    'sync-page-of-named-friendships',
  ],
  'A rename or a new portrait is passed to friends and groups by triggers.': [
    'update "users" set "nickname" = ? where "id" = ? and "closed_at" is null returning id AS "id", nickname AS "nickname", portrait_uri AS "portraitUri"',
    'update "users" set "portrait_uri" = ? where "id" = ? and "closed_at" is null returning id AS "id", nickname AS "nickname", portrait_uri AS "portraitUri"',
  ],
  'The friends and groups of users with a new name, whose syncs wait.': [
    'live-friends-of-users',
    'live-groups-of-users',
  ],
  'The groups of a user, each with its members.': [
    'sync-rows',
    'sync-groups-to-read',
    'sync-members-of-groups',
    'sync-page-of-ended-memberships',
    'kept-memberships',
    'groups-of-member',
  ],
  'The number of groups that a user has joined, or has made.': [
    'join-group',
    'users-in-too-many-groups',
    'count-groups-made',
  ],
  'A trigger locks the user of another row, so that no rename or closing is missed.': [
    'save-side',
    'add-group-members',
  ],
  'All groups and friends of an account that is closed.': [
    'lock-groups-of-member',
    'leave-groups',
    'dismiss-empty-groups',
    'end-other-sides',
  ],
  'A group whose creator has gone passes on at the end of the transaction, by a trigger.': ['COMMIT;'],
  'Groups stop showing a portrait that its owner has replaced.': ['hurry-replaced-portraits', 'remove-unused-images'],
  'Work for all users is taken in batches.': [
    'overdue-requests',
    'end-overdue-requests',
    'next-groups-to-copy',
    'next-users-to-copy',
    'select "user_id" as "id" from "account_closings" where "user_id" > ? order by "user_id" asc limit ?',
  ],
  'An operator looks up accounts.': [
    'support-accounts',
    'support-copied',
    'support-fullest-limits',
    'support-groups-of-user',
    'support-ids-found',
    'support-limits-of-subject',
  ],
  'The commands for demo data write many rows at once.': [
    'insert into "users" ("id", "nickname", "password_hash") values (?, ?, ?) on conflict ("id") do nothing',
    'insert into "phones" ("phone", "region", "user_id") values (?, ?, ?) on conflict ("phone") do nothing',
    'select "id" from "users" where "closed_at" is null and not "id" like ?',
    'select "id" from "users" where "closed_at" is null and not "id" like ? and "id" in (select "user_id" from "phones" where "phone" = ?)',
  ],
};
