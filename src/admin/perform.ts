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
import { Mistake, type Command, type Given, type Parts, type Workplace } from './command';
import { SupportRepository } from './support-repository';

/** Longest time of a statement: support may ask for more than a request. */
const STATEMENT_MS = 60_000;

/** Runs a command. Notes a change in the audit trail. */
export async function perform(command: Command, given: Given, at: Workplace): Promise<Parts> {
  const parts = await command.run(at, given);
  const isChange = command.changes?.(given.options) === true && given.options.dryRun !== true;
  if (isChange) await at.services.operators.note(detailOf(command, given, at.operator), at.caller);
  return parts;
}

/** Builds the services that answer requests, for a command line, which asks no running instance. */
export async function atWorkplace<T>(
  { config, databaseUrl, operator }: { config: Config; databaseUrl: string; operator: string },
  work: (at: Workplace) => Promise<T>,
): Promise<T> {
  const db = supportPool(databaseUrl);
  try {
    await checkDatabase(db, databaseUrl);
    const services = await buildServices(config, {
      databaseUrl,
      keys: loadKeys(config),
      logger: createLogger('silent'),
    });
    try {
      return await work({ config, services, support: new SupportRepository(db), ...asOperator(operator) });
    } finally {
      await services.close();
    }
  } finally {
    await db.destroy();
  }
}

/** Opens connections for questions of support. */
export function supportPool(databaseUrl: string): Knex {
  return knexFor({ ...connectionOptions(databaseUrl), statement_timeout: STATEMENT_MS });
}

/** Makes the operator the origin of a command's changes. */
export function asOperator(operator: string): Pick<Workplace, 'operator' | 'caller'> {
  const caller = { address: '', ip: '', userAgent: `operator ${operator}`, requestId: randomUUID() };
  return { operator, caller };
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
