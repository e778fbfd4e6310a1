import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import dotenv from 'dotenv';
import type { Knex } from 'knex';
import { migrationSource } from './src/migrations';

dotenv.config({ quiet: true });

/** For the knex command line: DATABASE_URL, or the embedded database of a service that is running. */
function databaseUrl(): string {
  if (process.env.DATABASE_URL) return process.env.DATABASE_URL;
  const path = join(process.env.DATA_DIR || '.data', 'database-url');
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  throw new Error('no database: set DATABASE_URL, or run npm start in another terminal');
}

const config: Knex.Config = {
  client: 'pg',
  connection: databaseUrl(),
  migrations: { migrationSource },
};

export default config;
