import type { Knex } from 'knex';
import { otherServers } from './database';

/**
 * Runs `write` as another service does that writes rows of these users. On several servers, where triggers cannot ask for
 * users of other servers, it has to ask for open accounts first: docs/distributed.md.
 */
export async function asOtherService(db: Knex, users: string[], write: (db: Knex) => Promise<unknown>): Promise<void> {
  if (otherServers().length === 0) return void (await write(db));
  await db.transaction(async (trx) => {
    const asked = `SELECT is_any_closed(${users.map(() => '?').join(', ')}) AS closed`;
    const { rows } = await trx.raw<{ rows: { closed: boolean }[] }>(asked, users);
    if (!rows[0]?.closed) await write(trx);
  });
}
