import type { Knex } from 'knex';

/**
 * The role that the service logs in as, or that the one it logs in as is a member of. A database may do without it: then
 * the service logs in as the owner of the tables.
 */
export const SERVICE_ROLE = 'accounts_service';

const KEPT = ['SELECT', 'INSERT', 'UPDATE'];

/** Where it needs less than to read, add, change and remove rows. */
const LESS: Record<string, string[]> = {
  security_events: ['SELECT', 'INSERT'],
  security_events_kept: ['SELECT'],
  // What is over stays as a row, for clients that have not been told yet.
  ...{ friendships: KEPT, groups: KEPT, group_members: KEPT },
  ...{ group_sizes: ['SELECT', 'UPDATE'], group_members_buried: [] },
  ...{ sync_epoch: ['SELECT'], sync_life: [] },
  ...{ knex_migrations: ['SELECT'], knex_migrations_id_seq: [] },
  ...{ knex_migrations_lock: [], knex_migrations_lock_index_seq: [] },
};

/**
 * The grants that are missing; none where there is no such role. Tables and functions of extensions are not the
 * service's, and those of others not the owner's to grant.
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
 * Gives the service's role what it needs of the tables that there are, so that no migration has to think of it. It takes
 * nothing away: beside an instance of another version, that one may need it.
 */
export async function grantToService(db: Knex): Promise<void> {
  const { rows } = await db.raw<{ rows: { grant: string }[] }>(MISSING, [SERVICE_ROLE, JSON.stringify(LESS)]);
  for (const { grant } of rows) await db.raw(grant);
}
