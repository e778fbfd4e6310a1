import { addsToUser, holdInPlace } from '../../database/hold-in-place';
import { statement, type Source } from '../../database/statement';

/**
 * In the order of their ids, so that two transactions that lock the same users cannot deadlock. Not FOR SHARE: a stream
 * of shared locks could keep the row's owner waiting without end, while exclusive locks queue.
 */
const lock = statement<{ id: string }, 'ids'>(
  'lock-open-users',
  'SELECT id FROM users WHERE id = ANY (:ids::text[]) AND closed_at IS NULL ORDER BY id FOR NO KEY UPDATE',
  { distributed: lockEach },
);

const lockOne = statement<{ id: string }, 'id'>(
  'lock-open-user',
  'SELECT id FROM users WHERE id = :id AND closed_at IS NULL FOR NO KEY UPDATE',
);

/** Locks the users whose accounts are open, and returns their ids. */
export async function lockOpenUsers(db: Source, ids: string[]): Promise<string[]> {
  return (await lock(db, { ids })).map(({ id }) => id);
}

async function lockEach(db: Source, { ids }: { ids: string[] }): Promise<{ id: string }[]> {
  const locked: { id: string }[] = [];
  // In the order of the statement above, which is that of code units.
  for (const id of [...new Set(ids)].sort()) {
    await holdInPlace(db, { key: id });
    const found = await lockOne(db, { id });
    if (found.length > 0) await addsToUser(db, { userId: id });
    locked.push(...found);
  }
  return locked;
}
