import type { Knex } from 'knex';
import { isoTime, statement } from '../database/statement';

/** Scopes of an operator: looking, helping users, everything. Each includes those before it. */
export const SCOPES = ['read', 'support', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Identity and rights of a valid token. */
export interface AdminToken {
  name: string;
  scope: Scope;
}

/** A token that is not revoked, as operators see it. */
export interface ListedToken extends AdminToken {
  state: 'valid' | 'expired';
  createdAt: string;
  createdBy: string;
  expiresAt: string;
  lastUsedAt: string | null;
}

/** Notes the use once an hour at most, so that most calls write nothing. */
const use = statement<AdminToken, 'hash'>(
  'use-admin-token',
  `WITH found AS (
     SELECT hash, name, scope, last_used_at FROM admin_tokens
      WHERE hash = :hash AND revoked_at IS NULL AND expires_at > now()),
   noted AS (
     UPDATE admin_tokens SET last_used_at = now()
      WHERE hash = (SELECT hash FROM found
                     WHERE coalesce(last_used_at, '-infinity') < now() - interval '1 hour'))
   SELECT name, scope FROM found`,
);

const add = statement<{ expiresAt: string }, 'hash' | 'name' | 'scope' | 'days' | 'createdBy'>(
  'add-admin-token',
  `INSERT INTO admin_tokens (hash, name, scope, expires_at, created_by)
   VALUES (:hash, :name, :scope, now() + make_interval(hours => 24 * :days::integer), :createdBy)
   ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING
   RETURNING ${isoTime('expires_at')} AS "expiresAt"`,
);

const LISTED = `name, scope, CASE WHEN expires_at > now() THEN 'valid' ELSE 'expired' END AS state,
                ${isoTime('created_at')} AS "createdAt", created_by AS "createdBy", ${isoTime('expires_at')} AS "expiresAt",
                ${isoTime('last_used_at')} AS "lastUsedAt"`;

const list = statement<ListedToken, 'most'>(
  'list-admin-tokens',
  `SELECT ${LISTED} FROM admin_tokens WHERE revoked_at IS NULL ORDER BY expires_at <= now(), name LIMIT :most::integer`,
);

const named = statement<ListedToken, 'name'>(
  'named-admin-token',
  `SELECT ${LISTED} FROM admin_tokens WHERE name = :name AND revoked_at IS NULL`,
);

const revoke = statement<unknown, 'name'>(
  'revoke-admin-token',
  'UPDATE admin_tokens SET revoked_at = now() WHERE name = :name AND revoked_at IS NULL',
);

/** Tokens of the admin API, by their hashes. Rows are never deleted. */
export class AdminTokensRepository {
  constructor(private readonly db: Knex) {}

  /** Returns the token with this hash, unless it is revoked or has expired. */
  async use(hash: Buffer): Promise<AdminToken | undefined> {
    const [found] = await use(this.db, { hash });
    return found;
  }

  /** Returns when the new token expires, or undefined if another one has the name. */
  async add(token: AdminToken & { hash: Buffer; days: number; createdBy: string }): Promise<string | undefined> {
    const { hash, name, scope, days, createdBy } = token;
    const [added] = await add(this.db, { hash, name, scope, days, createdBy });
    return added?.expiresAt;
  }

  list(most: number): Promise<ListedToken[]> {
    return list(this.db, { most });
  }

  async named(name: string): Promise<ListedToken | undefined> {
    const [found] = await named(this.db, { name });
    return found;
  }

  async revoke(name: string): Promise<void> {
    await revoke(this.db, { name });
  }
}
