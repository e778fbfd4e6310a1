import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { createLogger } from '../base/logger';
import { buildServices } from '../composition/services';
import type { Config } from '../config/config';
import { isMigrated } from '../database/migrations';
import { connectionOptions, knexFor } from '../database/pool';
import { masked } from '../features/phones/phone-number';
import { loadKeys } from '../start/keys';
import { unusable } from '../start/remedies';
import { Mistake, type Command, type Given, type Parts } from './command';
import { SupportRepository } from './support-repository';

interface Operator {
  config: Config;
  databaseUrl: string;
  /** Name for the audit trail. */
  name: string;
}

/** Longest time of a statement: support may ask for more than a request. */
const STATEMENT_MS = 60_000;

/** Runs a command by the services that answer requests. Notes a change in the audit trail. */
export async function perform(command: Command, given: Given, operator: Operator): Promise<Parts> {
  const { config, databaseUrl, name } = operator;
  const db = knexFor({ ...connectionOptions(databaseUrl), statement_timeout: STATEMENT_MS });
  try {
    await checkDatabase(db, databaseUrl);
    const services = await buildServices(config, {
      databaseUrl,
      keys: loadKeys(config),
      logger: createLogger('silent'),
    });
    const caller = { address: '', ip: '', userAgent: `operator ${name}`, requestId: randomUUID() };
    try {
      const parts = await command.run({ config, services, support: new SupportRepository(db), caller }, given);
      const isChange = command.changes?.(given.options) === true && given.options.dryRun !== true;
      if (isChange) await services.operators.note(detailOf(command, given, name), caller);
      return parts;
    } finally {
      await services.close();
    }
  } finally {
    await db.destroy();
  }
}

/** Tells of a database that is away, or not ready, before anything else waits for it. */
async function checkDatabase(db: Knex, databaseUrl: string): Promise<void> {
  const ask = async (sql: string) => (await db.raw<{ rows: Record<string, unknown>[] }>(sql)).rows;
  const migrated = await isMigrated(ask).catch((error: unknown) => {
    throw new Mistake(unusable('DATABASE_URL', databaseUrl, error));
  });
  if (!migrated) throw new Mistake('the database lacks migrations: run npm run migrate');
}

/** The command and its words, a phone masked. */
function detailOf({ name }: Command, { words }: Given, operator: string): string {
  return `${[name, ...words.map((word) => (word.startsWith('+') ? masked(word) : word))].join(' ')}, by ${operator}`;
}
