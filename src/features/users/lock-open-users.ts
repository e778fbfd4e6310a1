import { statement, type Source } from '../../database/statement';

/**
 * In the order of their ids, so that two transactions that lock the same users cannot deadlock. Not FOR SHARE: a stream
 * of shared locks could keep the row's owner waiting without end, while exclusive locks queue.
 */
const lock = statement<{ id: string }, 'ids'>(
  'lock-open-users',
  'SELECT id FROM users WHERE id = ANY (:ids::text[]) AND closed_at IS NULL ORDER BY id FOR NO KEY UPDATE',
);

/** Locks the users whose accounts are open, and returns their ids. */
export async function lockOpenUsers(db: Source, ids: string[]): Promise<string[]> {
  return (await lock(db, { ids })).map(({ id }) => id);
}
