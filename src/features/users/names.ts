/** Columns of another user that `withNames` has joined. Empty for a closed account. */
export const NAMES = `coalesce(u.nickname, '') AS nickname, coalesce(u.portrait_uri, '') AS "portraitUri"`;

/** Joins the user with this id if `holds`. OFFSET 0 prevents a hash join over all users after a bad estimate. */
export function withNames(id: string, holds = 'true'): string {
  return `LEFT JOIN LATERAL (SELECT nickname, portrait_uri, version FROM users WHERE id = ${id} AND ${holds} OFFSET 0) u ON true`;
}
