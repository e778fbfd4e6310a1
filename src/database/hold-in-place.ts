import { isDistributed, statement, type Source } from './statement';

const hold = statement<unknown, 'key'>('hold-in-place', 'SELECT hold_in_place(:key)');

/**
 * Keeps the rows of a user or group on their server until the transaction ends. Needed before a row of them is locked:
 * a Citus that moves them to another server would leave the lock behind.
 */
export async function holdInPlace(on: Source, key: string): Promise<void> {
  if (isDistributed(on)) await hold(on, { key });
}

const adds = statement<unknown, 'userId'>('adds-to-user', 'SELECT adds_to_user(:userId)');
const findsAll = statement<unknown, 'userId'>('finds-all-of-user', 'SELECT finds_all_of_user(:userId)');

/** Before rows of a locked user are added: on several servers the lock on the user ends too early. */
export async function addsToUser(on: Source, userId: string): Promise<void> {
  if (isDistributed(on)) await adds(on, { userId });
}

/** Before all rows of a locked user are looked for: waits for transactions that add to them. */
export async function findsAllOfUser(on: Source, userId: string): Promise<void> {
  if (isDistributed(on)) await findsAll(on, { userId });
}
