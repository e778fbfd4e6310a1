import type { z } from 'zod';
import { withPassword } from '../database/database-url';
import { isPrivateHost } from '../features/profile/portrait-host';
import type { WordsSettings } from '../features/sending/words-files';
import { limitsOf } from '../load/limits';
import { unfitForProduction } from './production';
import { captchaOf, imagesAddress, messagingOf, needing, storageOf } from './providers';
import { smsOf } from './senders';
import { readSecretFiles } from './secret-files';
import {
  MIB,
  databaseVariables,
  environment,
  isProduction,
  SECRETS,
  type DatabaseVariables,
  type Environment,
} from './variables';

/** All mistakes in the environment, one line each, with the variable and the remedy. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly mistakes: string[]) {
    super(mistakes.join('\n'));
  }
}

const SESSION_DAYS = 30;

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
  const read = checked(environment, env);
  const further = isProduction(read.values) ? unfitForProduction(read.values) : [];
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
  const { values, mistakes, wrong } = checked(databaseVariables, env);
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

function checked<T>(schema: z.ZodType<T> & { shape: object }, given: Given): Checked<T> {
  const files = readSecretFiles(
    given,
    SECRETS.filter((name) => name in schema.shape),
  );
  const env = Object.fromEntries(Object.entries(files.env).filter(([, value]) => value !== ''));
  const issues = schema.safeParse(env).error?.issues ?? [];
  const mistakes = [...new Set([...files.mistakes, ...issues.map(asMistake)])];
  const wrong = new Set(mistakes.map(nameIn));
  const rest = Object.entries(env).filter(([name]) => !wrong.has(name));
  // NODE_ENV=prod also reports what production requires.
  if (wrong.has('NODE_ENV') && /^prod/i.test(given.NODE_ENV ?? '')) rest.push(['NODE_ENV', 'production']);
  return { values: schema.parse(Object.fromEntries(rest)), mistakes, wrong };
}

function asMistake(issue: z.core.$ZodIssue): string {
  return `${String(issue.path[0])}: ${issue.message}`;
}

/** Returns the variable of a mistake. The file of a secret counts as the secret. */
function nameIn(mistake: string): string {
  const [name = ''] = mistake.split(':');
  return SECRETS.find((secret) => name === `${secret}_FILE`) ?? name;
}

/** Returns both addresses. Migrations run as the owner of the tables: without their own address, the service is. */
function databaseUrls(env: DatabaseVariables, mistakes: string[]) {
  const databaseUrl = databaseAddress(env, 'DATABASE', mistakes);
  const migrationUrl = databaseAddress(env, 'DATABASE_MIGRATION', mistakes);
  if (migrationUrl && !databaseUrl)
    mistakes.push('DATABASE_URL: set it, since DATABASE_MIGRATION_URL is only for migrations');
  return { databaseUrl, migrationUrl: migrationUrl ?? databaseUrl };
}

function databaseAddress(env: DatabaseVariables, name: 'DATABASE' | 'DATABASE_MIGRATION', mistakes: string[]) {
  const { [`${name}_URL` as const]: url, [`${name}_PASSWORD` as const]: password } = env;
  if (password === undefined) return url;
  const whole = url && withPassword(url, password);
  if (!whole)
    mistakes.push(`${name}_PASSWORD: needs a ${name}_URL without a password: postgresql://user@host:5432/database`);
  return whole;
}

/** Returns the standby and the database of limits. Their roles have the passwords of the primary's, unless given. */
function otherDatabases({
  DATABASE_REPLICA_URL: replica,
  DATABASE_LIMITS_URL: limits,
  DATABASE_PASSWORD: password,
  REPLICA_LAG_MAX: mebibytes,
}: Environment) {
  const whole = (url: string) => (password !== undefined && withPassword(url, password)) || url;
  return {
    replica: replica === undefined ? undefined : { url: whole(replica), mostBehind: mebibytes * MIB },
    limitsUrl: limits === undefined ? undefined : whole(limits),
  };
}

function sessionsOf({ SESSION_DAYS: given, SESSION_MAX_DAYS: maxDays }: Environment, mistakes: string[]) {
  if (given !== undefined && given > maxDays)
    mistakes.push(`SESSION_DAYS: must be at most SESSION_MAX_DAYS, which is ${maxDays}: lower it, or raise the other`);
  return { days: given ?? Math.min(SESSION_DAYS, maxDays), maxDays };
}

function metricsOf(env: Environment, strict: boolean, mistakes: string[]) {
  const { METRICS_HOST: host, METRICS_PORT: given } = env;
  const port = given ?? (strict ? undefined : 0);
  mistakes.push(...sharedPorts(env, 'METRICS_PORT', ['PORT']));
  return port === undefined ? undefined : { host, port };
}

/** Returns where the admin API listens. */
function adminOf(env: Environment, mistakes: string[]) {
  const { ADMIN_HOST: host, ADMIN_PORT: port } = env;
  if (port === undefined || env.IMAGES === 'only') return undefined;
  mistakes.push(...sharedPorts(env, 'ADMIN_PORT', ['PORT', 'METRICS_PORT']));
  return { host, port };
}

/** Refuses one port for two audiences. 0 is a free one. */
function sharedPorts(env: Environment, name: 'METRICS_PORT' | 'ADMIN_PORT', others: ('PORT' | 'METRICS_PORT')[]) {
  return others
    .filter((other) => env[name] !== undefined && env[name] !== 0 && env[name] === env[other])
    .map((other) => `${name}: must not be ${other}, which has other readers: choose another port`);
}

function tracesOf(env: Environment) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = env;
  const url = own ?? (base && `${base}/v1/traces`);
  const headers = env.OTEL_EXPORTER_OTLP_HEADERS ?? {};
  return url ? { url, headers, serviceName: env.OTEL_SERVICE_NAME, share: env.OTEL_TRACES_SAMPLER_ARG } : undefined;
}

/** Returns whether the address is in a private network: a deployment there has its own images there. */
function isOnPrivateHost(address: string | undefined): boolean {
  return address !== undefined && isPrivateHost(new URL(address).hostname);
}

function checkImages({ IMAGES, STORAGE_PROVIDER }: Environment, mistakes: string[]): void {
  if (IMAGES !== 'here' && STORAGE_PROVIDER === 'qiniu')
    mistakes.push('IMAGES: unset it with STORAGE_PROVIDER=qiniu, where Qiniu stores the images');
}

function wordsOf(env: Environment): WordsSettings {
  return {
    directory: env.WORDS_DIR,
    defaultLanguage: env.DEFAULT_LANGUAGE,
    replaced: {
      code: env.SMS_TEXT,
      password_reset: env.NOTIFY_TEXT_PASSWORD_RESET,
      password_changed: env.NOTIFY_TEXT_PASSWORD_CHANGED,
      new_device: env.NOTIFY_TEXT_NEW_DEVICE,
      locked_out: env.NOTIFY_TEXT_LOCKED_OUT,
      phone_changed: env.NOTIFY_TEXT_PHONE_CHANGED,
      number_claimed: env.NOTIFY_TEXT_NUMBER_CLAIMED,
      account_closed: env.NOTIFY_TEXT_ACCOUNT_CLOSED,
    },
    codeTtlSeconds: env.CODE_TTL_SECONDS,
    androidHash: env.SMS_ANDROID_HASH,
    ownOrigin: env.PUBLIC_URL && new URL(env.PUBLIC_URL).origin,
    origins: env.CORS_ORIGINS,
  };
}

/** Groups the settings by concern. The result contains secrets, so no part of it is ever logged. */
function nested(env: Environment, mistakes: string[]) {
  const need = needing(env, mistakes);
  const strict = isProduction(env);
  checkImages(env, mistakes);
  const inProduction = (value: number | undefined, amount: number) => value ?? (strict ? amount : 0);
  return {
    production: strict,
    http: {
      host: env.HOST,
      port: env.PORT,
      publicUrl: env.PUBLIC_URL,
      trustProxy: env.TRUST_PROXY ?? false,
      corsOrigins: env.CORS_ORIGINS,
      docsPage: env.DOCS_PAGE === 'on',
      leaveSeconds: inProduction(env.LEAVE_SECONDS, 3),
    },
    /** Undefined: no metrics. Port 0: a free one. */
    metrics: metricsOf(env, strict, mistakes),
    /** Undefined: no admin API. Port 0: a free one. */
    admin: adminOf(env, mistakes),
    /** Undefined: no traces. */
    traces: tracesOf(env),
    database: {
      poolMax: env.DATABASE_POOL_MAX,
      prepare: env.DATABASE_PREPARE === 'on',
      clocksApartMs: env.CLOCK_SKEW_MAX_MS,
      /** Undefined: no standby is read. */
      ...otherDatabases(env),
      autoMigrate: env.AUTO_MIGRATE === 'on',
      waitSeconds: inProduction(env.DATABASE_WAIT_SECONDS, 60),
    },
    dataDir: env.DATA_DIR,
    auditDays: env.AUDIT_DAYS,
    eventDays: env.EVENT_DAYS,
    logLevel: env.LOG_LEVEL,
    sessions: sessionsOf(env, mistakes),
    /** 0: numbers are not handed on. */
    recycleDays: env.RECYCLE_DAYS,
    passwords: { bcryptCost: env.BCRYPT_COST },
    tokenLogins: { passwordRequired: (env.PASSWORDS ?? (strict ? 'required' : 'optional')) === 'required' },
    sms: smsOf(env, need, mistakes),
    words: wordsOf(env),
    notices: {
      notify: env.NOTIFY,
      allowedRegions: env.ALLOWED_REGIONS,
    },
    messaging: messagingOf(env, need, mistakes),
    storage: storageOf(env, need),
    captcha: captchaOf(env, need),
    verification: {
      phoneCheck: env.PHONE_CHECK ?? (strict ? 'mobile' : 'possible'),
      allowedRegions: env.ALLOWED_REGIONS,
      captchaPolicy: env.CAPTCHA_POLICY,
      spendGuard: env.SPEND_GUARD ?? (strict ? 'enforce' : 'record'),
      codeTtlSeconds: env.CODE_TTL_SECONDS,
      codeMaxAttempts: env.CODE_MAX_ATTEMPTS,
      tokenTtlSeconds: env.VERIFICATION_TOKEN_TTL_SECONDS,
    },
    portraits: {
      hosts: env.PORTRAIT_HOSTS,
      publicOnly: strict && !isOnPrivateHost(env.PUBLIC_URL) && !isOnPrivateHost(imagesAddress(env)),
    },
    webhookNetworks: env.WEBHOOK_NETWORKS,
    maxBlacklist: env.MAX_BLACKLIST,
    mostFriendships: {
      friends: inProduction(env.FRIENDS_PER_USER, 5_000),
      requests: inProduction(env.OPEN_REQUESTS_PER_USER, 1_000),
    },
    groups: {
      addFriendsOnly: env.GROUP_ADD === 'friends',
      joinable: env.GROUP_JOIN === 'open',
      maxMembers: env.GROUP_MAX_MEMBERS,
      /** 0: no limit. */
      maxPerUser: env.GROUPS_PER_USER,
      maxJoined: env.GROUPS_JOINED_PER_USER,
    },
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
