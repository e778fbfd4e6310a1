import type { Knex } from 'knex';

interface Result<Row> {
  rows: Row[];
  rowCount: number;
}

/** What `connect` gives Knex, and Knex hands on to its transactions. */
interface Params {
  prepare?: boolean;
}

/**
 * A statement that runs often: PostgreSQL keeps its plan on each connection, under a name that no other statement has. Not
 * where a pooler in between knows no prepared statements.
 */
export function prepared<Row>(db: Knex, name: string, sql: string, bindings: Knex.RawBinding[]): Knex.Raw<Result<Row>> {
  const { prepare }: Params = db.userParams;
  const query = db.raw<Result<Row>>(sql, bindings);
  return prepare ? query.options({ name }) : query;
}
