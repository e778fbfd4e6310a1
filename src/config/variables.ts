import { z } from 'zod';
import { httpUrl, limit, list, oneOf, seconds, share, text, whole } from '../base/formats';
import { networkList } from '../base/networks';
import { isTag } from '../features/sending/languages';
import { SENDER_NAMES } from '../integrations/senders/kinds';
import { isSigningKey } from '../integrations/messaging/signing-key';
import { LIMIT_VARIABLES, type LimitVariable } from '../load/limits';
import {
  audiences,
  databaseUrl,
  headers,
  hostName,
  hosts,
  imagesPlace,
  networks,
  origins,
  regions,
  templateLanguages,
  testNumbers,
  trustProxy,
} from './formats';

/** A number in E.164, a short code, or an alphanumeric sender, which has a letter. */
const TWILIO_SENDER = /^(\+[1-9]\d{6,14}|\d{3,8}|(?=.*[A-Za-z])[\w &+-]{1,11})$/;
/** Secret of Standard Webhooks, of 24 to 64 bytes. */
const WEBHOOK_SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;
const MISTAKE_IN_SECRET =
  'must be whsec_ and 24 or more bytes in base64: echo whsec_$(openssl rand -base64 32) makes one';
export const MIB = 1_024 * 1_024;

const limitVariables = Object.fromEntries(
  [...LIMIT_VARIABLES.keys()].map((name) => [name, limit.optional()]),
) as Record<LimitVariable, ReturnType<typeof limit.optional>>;

/** One entry per variable, under its name. An empty value counts as unset. */
export const environment = z.object({
  NODE_ENV: oneOf('development', 'test', 'production').default('development'),
  HOST: text.default('127.0.0.1'),
  PORT: whole(0, 65_535).default(8585),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_PASSWORD: text.optional(),
  DATABASE_MIGRATION_URL: databaseUrl.optional(),
  DATABASE_MIGRATION_PASSWORD: text.optional(),
  DATABASE_REPLICA_URL: databaseUrl.optional(),
  REPLICA_LAG_MAX: whole(0, 1_048_576).default(16),
  DATABASE_LIMITS_URL: databaseUrl.optional(),
  CLOCK_SKEW_MAX_MS: whole(0, 60_000).default(1_000),
  DATABASE_POOL_MAX: whole(1, 1_000).default(10),
  DATABASE_PREPARE: oneOf('on', 'off').default('on'),
  DATABASE_WAIT_SECONDS: whole(0, 3_600).optional(),
  AUTO_MIGRATE: oneOf('on', 'off').default('on'),
  DATA_DIR: text.default('.data'),
  AUDIT_DAYS: whole(1, 3_650).default(180),
  EVENT_DAYS: whole(1, 365).default(7),
  LEAVE_SECONDS: whole(0, 600).optional(),
  METRICS_PORT: whole(0, 65_535).optional(),
  METRICS_HOST: text.default('127.0.0.1'),
  ADMIN_PORT: whole(0, 65_535).optional(),
  ADMIN_HOST: text.default('127.0.0.1'),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headers.optional(),
  OTEL_SERVICE_NAME: text.default('user-account-service'),
  OTEL_TRACES_SAMPLER_ARG: share.default(1),
  LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent').default('info'),
  PUBLIC_URL: httpUrl.optional(),
  TRUST_PROXY: z.string().transform(trustProxy).optional(),
  CORS_ORIGINS: origins.default([]),
  DOCS_PAGE: oneOf('on', 'off').default('on'),
  INBOX_TOKEN: z
    .string()
    .regex(/^[\w-]{16,}$/, 'must be 16 or more letters, digits, - and _: openssl rand -hex 16 makes one')
    .optional(),

  SESSION_SECRETS: list
    .pipe(
      z
        .array(z.string().min(32, 'each secret needs at least 32 characters: openssl rand -hex 32 makes one'))
        .min(1, 'must contain a secret: openssl rand -hex 32 makes one'),
    )
    .optional(),
  SESSION_DAYS: whole(1, 400).optional(),
  SESSION_MAX_DAYS: whole(1, 3_650).default(90),
  RECYCLE_DAYS: whole(0, 3_650).default(120),
  BCRYPT_COST: whole(4, 15).default(10),
  PASSWORDS: oneOf('optional', 'required').optional(),

  SMS_PROVIDER: oneOf(...SENDER_NAMES).optional(),
  SMS_ROUTES: text.optional(),
  SMS_FILE: text.optional(),
  WORDS_DIR: text.optional(),
  DEFAULT_LANGUAGE: z.string().refine(isTag, 'must be a language, such as en or zh-Hant').default('en'),
  SMS_TEXT: z.string().includes('{code}', { error: 'must contain {code}' }).optional(),
  SMS_ANDROID_HASH: z
    .string()
    .regex(/^[A-Za-z0-9+/]{11}$/, 'must be the hash of the app, which has 11 letters, digits, + and /')
    .optional(),
  NOTIFY: oneOf('off', 'sms').default('off'),
  NOTIFY_TEXT_PASSWORD_RESET: text.optional(),
  NOTIFY_TEXT_PASSWORD_CHANGED: text.optional(),
  NOTIFY_TEXT_NEW_DEVICE: text.optional(),
  NOTIFY_TEXT_LOCKED_OUT: text.optional(),
  NOTIFY_TEXT_PHONE_CHANGED: text.optional(),
  NOTIFY_TEXT_NUMBER_CLAIMED: text.optional(),
  NOTIFY_TEXT_ACCOUNT_CLOSED: text.optional(),
  SMS_HTTP_URL: httpUrl.optional(),
  SMS_HTTP_SECRET: list
    .pipe(z.array(z.string().regex(WEBHOOK_SECRET, MISTAKE_IN_SECRET)).min(1, MISTAKE_IN_SECRET))
    .optional(),
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
  TWILIO_VERIFY_SERVICE_SID: z.string().startsWith('VA', 'must begin with VA').optional(),
  TWILIO_API_URL: httpUrl.optional(),
  WHATSAPP_TOKEN: text.optional(),
  WHATSAPP_PHONE_NUMBER_ID: z
    .string()
    .regex(/^\d{1,20}$/, 'must be the id of the number, which has digits only')
    .optional(),
  WHATSAPP_TEMPLATE: z
    .string()
    .regex(/^[a-z0-9_]{1,512}$/, 'must be the name of a template: a-z, digits and _')
    .optional(),
  WHATSAPP_TEMPLATE_LANGUAGES: templateLanguages.default(['en']),
  WHATSAPP_API_URL: httpUrl.default('https://graph.facebook.com/v24.0'),
  WHATSAPP_APP_SECRET: text.optional(),
  WHATSAPP_VERIFY_TOKEN: text.optional(),
  TELEGRAM_GATEWAY_TOKEN: text.optional(),
  TELEGRAM_API_URL: httpUrl.default('https://gatewayapi.telegram.org'),

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
  TOKEN_AUDIENCES: audiences.default([]),
  MESSAGING_TOKEN_TTL_SECONDS: seconds.default(3_600),
  RONGCLOUD_APP_KEY: text.optional(),
  RONGCLOUD_APP_SECRET: text.optional(),
  RONGCLOUD_API_URL: httpUrl.default('https://api.rong-api.com'),

  STORAGE_PROVIDER: oneOf('local', 'qiniu').optional(),
  IMAGES: imagesPlace.default('here'),
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
  ALLOWED_REGIONS: regions.default([]),
  CAPTCHA_POLICY: oneOf('adaptive', 'always', 'off').default('adaptive'),
  CAPTCHA_PROVIDER: oneOf('drawn', 'altcha', 'turnstile').default('drawn'),
  CAPTCHA_SITE_KEY: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the site key as the provider shows it: letters, digits, - and _')
    .optional(),
  CAPTCHA_SECRET_KEY: text.optional(),
  CAPTCHA_VERIFY_URL: httpUrl.default('https://challenges.cloudflare.com/turnstile/v0/siteverify'),
  CAPTCHA_SCRIPT_URL: httpUrl.default('https://challenges.cloudflare.com/turnstile/v0/api.js'),
  SPEND_GUARD: oneOf('off', 'record', 'enforce').optional(),
  TEST_NUMBERS: testNumbers.default([]),
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
  WEBHOOK_NETWORKS: networks.default(networkList('')),
  ...limitVariables,
});

export const VARIABLES = Object.keys(environment.shape);

/** Secrets, which may also be given as NAME_FILE: the path of a file that contains the secret. */
// prettier-ignore
export const SECRETS = [
  'DATABASE_URL', 'DATABASE_PASSWORD', 'DATABASE_MIGRATION_URL', 'DATABASE_MIGRATION_PASSWORD', 'DATABASE_REPLICA_URL',
  'DATABASE_LIMITS_URL', 'SESSION_SECRETS',
  'SMS_HTTP_SECRET', 'TWILIO_AUTH_TOKEN', 'WHATSAPP_TOKEN', 'WHATSAPP_APP_SECRET', 'WHATSAPP_VERIFY_TOKEN',
  'TELEGRAM_GATEWAY_TOKEN', 'MESSAGING_JWT_KEY', 'MESSAGING_JWT_OLD_KEY', 'RONGCLOUD_APP_SECRET', 'QINIU_SECRET_KEY',
  'CAPTCHA_SECRET_KEY', 'OTEL_EXPORTER_OTLP_HEADERS', 'TEST_NUMBERS',
] as const;

export const databaseVariables = environment.pick({
  DATABASE_URL: true,
  DATABASE_PASSWORD: true,
  DATABASE_MIGRATION_URL: true,
  DATABASE_MIGRATION_PASSWORD: true,
});

export type Environment = z.infer<typeof environment>;
export type DatabaseVariables = z.infer<typeof databaseVariables>;

export function isProduction({ NODE_ENV }: Pick<Environment, 'NODE_ENV'>): boolean {
  return NODE_ENV === 'production';
}
