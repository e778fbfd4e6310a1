/** Columns of another user, empty for a closed account, where `withNames` has joined it. */
export const NAMES = `coalesce(u.nickname, '') AS nickname, coalesce(u.portrait_uri, '') AS "portraitUri"`;

/** Joins the user with this id where `holds`. OFFSET 0 keeps a bad estimate from a hash join over all users. */
export function withNames(id: string, holds = 'true'): string {
  return `LEFT JOIN LATERAL (SELECT nickname, portrait_uri, version FROM users WHERE id = ${id} AND ${holds} OFFSET 0) u ON true`;
}
