import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { Client, type PoolConfig } from 'pg';
import { connect, connectionOptions } from './database';

const DIRECTORY = join(__dirname, '..', 'migrations');
/** Any fixed number: instances that start together take turns at migrating. */
const LOCK = 5_718_203_664;

/**
 * Migrations are pairs of SQL files, NNNN_name.up.sql and NNNN_name.down.sql. Knex records the bare name, so that running
 * from sources or compiled makes no difference.
 */
export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => names(),
  getMigrationName: (name) => name,
  getMigration: async (name) => ({
    up: (trx) => run(trx, `${name}.up.sql`),
    down: (trx) => run(trx, `${name}.down.sql`),
  }),
};

async function run(trx: Knex, file: string): Promise<void> {
  // Knex takes a question mark for a place holder.
  await trx.raw(readFileSync(join(DIRECTORY, file), 'utf8').replaceAll('?', '\\?'));
}

/** Another instance's migration is waited for, and an index on a large table takes as long as it takes. */
function patient(url: string): PoolConfig {
  return { ...connectionOptions(url), statement_timeout: 0, query_timeout: 0, idle_in_transaction_session_timeout: 0 };
}

/** Brings the schema up to date and returns the names of what was applied. */
export async function migrate(url: string): Promise<string[]> {
  const guard = new Client(patient(url));
  // A connection that breaks fails the next query on it; it must not end the process by itself.
  guard.on('error', () => undefined);
  await guard.connect();
  const db = connect(url, 2, { options: patient(url) });
  try {
    // Until the connection ends; a lock of the session's would stay with the connection of a pooler in between.
    await guard.query('BEGIN');
    await guard.query({ text: 'SELECT pg_advisory_xact_lock($1)', values: [LOCK] });
    // Under the advisory lock a lock row of Knex's own can only be left over from a migration that was killed.
    await db.migrate.forceFreeMigrationsLock({ migrationSource });
    const applied: unknown = await db.migrate.latest({ migrationSource });
    return Array.isArray(applied) && Array.isArray(applied[1]) ? applied[1].map(String) : [];
  } finally {
    await db.destroy();
    await guard.end();
  }
}

/** Whether every migration that this version of the service knows has been applied. */
export async function isMigrated(db: Knex): Promise<boolean> {
  // Without its table, which only a migration makes, Knex's own question fails.
  const { rows } = await db.raw<{ rows: unknown[] }>(`SELECT WHERE to_regclass('knex_migrations') IS NOT NULL`);
  if (rows.length === 0) return false;
  const applied = new Set(await db('knex_migrations').pluck<string[]>('name'));
  return names().every((name) => applied.has(name));
}

function names(): string[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith('.up.sql'))
    .map((file) => file.replace('.up.sql', ''))
    .sort();
}
