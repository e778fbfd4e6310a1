import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { commandLine, IS_PACKAGE } from '../../src/base/command-line';
import { asError } from '../../src/base/errors';
import { readConfig } from '../../src/config/config';

/**
 * npm run setup: writes the .env of a deployment with the compose file: new secrets, and settings from arguments
 * (DOMAIN=…), the environment or answers, checked like the service checks them. Does not change an existing .env.
 * An installed package has no compose file: its .env also has what that would set, and names the operator's database.
 */

type Settings = Record<string, string>;

interface Question {
  name: string;
  question: string;
  form?: RegExp;
  /** Whether these settings make it needless. */
  unless?: (settings: Settings) => boolean;
  /** Makes the value of an answer. */
  from?: (answer: string) => string;
}

const target = join(process.cwd(), '.env');

const QUESTIONS: Question[] = [
  {
    name: 'DOMAIN',
    question: 'The name that clients use, such as accounts.example.com',
    form: /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i,
  },
  {
    name: 'DATABASE_URL',
    question: 'Your database, as postgresql://user:password@host:5432/database',
    unless: hasDatabase,
  },
  {
    name: 'TWILIO_ACCOUNT_SID',
    question: 'The Account SID at Twilio, AC…',
    form: /^AC[0-9a-f]{32}$/,
    unless: isOfOtherSender,
  },
  { name: 'TWILIO_AUTH_TOKEN', question: 'Its auth token', unless: isOfOtherSender },
  {
    name: 'TWILIO_FROM',
    question: 'The number to send from, such as +447400000000, or a messaging service, MG…',
    unless: (settings) => Boolean(settings.TWILIO_MESSAGING_SERVICE_SID) || isOfOtherSender(settings),
  },
  {
    name: 'SEND_CODE_PER_DAY',
    question: 'The new users that you expect on a good day; three messages a day are paid for each at most',
    form: /^\d{1,7}$/,
    // Few users still need room for a bad day.
    from: (users) => String(Math.max(100, 3 * Number(users))),
  },
];
const DEFAULTS: Settings = {
  ...(IS_PACKAGE ? { NODE_ENV: 'production', TRUST_PROXY: '1' } : { COMPOSE_PROFILES: 'database,proxy' }),
  SMS_PROVIDER: 'twilio',
  STORAGE_PROVIDER: 'local',
};
const SECRETS: Record<string, () => string> = {
  SESSION_SECRETS: randomSecret,
  MESSAGING_JWT_KEY: signingKey,
  POSTGRES_PASSWORD: randomSecret,
  DATABASE_PASSWORD: randomSecret,
  DATABASE_MIGRATION_PASSWORD: randomSecret,
};
/** Settings of the compose file that are needed to check others. */
const OF_COMPOSE = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgresql://accounts@postgres:5432/accounts',
  DATABASE_MIGRATION_URL: 'postgresql://accounts@postgres:5432/accounts',
};
/** Settings that the compose file makes up for its own database unless they are set and empty. */
const OWN_DATABASE = {
  POSTGRES_PASSWORD: '',
  DATABASE_PASSWORD: '',
  DATABASE_MIGRATION_URL: '',
  DATABASE_MIGRATION_PASSWORD: '',
};

class Mistake extends Error {}

async function main(words: string[]): Promise<void> {
  if (existsSync(target)) throw new Mistake('there is an .env already, and it stays as it is');
  const settings: Settings = { ...DEFAULTS, ...fromEnvironment(), ...fromArguments(words) };
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  for (const asked of QUESTIONS.filter(({ unless }) => !unless?.(settings)))
    settings[asked.name] ??= await answer(asked, lines);
  useMessagingService(settings);
  if (IS_PACKAGE) settings.PUBLIC_URL ??= `https://${settings.DOMAIN}`;
  const given: Settings = hasDatabase(settings) ? settings : { ...OWN_DATABASE, ...settings };
  const mistakes = [...QUESTIONS.flatMap((asked) => formMistakes(asked, settings)), ...mistakesIn(given)];
  if (mistakes.length > 0) throw new Mistake(mistakes.join('\n'));
  for (const [name, make] of Object.entries(SECRETS)) given[name] ??= make();
  writeFileSync(target, textOf(given), { flag: 'wx', mode: 0o600 });
}

function hasDatabase({ COMPOSE_PROFILES = '' }: Settings): boolean {
  return COMPOSE_PROFILES.split(',').includes('database');
}

function isOfOtherSender({ SMS_PROVIDER }: Settings): boolean {
  return SMS_PROVIDER !== 'twilio';
}

function fromEnvironment(): Settings {
  const found = QUESTIONS.map(({ name }) => [name, process.env[name] ?? ''] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== ''));
}

function fromArguments(words: string[]): Settings {
  const example = readFileSync(join(__dirname, '../..', '.env.example'), 'utf8');
  const known = [...example.matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name);
  const given = words.map((word) => {
    const [, name = '', value = ''] = /^([A-Z0-9_]+)=(.*)$/s.exec(word) ?? [];
    if (!known.includes(name)) throw new Mistake(`${word}: is no NAME=value of .env.example`);
    return [name, value] as const;
  });
  return Object.fromEntries(given);
}

/** Returns the service's mistakes in given settings only: the compose file or this command sets the rest. */
function mistakesIn(given: Settings): string[] {
  // Secret files are on the machine of the service.
  const values = Object.fromEntries(Object.entries(given).filter(([name]) => !name.endsWith('_FILE')));
  return readConfig({ ...OF_COMPOSE, ...values }).mistakes.filter((mistake) => values[mistake.split(':')[0] ?? '']);
}

function formMistakes({ name, question, form, unless }: Question, settings: Settings): string[] {
  const value = settings[name];
  if (unless?.(settings) || (value && (!form || form.test(value)))) return [];
  return [`${name}: must be this: ${question}`];
}

async function answer(asked: Question, lines: AsyncIterator<string, undefined>): Promise<string> {
  const { name, question, from = (value: string) => value } = asked;
  for (;;) {
    process.stdout.write(`${question}: `);
    const { value } = await lines.next();
    if (value === undefined) throw new Mistake(`${name} is missing: answer, or give it as an argument (${name}=…)`);
    const settings: Settings = { [name]: value.trim() };
    useMessagingService(settings);
    const mistakes = [
      ...formMistakes({ ...asked, unless: () => false }, { [name]: value.trim() }),
      ...mistakesIn(settings),
    ];
    if (mistakes.length === 0) return from(value.trim());
    process.stdout.write(`It has to look otherwise. ${mistakes[0]}\n`);
  }
}

function useMessagingService(settings: Settings): void {
  if (!settings.TWILIO_FROM?.startsWith('MG')) return;
  settings.TWILIO_MESSAGING_SERVICE_SID = settings.TWILIO_FROM;
  settings.TWILIO_FROM = '';
}

function randomSecret(): string {
  return randomBytes(32).toString('hex');
}

function signingKey(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })).toString('base64');
}

function textOf(settings: Settings): string {
  const lines = Object.entries({ TWILIO_FROM: '', ...settings }).map(
    ([name, value]) => `${name}=${quoted(name, value)}`,
  );
  return [`# Written by ${commandLine('setup')}. .env.example tells of these and of all others.`, ...lines, ''].join(
    '\n',
  );
}

/** Quotes a value. In single quotes every character is literal, for compose and for the service. */
function quoted(name: string, value: string): string {
  if (/^[\w.,:;/+=@%&?~-]*$/.test(value)) return value;
  if (/['\n\r\\]/.test(value)) throw new Mistake(`${name}: may hold no quote, backslash or line break`);
  return `'${value}'`;
}

main(process.argv.slice(2)).then(
  () => {
    process.stdout.write(
      '\nWrote .env, with fresh secrets. Only you can read it. Without a copy of it sessions are lost.\n',
    );
    process.exit(0);
  },
  (error: unknown) => {
    const why = error instanceof Mistake ? error.message : asError(error, 'unknown error').stack;
    process.stderr.write(`\nNothing was written: ${why}\n`);
    process.exit(1);
  },
);
