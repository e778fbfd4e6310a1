import type { Knex } from 'knex';

/**
 * Role that the service logs in as, or of which its login role is a member. A database may lack it: then the service
 * logs in as the owner of the tables.
 */
export const SERVICE_ROLE = 'accounts_service';

const KEPT = ['SELECT', 'INSERT', 'UPDATE'];

/** Tables for which it needs fewer rights than select, insert, update and delete. */
// prettier-ignore
const LESS: Record<string, string[]> = {
  security_events: ['SELECT', 'INSERT'],
  security_events_kept: ['SELECT'],
  admin_tokens: ['SELECT'],
  events: ['SELECT', 'DELETE'], events_elsewhere: [],
  // Ended rows stay, for clients that have not been told yet.
  friendships: KEPT, groups: KEPT, group_members: KEPT,
  group_sizes: ['SELECT', 'UPDATE'], group_members_buried: [],
  sync_epoch: ['SELECT'], sync_life: [],
  knex_migrations: ['SELECT'], knex_migrations_id_seq: [],
  knex_migrations_lock: [], knex_migrations_lock_index_seq: [],
};

/**
 * SQL that lists the missing grants, or nothing if the role does not exist. Skips tables and functions of extensions,
 * which are not the service's, and those of other owners, who must grant them themselves.
 */
const MISSING = `
  WITH given AS (SELECT to_regrole(?) AS role, CAST(? AS jsonb) AS less),
       extensions AS (SELECT classid, objid FROM pg_depend WHERE deptype = 'e'),
       relations AS (
         SELECT oid, relname::text AS name, relkind = 'S' AS is_sequence FROM pg_class
          WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S') AND pg_has_role(relowner, 'USAGE')
            AND ('pg_class'::regclass, oid) NOT IN (SELECT classid, objid FROM extensions)),
       wanted AS (
         SELECT oid, is_sequence, privilege
           FROM relations, given,
                unnest(CASE WHEN is_sequence THEN '{USAGE}'::text[] ELSE '{SELECT,INSERT,UPDATE,DELETE}' END) AS privilege
          WHERE coalesce((less -> name) @> to_jsonb(privilege), true))
  SELECT format('GRANT USAGE ON SCHEMA public TO %s', role) AS grant
    FROM given WHERE NOT has_schema_privilege(role, 'public', 'USAGE')
   UNION ALL
  SELECT format('GRANT %s ON %s %s TO %s', string_agg(privilege, ', '),
                CASE WHEN is_sequence THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass, role)
    FROM wanted, given
   WHERE NOT CASE WHEN is_sequence THEN has_sequence_privilege(role, oid, privilege)
                  ELSE has_table_privilege(role, oid, privilege) END
   GROUP BY oid, is_sequence, role
   UNION ALL
  SELECT format('GRANT EXECUTE ON ROUTINE %s TO %s', oid::regprocedure, role)
    FROM pg_proc, given
   WHERE pronamespace = 'public'::regnamespace AND pg_has_role(proowner, 'USAGE')
     AND ('pg_proc'::regclass, oid) NOT IN (SELECT classid, objid FROM extensions)
     AND NOT has_function_privilege(role, oid, 'EXECUTE')`;

/**
 * SQL that limits the role to noting the last use of tokens of the admin API, unless that is done, or the role owns them.
 */
const LIMIT_ON_TOKENS = `
  SELECT format(form, oid::regclass, role) AS grant
    FROM pg_class, (SELECT to_regrole(?) AS role) AS given,
         unnest(ARRAY[
           'REVOKE INSERT, UPDATE ON %s FROM %s',
           'GRANT UPDATE (last_used_at) ON %s TO %s'
         ]) WITH ORDINALITY AS forms (form, place)
   WHERE oid = to_regclass('public.admin_tokens') AND pg_has_role(relowner, 'USAGE')
     AND NOT pg_has_role(role, relowner, 'USAGE')
     AND (has_table_privilege(role, oid, 'INSERT, UPDATE')
          OR NOT has_column_privilege(role, oid, 'last_used_at', 'UPDATE'))
   ORDER BY place`;

/**
 * Grants the service's role what it needs on all existing tables, so that migrations need not do it. Revokes only the
 * making of tokens, which a version before granted, since running instances do not need it.
 */
export async function grantToService(db: Knex): Promise<void> {
  const run = async (sql: string, bindings: string[]) => {
    const { rows } = await db.raw<{ rows: { grant: string }[] }>(sql, bindings);
    for (const { grant } of rows) await db.raw(grant);
  };
  await run(MISSING, [SERVICE_ROLE, JSON.stringify(LESS)]);
  await run(LIMIT_ON_TOKENS, [SERVICE_ROLE]);
}
