import { escapeIdentifier, type Client } from 'pg';
import { HAS_CITUS } from '../../../src/database/pool';

export interface Table {
  name: string;
  columns: { name: string; type: string }[];
  key: string[];
}

/**
 * Tables that are not copied: migrations fill them, they belong to one server, they are empty at the end, or the new database
 * makes them itself.
 */
const LEFT_OUT = [
  ...[
    'knex_migrations',
    'knex_migrations_lock',
    'sync_epoch',
    'sync_life',
    'group_members_buried',
    'user_groups',
    'events_elsewhere',
  ],
];

const TABLES = `
  SELECT relname AS name,
         array(SELECT attname::text FROM unnest(indkey) WITH ORDINALITY AS part (number, place)
                 JOIN pg_attribute ON attrelid = indrelid AND attnum = number ORDER BY place) AS key,
         (SELECT json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) ORDER BY attnum)
            FROM pg_attribute WHERE attrelid = indrelid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
    FROM pg_class JOIN pg_index ON indrelid = pg_class.oid AND indisprimary
   WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL ($1)
   ORDER BY relpages, relname`;

/** Returns the tables of the service in this database, small ones first. */
export async function tablesOf(db: Client, names?: string[]): Promise<Table[]> {
  const { rows } = await db.query<Table>(TABLES, [LEFT_OUT]);
  return names ? rows.filter(({ name }) => names.includes(name)) : rows;
}

export const quoted = (names: string[]) => names.map(escapeIdentifier).join(', ');

export async function hasCitus(db: Client): Promise<boolean> {
  return (await db.query(HAS_CITUS)).rows.length > 0;
}
