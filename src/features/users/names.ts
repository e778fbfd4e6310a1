import { statement, type Source } from '../../database/statement';
import type { Person } from './profile';

/** Another user, with the version of the profile. */
export interface Named extends Person {
  version: number;
}

const namesOf = statement<Named, 'ids'>(
  'names',
  'SELECT id, nickname, portrait_uri AS "portraitUri", version FROM users WHERE id = ANY (:ids::text[])',
);

/** Returns the users by their ids. */
export async function peopleOf(on: Source, ids: string[]): Promise<Map<string, Named>> {
  const found = ids.length > 0 ? await namesOf(on, { ids }) : [];
  return new Map(found.map((person) => [person.id, person]));
}

/** Adds the names and portraits of users to rows about them. They are empty for a closed account. */
export async function addNames<Row extends { id: string }>(on: Source, rows: Row[]): Promise<(Row & Person)[]> {
  const people = await peopleOf(
    on,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const { nickname = '', portraitUri = '' } = people.get(row.id) ?? {};
    return Object.assign({ id: row.id, nickname, portraitUri }, row);
  });
}

/** Columns of another user that `joinNames` has joined. Empty for a closed account. */
export const NAMES = `coalesce(u.nickname, '') AS nickname, coalesce(u.portrait_uri, '') AS "portraitUri"`;

/** Joins the user with this id if `holds`. OFFSET 0 prevents a hash join over all users after a bad estimate. */
export function joinNames(id: string, holds = 'true'): string {
  return `LEFT JOIN LATERAL (SELECT nickname, portrait_uri, version FROM users WHERE id = ${id} AND ${holds} OFFSET 0) u ON true`;
}
