import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import dotenv from 'dotenv';
import type { Knex } from 'knex';
import { commandLine } from './src/base/command-line';
import { migrationUrlOf } from './src/config/config';
import { migrationOptions, migratorConfig } from './src/database/migrations';

dotenv.config({ quiet: true });

/** Returns the address for the owner of the tables: as configured, or of the embedded database of a running service. */
export function databaseUrl(): string {
  const given = migrationUrlOf(process.env);
  if (given !== undefined) return given;
  const path = join(process.env.DATA_DIR || '.data', 'database-url');
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  throw new Error(`there is no database: set DATABASE_URL, or run ${commandLine('start')} in another terminal`);
}

/** Configuration for the command line of Knex. */
const config: Knex.Config = {
  client: 'pg',
  connection: () => ({ ...migrationOptions(databaseUrl()) }) as Knex.PgConnectionConfig,
  migrations: migratorConfig,
};

export default config;
