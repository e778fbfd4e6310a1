import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { Caller } from '../base/caller';
import { createLogger } from '../base/logger';
import { buildServices } from '../composition/services';
import type { Config } from '../config/config';
import { migrationsIn } from '../database/migrations';
import { connectionOptions, knexFor } from '../database/pool';
import { masked } from '../features/phones/phone-number';
import { loadKeys } from '../start/keys';
import { unusable } from '../start/remedies';
import { inOneLine } from './as-text';
import { DatabaseAway, Mistake, type Command, type Given, type Parts, type Workplace } from './command';
import { SupportRepository } from './support-repository';
import { AdminTokensRepository } from './tokens-repository';

/** Longest time of a statement: support may ask for more than a request. */
const STATEMENT_MS = 60_000;
const MOST_OF_NAME = 64;

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
      // Without standard output, which would be flushed until the process ends.
      logger: createLogger('silent', { write: () => undefined }),
    });
    try {
      const repositories = { support: new SupportRepository(db), tokens: new AdminTokensRepository(db) };
      return await work({ config, services, ...repositories, ...asOperator(operator) });
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

/** Makes the operator the origin of a command's changes. A command line has no address. */
export function asOperator(
  operator: string,
  from: Omit<Caller, 'userAgent'> = { address: '', ip: '', requestId: randomUUID() },
): Pick<Workplace, 'operator' | 'caller'> {
  const name = inOneLine(operator).slice(0, MOST_OF_NAME);
  return { operator: name, caller: { ...from, userAgent: `operator ${name}` } };
}

/** Tells of a database that is away, not ready or newer, before anything else waits for it. */
async function checkDatabase(db: Knex, databaseUrl: string): Promise<void> {
  const ask = async (sql: string) => (await db.raw<{ rows: Record<string, unknown>[] }>(sql)).rows;
  const { missing, unknown } = await migrationsIn(ask).catch((error: unknown) => {
    throw new DatabaseAway(unusable('DATABASE_URL', databaseUrl, error));
  });
  if (missing.length > 0) throw new Mistake('the database lacks migrations: run npm run migrate');
  if (unknown.length > 0)
    throw new Mistake(
      `the database has migrations that this version does not know (${unknown.at(-1)}): use the command line of the newer version`,
    );
}

/** The command and its words, in one line and without a phone. */
function detailOf({ name, takes }: Command, { words }: Given, operator: string): string {
  const names = takes.match(/\w+/g) ?? [];
  const shown = words.map((word, place) => inOneLine(withoutPhone(word, names[place] === 'nickname')));
  return `${[name, ...shown].join(' ')}, by ${operator}`;
}

/** An id may have many digits. A text that somebody chose may be a phone. */
function withoutPhone(word: string, isText: boolean): string {
  if (word.startsWith('+')) return masked(word);
  return isText ? word.replace(/\d{6,}/g, (digits) => `…${digits.slice(-2)}`) : word;
}
