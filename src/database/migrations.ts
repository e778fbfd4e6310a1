import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { Client, type ClientConfig } from 'pg';
import { codeOf } from '../base/errors';
import { connectionOptions, knexFor } from './pool';
import { grantToService } from './service-role';

const DIRECTORY = join(__dirname, '..', '..', 'migrations');
/** Any fixed number: instances that start together take turns at migrating. */
const LOCK = 5_718_203_664;

/**
 * Migrations are pairs of SQL files, NNNN_name.up.sql and NNNN_name.down.sql. Knex records the bare name, so that
 * running from sources or compiled makes no difference.
 */
export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => names(),
  getMigrationName: (name) => name,
  getMigration: async (name) => ({
    up: async (trx) => {
      await run(trx, `${name}.up.sql`);
      // With the migration itself: no instance sees a new table that it may not use.
      await grantToService(trx);
    },
    down: (trx) => run(trx, `${name}.down.sql`),
  }),
};

async function run(trx: Knex, file: string): Promise<void> {
  // To Knex a question mark is a place holder.
  await trx.raw(sqlOf(file).replaceAll('?', '\\?'));
}

function sqlOf(file: string): string {
  return readFileSync(join(DIRECTORY, file), 'utf8');
}

/** Also for `migrate:latest` of Knex's command line. */
export const migratorConfig: Knex.MigratorConfig = {
  migrationSource,
  // Migrations of a newer version are allowed: an older instance may restart during an upgrade, or after one was
  // undone.
  disableMigrationsListValidation: true,
};

/**
 * No limit on how long an index takes to build. But while a migration waits for a lock on a table, all later statements
 * wait behind it. So it stops waiting soon, and tries again after a pause.
 */
export function migrationOptions(url: string): ClientConfig {
  return {
    ...connectionOptions(url),
    statement_timeout: 0,
    idle_in_transaction_session_timeout: 0,
    lock_timeout: 2_000,
  };
}

const LOCK_NOT_AVAILABLE = '55P03';
/** Together about five minutes. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, ...Array.from({ length: 40 }, () => 5_000)];

interface Migrating {
  announce?: (line: string) => void;
  pausesMs?: readonly number[];
}

/** Brings the schema up to date and returns the names of what was applied. */
export async function migrate(url: string, { announce = () => undefined, pausesMs = PAUSES_MS }: Migrating = {}) {
  return alone(url, (db) => latest(db, announce, pausesMs));
}

export interface AppliedMigration {
  name: string;
  /** What undoing it runs. */
  undoing: string;
}

/** The newest migration of a database; undefined where there is none. */
export async function newestMigration(url: string): Promise<AppliedMigration | undefined> {
  return alone(url, newest);
}

/** Undoes one migration, when no other has come after it. */
export async function undoMigration(url: string, { name }: AppliedMigration): Promise<void> {
  await alone(url, async (db) => {
    if ((await newest(db))?.name !== name) throw new Error(`${name} is not the newest migration any more`);
    await db.migrate.forceFreeMigrationsLock(migratorConfig);
    await db.migrate.down({ ...migratorConfig, name });
  });
}

async function newest(db: Knex): Promise<AppliedMigration | undefined> {
  if (!(await db.schema.hasTable('knex_migrations'))) return undefined;
  const last = await db('knex_migrations').orderBy('id', 'desc').first<{ name: string } | undefined>('name');
  if (last === undefined) return undefined;
  if (!names().includes(last.name))
    throw new Error(`${last.name} was applied by a newer version of the service: it is undone by that version`);
  return { name: last.name, undoing: sqlOf(`${last.name}.down.sql`) };
}

/** Instances take turns. */
async function alone<T>(url: string, work: (db: Knex) => Promise<T>): Promise<T> {
  const guard = new Client({ ...migrationOptions(url), lock_timeout: 0 });
  // A connection that breaks fails the next query on it; it must not end the process by itself.
  guard.on('error', () => undefined);
  await guard.connect();
  const db = knexFor(migrationOptions(url));
  try {
    // A lock of this transaction: behind a pooler a lock of the session would stay with the pooler's connection.
    await guard.query('BEGIN');
    await guard.query({ text: 'SELECT pg_advisory_xact_lock($1)', values: [LOCK] });
    return await work(db);
  } finally {
    await db.destroy();
    await guard.end();
  }
}

async function latest(db: Knex, announce: (line: string) => void, pausesMs: readonly number[]): Promise<string[]> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      // With the advisory lock held, a lock row of Knex can only be left over from a killed migration.
      await db.migrate.forceFreeMigrationsLock(migratorConfig);
      const applied: unknown = await db.migrate.latest(migratorConfig);
      // The role may be newer than the last migration.
      await grantToService(db);
      return Array.isArray(applied) && Array.isArray(applied[1]) ? applied[1].map(String) : [];
    } catch (error) {
      const pause = pausesMs[attempt];
      if (codeOf(error) !== LOCK_NOT_AVAILABLE || pause === undefined) throw error;
      announce(`Migrating waits for a transaction that holds a lock on a table; it tries again in ${pause / 1_000} s`);
      await sleep(pause);
    }
  }
}

/** Runs a statement and returns its rows. */
export type Ask = (sql: string) => Promise<Record<string, unknown>[]>;

/** Whether every migration that this version of the service knows has been applied. */
export async function isMigrated(ask: Ask): Promise<boolean> {
  // The table is made by the first migration, and each one grants what the service needs.
  if ((await ask(`SELECT WHERE has_table_privilege(to_regclass('knex_migrations'), 'SELECT')`)).length === 0)
    return false;
  const applied = new Set((await ask('SELECT name FROM knex_migrations')).map(({ name }) => name));
  return names().every((name) => applied.has(name));
}

function names(): string[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith('.up.sql'))
    .map((file) => file.replace('.up.sql', ''))
    .sort();
}
