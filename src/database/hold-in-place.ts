import { isDistributed, statement, type Source } from './statement';

const hold = statement<unknown, 'key'>('hold-in-place', 'SELECT hold_in_place(:key)');

/**
 * Keeps the rows of a user or group on their server until the transaction ends. Needed before a row of them is locked:
 * a Citus that moves them to another server would leave the lock behind.
 */
export async function holdInPlace(on: Source, key: string): Promise<void> {
  if (isDistributed(on)) await hold(on, { key });
}
