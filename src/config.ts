import { isIP } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { mistakeInAddress, withPassword } from './database/database-url';
import { isCountry, isPhoneCallingCode } from './features/phones/phone-number';
import { isPrivateHost } from './features/profile/portrait-host';
import type { CaptchaSettings } from './integrations/captcha/choose-captchas';
import type { MessagingSettings } from './integrations/messaging/choose-messaging-provider';
import { isSigningKey } from './integrations/messaging/signing-key';
import type { SmsSettings } from './integrations/sms/choose-sms-sender';
import type { StorageSettings } from './integrations/storage/choose-image-storage';
import { LIMIT_VARIABLES, limitsOf, type LimitVariable } from './load/limits';
import { readSecretFiles } from './secret-files';

/** All mistakes in the environment, one line each, with the variable and the remedy. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly mistakes: string[]) {
    super(mistakes.join('\n'));
  }
}

const DEFAULT_SMS_TEXT = '{code} is your verification code. It is valid for {minutes} minutes. Do not share it.';

/** Each fits in one message: 160 characters of GSM-7. */
const DEFAULT_NOTICES = {
  passwordReset:
    'The password of your account was reset with a code sent to this phone. If this was not you, reset it again now.',
  passwordChanged:
    'The password of your account was changed. If this was not you, reset it now by a code to this phone.',
  newDevice: 'Your account was logged in to from a new device or place. If this was not you, change your password now.',
  lockedOut:
    'Too many wrong passwords were tried for your account. Logging in is closed for up to a day, or until you reset the password.',
  phoneChanged:
    'Your account was given another phone number, and is no longer reached by this one. If this was not you, ask for help now.',
  accountClosed: 'Your account was closed. If this was not you, ask for help now.',
};

/** Different ones in a secret: what openssl makes has more, a letter that is held down has one. */
const LEAST_CHARACTERS = 10;
const GUESSED_FIRST = /change.?me|pass.?word|secret|example|openssl|qwerty|123456|abcdef/i;
/** A number in E.164, a short code, or an alphanumeric sender, which has a letter. */
const TWILIO_SENDER = /^(\+[1-9]\d{6,14}|\d{3,8}|(?=.*[A-Za-z])[\w &+-]{1,11})$/;
const SESSION_DAYS = 30;
/** Nobody has more in front. */
const MOST_PROXIES = 10;
const MIB = 1_024 * 1_024;

const production = (env: Environment) => env.NODE_ENV === 'production';

const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`);
const seconds = whole(1, 86_400 * 365);
const limit = whole(0, 1_000_000_000);
const text = z.string().min(1);
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).transform(withoutSlash);
const databaseUrl = z
  .url({
    protocol: /^postgres(ql)?$/,
    error: 'must look like postgresql://user:password@host:5432/database',
    abort: true,
  })
  .superRefine((url, context) => {
    const mistake = mistakeInAddress(url);
    if (mistake) context.addIssue(mistake);
  });
/** With a port or without. */
const hostName = z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d{1,5})?$/i);
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);
const hosts = list.pipe(z.array(z.string().transform(host)));
const oneOf = <const T extends [string, ...string[]]>(...values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });

const limitVariables = Object.fromEntries(
  [...LIMIT_VARIABLES.keys()].map((name) => [name, limit.optional()]),
) as Record<LimitVariable, ReturnType<typeof limit.optional>>;

/** One entry per variable, under the variable's name. An empty value counts as unset. */
const environment = z.object({
  NODE_ENV: oneOf('development', 'test', 'production').default('development'),
  HOST: text.default('127.0.0.1'),
  PORT: whole(0, 65_535).default(8585),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_PASSWORD: text.optional(),
  DATABASE_MIGRATION_URL: databaseUrl.optional(),
  DATABASE_MIGRATION_PASSWORD: text.optional(),
  DATABASE_POOL_MAX: whole(1, 1_000).default(10),
  DATABASE_PREPARE: oneOf('on', 'off').default('on'),
  DATABASE_WAIT_SECONDS: whole(0, 3_600).optional(),
  AUTO_MIGRATE: oneOf('on', 'off').default('on'),
  DATA_DIR: text.default('.data'),
  AUDIT_DAYS: whole(1, 3_650).default(180),
  LEAVE_SECONDS: whole(0, 600).optional(),
  LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent').default('info'),
  PUBLIC_URL: httpUrl.optional(),
  TRUST_PROXY: z.string().transform(trustProxy).optional(),
  CORS_ORIGINS: list.pipe(z.array(z.string().transform(origin))).default([]),
  DOCS_PAGE: oneOf('on', 'off').default('on'),
  INBOX_TOKEN: z
    .string()
    .regex(/^[\w-]{16,}$/, 'must be 16 or more letters, digits, - and _: openssl rand -hex 16 makes one')
    .optional(),

  SESSION_SECRETS: list
    .pipe(
      z
        .array(z.string().min(32, 'each secret needs at least 32 characters: openssl rand -hex 32 makes one'))
        .min(1, 'must hold a secret: openssl rand -hex 32 makes one'),
    )
    .optional(),
  SESSION_DAYS: whole(1, 400).optional(),
  SESSION_MAX_DAYS: whole(1, 3_650).default(90),
  BCRYPT_COST: whole(4, 15).default(10),

  SMS_PROVIDER: oneOf('console', 'file', 'twilio').optional(),
  SMS_FILE: text.optional(),
  SMS_TEXT: z.string().includes('{code}', { error: 'must contain {code}' }).default(DEFAULT_SMS_TEXT),
  NOTIFY: oneOf('off', 'sms').default('off'),
  NOTIFY_TEXT_PASSWORD_RESET: text.default(DEFAULT_NOTICES.passwordReset),
  NOTIFY_TEXT_PASSWORD_CHANGED: text.default(DEFAULT_NOTICES.passwordChanged),
  NOTIFY_TEXT_NEW_DEVICE: text.default(DEFAULT_NOTICES.newDevice),
  NOTIFY_TEXT_LOCKED_OUT: text.default(DEFAULT_NOTICES.lockedOut),
  NOTIFY_TEXT_PHONE_CHANGED: text.default(DEFAULT_NOTICES.phoneChanged),
  NOTIFY_TEXT_ACCOUNT_CLOSED: text.default(DEFAULT_NOTICES.accountClosed),
  TWILIO_ACCOUNT_SID: z.string().startsWith('AC', 'must be the Account SID, which begins with AC').optional(),
  TWILIO_AUTH_TOKEN: z
    .string()
    .regex(/^[A-Za-z0-9]{32,}$/, "must be the account's auth token, which has 32 letters and digits")
    .optional(),
  TWILIO_FROM: z
    .string()
    .regex(
      TWILIO_SENDER,
      'must be a number with + and its country code, a short code, or a name of up to 11 characters',
    )
    .optional(),
  TWILIO_MESSAGING_SERVICE_SID: z.string().startsWith('MG', 'must begin with MG').optional(),
  TWILIO_API_URL: httpUrl.optional(),

  MESSAGING_PROVIDER: oneOf('jwt', 'rongcloud').default('jwt'),
  MESSAGING_JWT_KEY: z
    .string()
    .refine(isSigningKey, 'must be an Ed25519 private key: openssl genpkey -algorithm ed25519 | base64 -w0 makes one')
    .optional(),
  MESSAGING_JWT_OLD_KEY: z
    .string()
    .refine(isSigningKey, 'must be an Ed25519 private key: the value that MESSAGING_JWT_KEY had before')
    .optional(),
  MESSAGING_JWT_AUDIENCE: text.optional(),
  MESSAGING_TOKEN_TTL_SECONDS: seconds.default(3_600),
  RONGCLOUD_APP_KEY: text.optional(),
  RONGCLOUD_APP_SECRET: text.optional(),
  RONGCLOUD_API_URL: httpUrl.default('https://api.rong-api.com'),

  STORAGE_PROVIDER: oneOf('local', 'qiniu').optional(),
  UPLOAD_MAX_BYTES: whole(1, 1_073_741_824).default(5 * MIB),
  UPLOAD_BYTES_PER_USER: whole(0, 1_000_000 * MIB).optional(),
  UPLOAD_MIN_FREE_BYTES: whole(0, 1_000_000 * MIB).optional(),
  QINIU_ACCESS_KEY: text.optional(),
  QINIU_SECRET_KEY: text.optional(),
  QINIU_BUCKET: text.optional(),
  QINIU_DOMAIN: z.union([hostName, httpUrl], 'must be a host name, or an http or https address').optional(),
  QINIU_UPLOAD_URL: httpUrl.default('https://upload.qiniup.com'),
  PORTRAIT_HOSTS: hosts.default([]),

  PHONE_CHECK: oneOf('mobile', 'possible').optional(),
  ALLOWED_REGIONS: list.pipe(z.array(z.string().refine(isRegion, { error: mistakeInRegion }))).default([]),
  CAPTCHA_POLICY: oneOf('adaptive', 'always', 'off').default('adaptive'),
  CAPTCHA_PROVIDER: oneOf('drawn', 'turnstile').default('drawn'),
  CAPTCHA_SITE_KEY: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the site key as the provider shows it: letters, digits, - and _')
    .optional(),
  CAPTCHA_SECRET_KEY: text.optional(),
  CAPTCHA_VERIFY_URL: httpUrl.default('https://challenges.cloudflare.com/turnstile/v0/siteverify'),
  CAPTCHA_SCRIPT_URL: httpUrl.default('https://challenges.cloudflare.com/turnstile/v0/api.js'),
  SPEND_GUARD: oneOf('off', 'record', 'enforce').optional(),
  CODE_TTL_SECONDS: seconds.default(300),
  CODE_RESEND_SECONDS: seconds.default(60),
  CODE_MAX_ATTEMPTS: whole(1, 1_000).default(5),
  VERIFICATION_TOKEN_TTL_SECONDS: seconds.default(1_800),

  MAX_BLACKLIST: limit.default(2_000),
  FRIENDS_PER_USER: limit.optional(),
  OPEN_REQUESTS_PER_USER: limit.optional(),
  GROUP_ADD: oneOf('friends', 'anyone').default('friends'),
  GROUP_JOIN: oneOf('open', 'closed').default('open'),
  GROUP_MAX_MEMBERS: whole(1, 1_000_000).default(500),
  GROUPS_PER_USER: limit.default(500),
  GROUPS_JOINED_PER_USER: limit.default(2_000),
  ...limitVariables,
});

export const VARIABLES = Object.keys(environment.shape);

/** Each may be given as NAME_FILE, too: the path of a file that holds it. */
export const SECRETS = [
  ...(['DATABASE_URL', 'DATABASE_PASSWORD', 'DATABASE_MIGRATION_URL', 'DATABASE_MIGRATION_PASSWORD'] as const),
  ...(['SESSION_SECRETS', 'TWILIO_AUTH_TOKEN', 'MESSAGING_JWT_KEY', 'MESSAGING_JWT_OLD_KEY'] as const),
  ...(['RONGCLOUD_APP_SECRET', 'QINIU_SECRET_KEY', 'CAPTCHA_SECRET_KEY'] as const),
];

const databaseVariables = environment.pick({
  ...{ DATABASE_URL: true, DATABASE_PASSWORD: true },
  ...{ DATABASE_MIGRATION_URL: true, DATABASE_MIGRATION_PASSWORD: true },
});

type Environment = z.infer<typeof environment>;
type DatabaseVariables = z.infer<typeof databaseVariables>;
type Given = Record<string, string | undefined>;

/** Reads settings from `env` and the files that it names only, so that a test can pass any environment. */
export function loadConfig(env: Given): Config {
  const { config, mistakes } = readConfig(env);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}

export type Config = ReturnType<typeof nested>;

/** With all mistakes at once. Where there are any, the settings are good for finding more, and for nothing else. */
export function readConfig(env: Given): { config: Config; mistakes: string[] } {
  const read = checked(environment, env);
  const further = production(read.values) ? unfitForProduction(read.values) : [];
  const config = nested(read.values, further);
  return { config, mistakes: [...read.mistakes, ...further.filter((mistake) => !isTold(mistake, read.wrong))] };
}

/** That a variable is missing is not news where its value was wrong, nor that a password has no address. */
function isTold(mistake: string, wrong: Set<string>): boolean {
  const name = nameIn(mistake);
  return wrong.has(name) || wrong.has(name.replace(/_PASSWORD$/, '_URL'));
}

/** For what migrates and needs no other settings. */
export function migrationUrlOf(env: Given): string | undefined {
  const { values, mistakes, wrong } = checked(databaseVariables, env);
  const further: string[] = [];
  const url = databaseAddress(values, values.DATABASE_MIGRATION_URL ? 'DATABASE_MIGRATION' : 'DATABASE', further);
  mistakes.push(...further.filter((mistake) => !isTold(mistake, wrong)));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return url;
}

interface Checked<T> {
  /** A wrong one counts as unset here, so that the others can still be looked at together. */
  values: T;
  mistakes: string[];
  /** Nothing more is said of these. */
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
  // Whoever writes "prod" is told at once what production wants.
  if (wrong.has('NODE_ENV') && /^prod/i.test(given.NODE_ENV ?? '')) rest.push(['NODE_ENV', 'production']);
  return { values: schema.parse(Object.fromEntries(rest)), mistakes, wrong };
}

function asMistake(issue: z.core.$ZodIssue): string {
  return `${String(issue.path[0])}: ${issue.message}`;
}

/** The variable that a mistake is of. A file of a secret is as good as the secret. */
function nameIn(mistake: string): string {
  const [name = ''] = mistake.split(':');
  return SECRETS.find((secret) => name === `${secret}_FILE`) ?? name;
}

type Need = <Name extends keyof Environment>(name: Name, why: string) => NonNullable<Environment[Name]>;

/** A variable that the chosen provider cannot work without. */
function needing(env: Environment, mistakes: string[]): Need {
  return <Name extends keyof Environment>(name: Name, why: string) => {
    const value = env[name];
    if (value === undefined) mistakes.push(`${name}: set it, ${why}`);
    // With a mistake loadConfig throws, and nothing reads the value.
    return value as NonNullable<Environment[Name]>;
  };
}

/** Migrations run as the owner of the tables. Without an address for that, the service is the owner. */
function databaseUrls(env: DatabaseVariables, mistakes: string[]) {
  const databaseUrl = databaseAddress(env, 'DATABASE', mistakes);
  const migrationUrl = databaseAddress(env, 'DATABASE_MIGRATION', mistakes);
  if (migrationUrl && !databaseUrl)
    mistakes.push('DATABASE_URL: set it, DATABASE_MIGRATION_URL is for migrations alone');
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

function sessionsOf({ SESSION_DAYS: given, SESSION_MAX_DAYS: maxDays }: Environment, mistakes: string[]) {
  if (given !== undefined && given > maxDays)
    mistakes.push(`SESSION_DAYS: must be at most SESSION_MAX_DAYS, which is ${maxDays}: lower it, or raise the other`);
  return { days: given ?? Math.min(SESSION_DAYS, maxDays), maxDays };
}

function smsOf(env: Environment, need: Need): SmsSettings {
  // What production will ask for next is told at once.
  switch (production(env) ? 'twilio' : env.SMS_PROVIDER) {
    case 'twilio': {
      const why = 'SMS_PROVIDER=twilio needs it';
      const either = `or TWILIO_MESSAGING_SERVICE_SID in its place: ${why}`;
      return {
        provider: 'twilio',
        accountSid: need('TWILIO_ACCOUNT_SID', why),
        authToken: need('TWILIO_AUTH_TOKEN', why),
        from: env.TWILIO_MESSAGING_SERVICE_SID ? env.TWILIO_FROM : need('TWILIO_FROM', either),
        messagingServiceSid: env.TWILIO_MESSAGING_SERVICE_SID,
        apiUrl: env.TWILIO_API_URL,
      };
    }
    case 'file':
      return { provider: 'file', path: env.SMS_FILE ?? join(env.DATA_DIR, 'sms.ndjson') };
    case 'console':
    case undefined:
      return { provider: 'console' };
  }
}

function messagingOf(env: Environment, need: Need): MessagingSettings {
  if (env.MESSAGING_PROVIDER === 'jwt')
    return {
      provider: 'jwt',
      ttlSeconds: env.MESSAGING_TOKEN_TTL_SECONDS,
      issuer: env.PUBLIC_URL,
      audience: env.MESSAGING_JWT_AUDIENCE,
      oldKey: env.MESSAGING_JWT_OLD_KEY,
    };
  const why = 'MESSAGING_PROVIDER=rongcloud needs it';
  return {
    provider: 'rongcloud',
    appKey: need('RONGCLOUD_APP_KEY', why),
    appSecret: need('RONGCLOUD_APP_SECRET', why),
    apiUrl: env.RONGCLOUD_API_URL,
  };
}

function storageOf(env: Environment, need: Need): StorageSettings {
  const maxBytes = env.UPLOAD_MAX_BYTES;
  if (env.STORAGE_PROVIDER !== 'qiniu')
    return {
      provider: 'local',
      directory: join(env.DATA_DIR, 'uploads'),
      maxBytes,
      maxBytesPerUser: env.UPLOAD_BYTES_PER_USER ?? (production(env) ? 100 * MIB : 0),
      minFreeBytes: env.UPLOAD_MIN_FREE_BYTES ?? (production(env) ? 1_024 * MIB : 0),
    };
  const why = 'STORAGE_PROVIDER=qiniu needs it';
  return {
    provider: 'qiniu',
    accessKey: need('QINIU_ACCESS_KEY', why),
    secretKey: need('QINIU_SECRET_KEY', why),
    bucket: need('QINIU_BUCKET', why),
    domain: need('QINIU_DOMAIN', why),
    uploadUrl: env.QINIU_UPLOAD_URL,
    maxBytes,
  };
}

function captchaOf(env: Environment, need: Need): CaptchaSettings {
  if (env.CAPTCHA_PROVIDER === 'drawn')
    return { provider: 'drawn', answers: env.CAPTCHA_POLICY === 'off' ? 'ignored' : 'checked' };
  const why = 'CAPTCHA_PROVIDER=turnstile needs it';
  return {
    provider: 'turnstile',
    siteKey: need('CAPTCHA_SITE_KEY', why),
    secretKey: need('CAPTCHA_SECRET_KEY', why),
    verifyUrl: env.CAPTCHA_VERIFY_URL,
    scriptUrl: env.CAPTCHA_SCRIPT_URL,
  };
}

/** A deployment in a private network has its own images there. */
function isOnPrivateHost(publicUrl: string | undefined): boolean {
  return publicUrl !== undefined && isPrivateHost(new URL(publicUrl).hostname);
}

/** Defaults that make a first try easy would harm real users. In production each is refused, with its remedy. */
function unfitForProduction(env: Environment): string[] {
  const rules: [unfit: boolean, mistake: string][] = [
    [!env.DATABASE_URL, 'DATABASE_URL: set it, the embedded database is for development only'],
    [!env.SESSION_SECRETS, 'SESSION_SECRETS: set it, for example to what openssl rand -hex 32 prints'],
    [
      env.SMS_PROVIDER !== 'twilio',
      'SMS_PROVIDER: set it to twilio, console and file show every code to whoever reads them',
    ],
    [!env.STORAGE_PROVIDER, 'STORAGE_PROVIDER: set it to qiniu, or to local if one disk is enough'],
    [
      env.MESSAGING_PROVIDER === 'jwt' && !env.MESSAGING_JWT_KEY,
      'MESSAGING_JWT_KEY: set it, for example to what openssl genpkey -algorithm ed25519 | base64 -w0 prints',
    ],
    [!env.PUBLIC_URL, 'PUBLIC_URL: set it to the https address that clients use'],
    [
      env.PUBLIC_URL?.startsWith('http:') ?? false,
      'PUBLIC_URL: must start with https://, the session cookie travels over HTTPS only',
    ],
    [
      env.TRUST_PROXY === undefined,
      'TRUST_PROXY: set it to the number of proxies in front (1 with the compose file), to their addresses, or to none',
    ],
    [
      env.SEND_CODE_PER_DAY === undefined,
      'SEND_CODE_PER_DAY: set it to the messages a day that you pay for at most (three for each new user a day), or to 0 ' +
        'for no bound',
    ],
    [
      (env.SESSION_SECRETS ?? []).some(isGuessable),
      'SESSION_SECRETS: each needs to be random, openssl rand -hex 32 makes one',
    ],
    [
      env.TWILIO_API_URL?.startsWith('http:') ?? false,
      'TWILIO_API_URL: must start with https://, codes and the account are sent there',
    ],
    [
      env.RONGCLOUD_API_URL.startsWith('http:'),
      'RONGCLOUD_API_URL: must start with https://, it answers with the tokens of users',
    ],
    [
      env.QINIU_UPLOAD_URL.startsWith('http:'),
      'QINIU_UPLOAD_URL: must start with https://, clients send their upload tokens there',
    ],
    [
      env.CAPTCHA_VERIFY_URL.startsWith('http:'),
      'CAPTCHA_VERIFY_URL: must start with https://, the secret key is sent there',
    ],
    [
      env.CAPTCHA_SCRIPT_URL.startsWith('http:'),
      'CAPTCHA_SCRIPT_URL: must start with https://, anybody on the way can change a script that comes over HTTP',
    ],
    [
      env.CORS_ORIGINS.some((allowed) => allowed.startsWith('http:')),
      'CORS_ORIGINS: must start with https://, anybody on the way can change a page that comes over HTTP',
    ],
    [
      typeof env.TRUST_PROXY === 'number' && env.TRUST_PROXY > MOST_PROXIES,
      `TRUST_PROXY: must be at most ${MOST_PROXIES}, clients choose their address beyond the proxies there are`,
    ],
    [env.BCRYPT_COST < 10, 'BCRYPT_COST: set it to 10 or more'],
  ];
  return rules.filter(([unfit]) => unfit).map(([, mistake]) => mistake);
}

/** By concern. It holds secrets, so no part of it is ever logged. */
function nested(env: Environment, mistakes: string[]) {
  const need = needing(env, mistakes);
  const strict = production(env);
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
    database: {
      poolMax: env.DATABASE_POOL_MAX,
      prepare: env.DATABASE_PREPARE === 'on',
      autoMigrate: env.AUTO_MIGRATE === 'on',
      waitSeconds: inProduction(env.DATABASE_WAIT_SECONDS, 60),
    },
    dataDir: env.DATA_DIR,
    auditDays: env.AUDIT_DAYS,
    logLevel: env.LOG_LEVEL,
    sessions: sessionsOf(env, mistakes),
    passwords: { bcryptCost: env.BCRYPT_COST },
    sms: smsOf(env, need),
    notices: {
      notify: env.NOTIFY,
      texts: {
        password_reset: env.NOTIFY_TEXT_PASSWORD_RESET,
        password_changed: env.NOTIFY_TEXT_PASSWORD_CHANGED,
        new_device: env.NOTIFY_TEXT_NEW_DEVICE,
        locked_out: env.NOTIFY_TEXT_LOCKED_OUT,
        phone_changed: env.NOTIFY_TEXT_PHONE_CHANGED,
        account_closed: env.NOTIFY_TEXT_ACCOUNT_CLOSED,
      },
      allowedRegions: env.ALLOWED_REGIONS,
    },
    messaging: messagingOf(env, need),
    storage: storageOf(env, need),
    captcha: captchaOf(env, need),
    verification: {
      smsText: env.SMS_TEXT,
      phoneCheck: env.PHONE_CHECK ?? (strict ? 'mobile' : 'possible'),
      allowedRegions: env.ALLOWED_REGIONS,
      captchaPolicy: env.CAPTCHA_POLICY,
      spendGuard: env.SPEND_GUARD ?? (strict ? 'enforce' : 'record'),
      codeTtlSeconds: env.CODE_TTL_SECONDS,
      codeMaxAttempts: env.CODE_MAX_ATTEMPTS,
      tokenTtlSeconds: env.VERIFICATION_TOKEN_TTL_SECONDS,
    },
    portraits: { hosts: env.PORTRAIT_HOSTS, publicOnly: production(env) && !isOnPrivateHost(env.PUBLIC_URL) },
    maxBlacklist: env.MAX_BLACKLIST,
    mostFriendships: {
      friends: inProduction(env.FRIENDS_PER_USER, 5_000),
      requests: inProduction(env.OPEN_REQUESTS_PER_USER, 1_000),
    },
    groups: {
      addFriendsOnly: env.GROUP_ADD === 'friends',
      joinable: env.GROUP_JOIN === 'open',
      maxMembers: env.GROUP_MAX_MEMBERS,
      /** 0: any number. */
      maxPerUser: env.GROUPS_PER_USER,
      maxJoined: env.GROUPS_JOINED_PER_USER,
    },
    limits: limitsOf(env, strict),
    secrets: {
      ...databaseUrls(env, mistakes),
      session: env.SESSION_SECRETS,
      messagingJwtKey: env.MESSAGING_JWT_KEY,
      inboxToken: env.INBOX_TOKEN,
    },
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function origin(value: string, context: z.RefinementCtx): string {
  if (isWebOrigin(value) || isAppOrigin(value)) return value;
  context.addIssue('must be origins separated by commas, such as https://app.example.com');
  return z.NEVER;
}

function isWebOrigin(value: string): boolean {
  return /^https?:[^*]*$/.test(value) && URL.canParse(value) && new URL(value).origin === value;
}

/** Of a page in an app, such as capacitor://localhost. */
function isAppOrigin(value: string): boolean {
  return /^(?!(https?|wss?|ftp|file):)[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+$/.test(value);
}

/** Not of everybody, which would let each client choose its address. */
function isNetwork(name: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(name)) return true;
  const [address = '', bits] = name.split(/\/(?=\d{1,3}$)/);
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return most > 0 && (bits === undefined || (Number(bits) >= 1 && Number(bits) <= most));
}

function isRegion(region: string): boolean {
  return isPhoneCallingCode(region) || isCountry(region);
}

function mistakeInRegion({ input }: { input: unknown }): string {
  const hint = input === 'UK' ? ': UK is written GB' : '';
  return `must be countries or calling codes separated by commas, such as GB,US,86${hint}`;
}

/** As it stands in an address: in lower case, with a port that is not the usual one. */
function host(value: string, context: z.RefinementCtx): string {
  const address = `https://${value}`;
  if (URL.canParse(address) && new URL(address).host === value) return value;
  context.addIssue('must be hosts separated by commas, such as images.example.com');
  return z.NEVER;
}

/** Any user has a token that is signed with it, and can try at home what it may be. */
function isGuessable(secret: string): boolean {
  const isRepeated = /^(.{1,32})\1+.{0,16}$/.test(secret);
  return isRepeated || new Set(secret).size < LEAST_CHARACTERS || GUESSED_FIRST.test(secret);
}

/** For Express's setting of the same name: the number of proxies in front, or their addresses. */
function trustProxy(value: string, context: z.RefinementCtx): false | number | string[] {
  if (value === 'none') return false;
  if (/^[1-9]\d?$/.test(value)) return Number(value);
  const names = value.split(',').map((name) => name.trim());
  if (names.every(isNetwork)) return names;
  context.addIssue('must be none, a number of proxies, or addresses separated by commas (loopback, 10.0.0.0/8, …)');
  return z.NEVER;
}
