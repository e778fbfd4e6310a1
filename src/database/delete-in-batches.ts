import type { Knex } from 'knex';

const BATCH = 5_000;

/** Deletes rows in batches, so that each statement is short and a later failure does not undo earlier batches. */
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
