import { NOTHING, statement } from './statement';

/**
 * Keeps the rows of a user or group on their server until the transaction ends. Needed before a row of them is locked:
 * a Citus that moves them to another server would leave the lock behind.
 */
export const holdInPlace = statement<unknown, 'key'>('hold-in-place', NOTHING, {
  distributed: 'SELECT hold_in_place(:key)',
});

/** Before rows of a locked user are added: on several servers the lock on the user ends too early. */
export const addsToUser = statement<unknown, 'userId'>('adds-to-user', NOTHING, {
  distributed: 'SELECT adds_to_user(:userId)',
});

/** Before all rows of a locked user are looked for: waits for transactions that add to them. */
export const findsAllOfUser = statement<unknown, 'userId'>('finds-all-of-user', NOTHING, {
  distributed: 'SELECT finds_all_of_user(:userId)',
});
