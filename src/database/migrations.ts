import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { Client, type ClientConfig } from 'pg';
import { codeOf } from '../base/errors';
import { connectionOptions, HAS_CITUS, knexFor } from './pool';
import { grantToService } from './service-role';

const DIRECTORY = join(__dirname, '..', '..', 'migrations');
/** Folder with the SQL for a database with several servers. */
const DISTRIBUTED = 'distributed';
/** Key of the advisory lock: any fixed number. Instances that start together take turns at migrating. */
const LOCK = 5_718_203_664;

/**
 * Migrations are pairs of SQL files, NNNN_name.up.sql and NNNN_name.down.sql. Knex records NNNN_name only.
 */
export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => names(),
  getMigrationName: (name) => name,
  getMigration: async (name) => ({
    up: async (trx) => {
      await runFile(trx, `${name}.up.sql`);
      // In the same transaction, so that no instance sees a table that it may not use.
      await grantToService(trx);
    },
    down: (trx) => runFile(trx, `${name}.down.sql`),
  }),
};

async function runFile(trx: Knex, file: string): Promise<void> {
  // Knex reads a question mark as a place holder.
  for (const one of commandsIn(sqlOf(file))) await trx.raw(one.replaceAll('?', '\\?'));
}

/**
 * Returns the commands of a file one by one: Citus refuses several together. Each ends with a line, and bodies are
 * between $$.
 */
function commandsIn(sql: string): string[] {
  const commands = [''];
  let isInBody = false;
  for (const line of sql.trimEnd().split('\n')) {
    commands.push(`${commands.pop() ?? ''}${line}\n`);
    if (line.split('$$').length % 2 === 0) isInBody = !isInBody;
    if (!isInBody && line.endsWith(';')) commands.push('');
  }
  return commands.filter((command) => command.trim() !== '');
}

function sqlOf(file: string): string {
  return readFileSync(join(DIRECTORY, file), 'utf8');
}

/** Configuration, also for `migrate:latest` of Knex's command line. */
export const migratorConfig: Knex.MigratorConfig = {
  migrationSource,
  // Allows migrations of a newer version: an older instance may restart during an upgrade or after a rollback.
  disableMigrationsListValidation: true,
};

/**
 * Returns options without a time limit for statements, such as building an index. While a migration waits for a table
 * lock, all later statements wait for the migration: it gives up soon, and retries after a pause.
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
/** Pauses between retries: about five minutes in total. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000, ...Array.from({ length: 40 }, () => 5_000)];

interface Migrating {
  announce?: (line: string) => void;
  pausesMs?: readonly number[];
}

/** Applies all missing migrations, and returns their names. */
export async function migrate(url: string, { announce = () => undefined, pausesMs = PAUSES_MS }: Migrating = {}) {
  return alone(url, (db) => latest(db, announce, pausesMs));
}

export interface AppliedMigration {
  name: string;
  /** SQL that undoes it. */
  undoing: string;
}

/** Returns the newest applied migration; undefined if there is none. */
export async function newestMigration(url: string): Promise<AppliedMigration | undefined> {
  return alone(url, newest);
}

/** Undoes one migration, unless another was applied after it. */
export async function undoMigration(url: string, { name }: AppliedMigration): Promise<void> {
  await alone(url, async (db) => {
    if ((await newest(db))?.name !== name) throw new Error(`${name} is no longer the newest migration`);
    await db.migrate.forceFreeMigrationsLock(migratorConfig);
    await db.migrate.down({ ...migratorConfig, name });
  });
}

async function newest(db: Knex): Promise<AppliedMigration | undefined> {
  if (!(await db.schema.hasTable('knex_migrations'))) return undefined;
  const last = await db('knex_migrations').orderBy('id', 'desc').first<{ name: string } | undefined>('name');
  if (last === undefined) return undefined;
  if (!names().includes(last.name))
    throw new Error(`${last.name} was applied by a newer version of the service: undo it with that version`);
  return { name: last.name, undoing: sqlOf(`${last.name}.down.sql`) };
}

/** Runs `work` under a lock, so that instances take turns. */
async function alone<T>(url: string, work: (db: Knex) => Promise<T>): Promise<T> {
  const guard = new Client({ ...migrationOptions(url), lock_timeout: 0 });
  // Without a listener, a broken connection would end the process. Its next query fails.
  guard.on('error', () => undefined);
  await guard.connect();
  const db = knexFor(migrationOptions(url));
  try {
    // A transaction lock: a session lock would stay with the connection of a pooler.
    await guard.query('BEGIN');
    await guard.query({ text: 'SELECT pg_advisory_xact_lock($1)', values: [LOCK] });
    return await work(db);
  } finally {
    await db.destroy();
    await guard.end();
  }
}

/** Returns whether nothing is left to spread: on a PostgreSQL without Citus, or once the newest function is there too. */
async function isSpread(trx: Knex): Promise<boolean> {
  if (!(await hasCitus(trx))) return true;
  const { rows } = await trx.raw<{ rows: unknown[] }>(
    `SELECT FROM pg_dist_partition
      WHERE logicalrelid = to_regclass('user_groups') AND to_regprocedure('first_ungathered_event()') IS NOT NULL`,
  );
  return rows.length > 0;
}

async function hasCitus(trx: Knex): Promise<boolean> {
  return (await trx.raw<{ rows: unknown[] }>(HAS_CITUS)).rows.length > 0;
}

/** Spreads users and groups over the servers of a Citus. Each file may be run again, and is after each migration. */
async function distribute(trx: Knex): Promise<void> {
  if (!(await hasCitus(trx))) return;
  // Its triggers keep to the server of their row, which makes them safe, and change several tables of one transaction.
  await trx.raw(`SET LOCAL citus.enable_unsafe_triggers = on; SET LOCAL citus.multi_shard_modify_mode = sequential`);
  for (const file of readdirSync(join(DIRECTORY, DISTRIBUTED)).sort()) await runFile(trx, join(DISTRIBUTED, file));
}

async function latest(db: Knex, announce: (line: string) => void, pausesMs: readonly number[]): Promise<string[]> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      // While the advisory lock is held, a lock row of Knex can only be left over from a killed migration.
      await db.migrate.forceFreeMigrationsLock(migratorConfig);
      const applied: unknown = await db.migrate.latest(migratorConfig);
      const names = Array.isArray(applied) && Array.isArray(applied[1]) ? applied[1].map(String) : [];
      await db.transaction(async (trx) => {
        if (names.length > 0 || !(await isSpread(trx))) await distribute(trx);
        // The role may have been created after the last migration.
        await grantToService(trx);
      });
      return names;
    } catch (error) {
      const pause = pausesMs[attempt];
      if (codeOf(error) !== LOCK_NOT_AVAILABLE || pause === undefined) throw error;
      announce(`Migration waits for a transaction that holds a lock on a table: retrying in ${pause / 1_000} s`);
      await sleep(pause);
    }
  }
}

/** Runs a statement, and returns its rows. */
export type Ask = (sql: string) => Promise<Record<string, unknown>[]>;

export function askingBy(db: Knex): Ask {
  return async (sql) => (await db.raw<{ rows: Record<string, unknown>[] }>(sql)).rows;
}

/** Returns whether every migration that this version knows has been applied. */
export async function isMigrated(ask: Ask): Promise<boolean> {
  return (await migrationsIn(ask)).missing.length === 0;
}

/** Returns the migrations that a database lacks, and those of a newer version. */
export async function migrationsIn(ask: Ask): Promise<{ missing: string[]; unknown: string[] }> {
  const known = names();
  // The first migration makes the table, and each one grants what the service needs.
  if ((await ask(`SELECT WHERE has_table_privilege(to_regclass('knex_migrations'), 'SELECT')`)).length === 0)
    return { missing: known, unknown: [] };
  const applied = (await ask('SELECT name FROM knex_migrations ORDER BY id')).map(({ name }) => String(name));
  return {
    missing: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}

/** Returns the migrations that the database at this address lacks. */
export async function missingAt(url: string): Promise<string[]> {
  const db = knexFor(connectionOptions(url));
  try {
    return (await migrationsIn(askingBy(db))).missing;
  } finally {
    await db.destroy();
  }
}

function names(): string[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith('.up.sql'))
    .map((file) => file.replace('.up.sql', ''))
    .sort();
}
