import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { Caller } from '../base/caller';
import { commandLine } from '../base/command-line';
import { createLogger } from '../base/logger';
import type { Outside } from '../composition/open-foundation';
import type { Services } from '../composition/services';
import type { Config } from '../config/config';
import { askingBy, migrationsIn } from '../database/migrations';
import { connectionOptions, knexFor } from '../database/pool';
import { masked, withoutPhones } from '../features/phones/phone-number';
import { loadKeys } from '../start/keys';
import { messageOf, unusable } from '../start/remedies';
import { inOneLine } from './as-text';
import { DatabaseAway, OperatorError, wordsOf, type Command, type Input, type Answer, type Context } from './command';
import { readsOf } from './reads';
import { SupportRepository } from './support-repository';
import { AdminTokensRepository } from './tokens-repository';
import { phoneIn } from './who';

/** Longest time of a statement: support may ask for more than a request. */
const STATEMENT_MS = 60_000;
const MOST_OF_NAME = 64;

/** Runs a command. Notes a change in the audit trail, among the events of the user that it is about. */
export async function perform(command: Command, input: Input, context: Context): Promise<Answer> {
  const isChange = command.changes?.(input.options) === true && input.options.dryRun !== true;
  if (!isChange) return command.run(context, input);
  // Before the change: afterwards the account may have another phone, and nothing may keep the note from being written.
  const userId = await idIn(command, input, context);
  const { audit } = await context.services();
  const answer = await command.run(context, input);
  try {
    await audit.noteOperator(detailOf(command, input, context.operator), userId, context.caller);
    return answer;
  } catch (error) {
    // The change stands, and its answer may be told only once.
    return { ...answer, 'not in the audit trail': [messageOf(error)] };
  }
}

interface CommandLine extends Pick<Outside, 'databaseUrl' | 'patience'> {
  /** Address for the owner of the tables. Only the owner may make tokens of the admin API. */
  ownerUrl: string;
  config: Config;
  operator: string;
}

/** Opens the connections of a command line, which asks no running instance. */
export async function withContext<T>(
  { config, databaseUrl, ownerUrl, operator, patience }: CommandLine,
  work: (context: Context) => Promise<T>,
): Promise<T> {
  const db = supportPool(databaseUrl, patience);
  const owner = supportPool(ownerUrl, patience);
  const { limitsUrl } = config.database;
  const limits = limitsUrl === undefined ? db : supportPool(limitsUrl, patience);
  try {
    await checkDatabase(db, databaseUrl);
    let built: Promise<Services> | undefined;
    const services = () => (built ??= build(config, { databaseUrl, patience }));
    try {
      const repositories = { support: new SupportRepository(db, limits), tokens: new AdminTokensRepository(owner) };
      return await work({ config, services, reads: readsOf(config, db), ...repositories, ...asOperator(operator) });
    } finally {
      await (await built)?.parts.close();
    }
  } finally {
    await db.destroy();
    await owner.destroy();
    await limits.destroy();
  }
}

/** Builds the services that answer requests. Most commands only read, and do not load them. */
async function build(config: Config, outside: Pick<Outside, 'databaseUrl' | 'patience'>): Promise<Services> {
  const { buildServices } = await import('../composition/services');
  return buildServices(config, {
    ...outside,
    keys: loadKeys(config),
    // Not to standard output, which would add a listener for the end of the process.
    logger: createLogger('silent', { write: () => undefined }),
  });
}

/** Opens connections for statements of support. */
export function supportPool(databaseUrl: string, patience?: number): Knex {
  return knexFor({ ...connectionOptions(databaseUrl, patience), statement_timeout: STATEMENT_MS });
}

/** Makes the operator the origin of a command's changes. A command line has no address. */
export function asOperator(
  operator: string,
  from: Omit<Caller, 'userAgent'> = { address: '', ip: '', requestId: randomUUID() },
): Pick<Context, 'operator' | 'caller'> {
  const name = inOneLine(operator).slice(0, MOST_OF_NAME);
  return { operator: name, caller: { ...from, userAgent: `operator ${name}` } };
}

/** Tells of a database that is away, not ready or newer, before anything else waits for it. */
async function checkDatabase(db: Knex, databaseUrl: string): Promise<void> {
  const { missing, unknown } = await migrationsIn(askingBy(db)).catch((error: unknown) => {
    throw new DatabaseAway(unusable('DATABASE_URL', databaseUrl, error));
  });
  if (missing.length > 0) throw new OperatorError(`the database lacks migrations: run ${commandLine('migrate')}`);
  if (unknown.length > 0)
    throw new OperatorError(
      `the database has migrations that this version does not know (${unknown.at(-1)}): use the command line of the newer version`,
    );
}

/** Returns the id of the user that a command names. */
async function idIn(command: Command, { words }: Input, { reads }: Context): Promise<string | undefined> {
  const who = words[wordsOf(command).findIndex(({ name }) => name === 'user')];
  return who?.startsWith('+') ? reads.userIdOf(phoneIn(who).number) : who;
}

/** Words that may have many digits without being a phone. */
const IDS = ['user', 'group', 'session'];

/** The command and its words, in one line and without a phone. */
function detailOf(command: Command, { words }: Input, operator: string): string {
  const isId = wordsOf(command).map(({ name }) => IDS.includes(name));
  const safeWords = words.map((word, index) => {
    if (word.startsWith('+')) return masked(word);
    return inOneLine(isId[index] ? word : withoutPhones(word));
  });
  return `${[command.name, ...safeWords].join(' ')}, by ${operator}`;
}
