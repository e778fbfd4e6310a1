import type { Knex } from 'knex';

const BATCH = 5_000;

/** Removes what may be very much, in statements that each take a moment and keep what they have done. */
export async function deleteInBatches(
  db: Knex,
  table: string,
  condition: string,
  bindings: Knex.RawBinding[] = [],
): Promise<void> {
  const batch = `ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${BATCH}))`;
  const statement = `DELETE FROM ${table} WHERE ${batch} AND ${condition}`;
  let deleted = BATCH;
  while (deleted === BATCH)
    deleted = (await db.raw<{ rowCount: number }>(statement, [...bindings, ...bindings])).rowCount;
}
