import { statement, type Source } from '../../database/statement';
import type { Person } from './profile';

const namesOf = statement<Person, 'ids'>(
  'names',
  'SELECT id, nickname, portrait_uri AS "portraitUri" FROM users WHERE id = ANY (:ids::text[])',
);

/** Adds the names and portraits of users to rows about them. They are empty for a closed account. */
export async function addNames<Row extends { id: string }>(on: Source, rows: Row[]): Promise<(Row & Person)[]> {
  if (rows.length === 0) return [];
  const found = await namesOf(on, { ids: rows.map(({ id }) => id) });
  const people = new Map(found.map((person) => [person.id, person]));
  return rows.map((row) => ({ ...(people.get(row.id) ?? { id: row.id, nickname: '', portraitUri: '' }), ...row }));
}

/** Columns of another user that `joinNames` has joined. Empty for a closed account. */
export const NAMES = `coalesce(u.nickname, '') AS nickname, coalesce(u.portrait_uri, '') AS "portraitUri"`;

/** Joins the user with this id if `holds`. OFFSET 0 prevents a hash join over all users after a bad estimate. */
export function joinNames(id: string, holds = 'true'): string {
  return `LEFT JOIN LATERAL (SELECT nickname, portrait_uri, version FROM users WHERE id = ${id} AND ${holds} OFFSET 0) u ON true`;
}
