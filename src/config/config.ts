import type { z } from 'zod';
import { schemaOf, unfitForProduction, type Rows, type Values } from '../base/settings';
import { isPrivateHost } from '../features/profile/portrait-host';
import { limitsOf } from '../load/limits';
import { readSecretFiles } from './secret-files';
import { ADDRESSES, databaseAddress, databaseOf, databaseUrls } from './sections/database';
import { sizesOf } from './sections/groups';
import { imagesAddress, storageOf } from './sections/images';
import { messagingOf } from './sections/messaging';
import { adminOf, isProduction, metricsOf, tracesOf } from './sections/server';
import { sessionsOf } from './sections/sessions';
import { smsOf, wordsOf } from './sections/sms';
import { captchaOf, verificationOf } from './sections/verification';
import { ROWS, SECRETS, SECTIONS, type Environment } from './variables';

/** All mistakes in the environment, one line each, with the variable and the remedy. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly mistakes: string[]) {
    super(mistakes.join('\n'));
  }
}

type Given = Record<string, string | undefined>;

/** Reads settings only from `env` and the files that it names, so that tests can pass any environment. */
export function loadConfig(env: Given): Config {
  const { config, mistakes } = readConfig(env);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}

export type Config = ReturnType<typeof nested>;

/** Returns settings and all mistakes. After a mistake the settings only serve to find more of them. */
export function readConfig(env: Given): { config: Config; mistakes: string[] } {
  const read = checked(ROWS, env);
  const further = isProduction(read.values) ? unfit(read.values) : [];
  const config = nested(read.values, further);
  return { config, mistakes: [...read.mistakes, ...further.filter((mistake) => !isTold(mistake, read.wrong))] };
}

/** Returns whether a mistake follows from a wrong value, as a missing variable or a password without address. */
function isTold(mistake: string, wrong: Set<string>): boolean {
  const name = nameIn(mistake);
  return wrong.has(name) || wrong.has(name.replace(/_PASSWORD$/, '_URL'));
}

/** Returns the address for migrations, without reading other settings. */
export function migrationUrlOf(env: Given): string | undefined {
  const { values, mistakes, wrong } = checked(ADDRESSES, env);
  const further: string[] = [];
  const url = databaseAddress(values, values.DATABASE_MIGRATION_URL ? 'DATABASE_MIGRATION' : 'DATABASE', further);
  mistakes.push(...further.filter((mistake) => !isTold(mistake, wrong)));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return url;
}

interface Checked<T> {
  /** Values, without wrong ones, so that the others can be checked together. */
  values: T;
  mistakes: string[];
  /** Variables with a wrong value, of which no other mistake is reported. */
  wrong: Set<string>;
}

function checked<R extends Rows>(rows: R, given: Given): Checked<Values<R>> {
  const files = readSecretFiles(
    given,
    SECRETS.filter((name) => name in rows),
  );
  const env = Object.fromEntries(Object.entries(files.env).filter(([, value]) => value !== ''));
  // NODE_ENV=prod also reports what production requires.
  const strict = /^prod/i.test(env.NODE_ENV ?? '');
  const schema = schemaOf(rows, strict);
  const issues = schema.safeParse(env).error?.issues ?? [];
  const mistakes = [...new Set([...files.mistakes, ...issues.map(asMistake)])];
  const wrong = new Set(mistakes.map(nameIn));
  const rest = Object.entries(env).filter(([name]) => !wrong.has(name));
  if (strict) rest.push(['NODE_ENV', 'production']);
  return { values: schema.parse(Object.fromEntries(rest)), mistakes, wrong };
}

/** Returns what production has against the settings, each with a remedy. */
function unfit(env: Environment): string[] {
  const mistakes = SECTIONS.flatMap(({ rows, unfit: others }) => [
    ...unfitForProduction(rows, env),
    ...(others?.(env as never) ?? []),
  ]);
  return [...new Set(mistakes)];
}

function asMistake(issue: z.core.$ZodIssue): string {
  return `${String(issue.path[0])}: ${issue.message}`;
}

/** Returns the variable of a mistake. The file of a secret counts as the secret. */
function nameIn(mistake: string): string {
  const [name = ''] = mistake.split(':');
  return SECRETS.find((secret) => name === `${secret}_FILE`) ?? name;
}

/** Returns whether the address is in a private network: a deployment there has its own images there. */
function isOnPrivateHost(address: string | undefined): boolean {
  return address !== undefined && isPrivateHost(new URL(address).hostname);
}

/** Groups the settings by concern. The result contains secrets, so no part of it is ever logged. */
function nested(env: Environment, mistakes: string[]) {
  const strict = isProduction(env);
  return {
    production: strict,
    http: {
      host: env.HOST,
      port: env.PORT,
      publicUrl: env.PUBLIC_URL,
      trustProxy: env.TRUST_PROXY ?? false,
      corsOrigins: env.CORS_ORIGINS,
      docsPage: env.DOCS_PAGE === 'on',
      leaveSeconds: env.LEAVE_SECONDS,
    },
    /** Undefined: no metrics. Port 0: a free one. */
    metrics: metricsOf(env, mistakes),
    /** Undefined: no admin API. Port 0: a free one. */
    admin: env.IMAGES === 'only' ? undefined : adminOf(env, mistakes),
    /** Undefined: no traces. */
    traces: tracesOf(env),
    database: databaseOf(env),
    dataDir: env.DATA_DIR,
    auditDays: env.AUDIT_DAYS,
    eventDays: env.EVENT_DAYS,
    logLevel: env.LOG_LEVEL,
    sessions: sessionsOf(env, mistakes),
    /** 0: numbers are not handed on. */
    recycleDays: env.RECYCLE_DAYS,
    passwords: { bcryptCost: env.BCRYPT_COST },
    tokenLogins: { passwordRequired: env.PASSWORDS === 'required' },
    sms: smsOf(env, strict, mistakes),
    words: wordsOf(env),
    notices: {
      notify: env.NOTIFY,
      allowedRegions: env.ALLOWED_REGIONS,
    },
    messaging: messagingOf(env, env.PUBLIC_URL, mistakes),
    storage: storageOf(env, mistakes),
    captcha: captchaOf(env, mistakes),
    verification: verificationOf(env),
    portraits: {
      hosts: env.PORTRAIT_HOSTS,
      publicOnly: strict && !isOnPrivateHost(env.PUBLIC_URL) && !isOnPrivateHost(imagesAddress(env)),
    },
    webhookNetworks: env.WEBHOOK_NETWORKS,
    ...sizesOf(env),
    limits: limitsOf(env, strict),
    secrets: {
      ...databaseUrls(env, mistakes),
      session: env.SESSION_SECRETS,
      messagingJwtKey: env.MESSAGING_JWT_KEY,
      inboxToken: env.INBOX_TOKEN,
      testNumbers: env.TEST_NUMBERS,
    },
  };
}
