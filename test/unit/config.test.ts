import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'dotenv';
import { Client } from 'pg';
import { ConfigError, loadConfig } from '../../src/config/config';
import { VARIABLES } from '../../src/config/variables';
import { SENDERS, type SenderName } from '../../src/integrations/senders/kinds';
import type { LimitName } from '../../src/load/limits';
import { productionEnv } from '../support/production';

function mistakesIn(env: Record<string, string | undefined>): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
}

/** Variables that accept any text. */
const FREE = [
  'HOST',
  'METRICS_HOST',
  'ADMIN_HOST',
  'OTEL_SERVICE_NAME',
  'DATA_DIR',
  'SMS_FILE',
  'WORDS_DIR',
  'WHATSAPP_TOKEN',
  'WHATSAPP_APP_SECRET',
  'WHATSAPP_VERIFY_TOKEN',
  'TELEGRAM_GATEWAY_TOKEN',
  'RONGCLOUD_APP_KEY',
  'RONGCLOUD_APP_SECRET',
  'MESSAGING_JWT_AUDIENCE',
  'QINIU_ACCESS_KEY',
  'QINIU_SECRET_KEY',
  'QINIU_BUCKET',
  'NOTIFY_TEXT_PASSWORD_RESET',
  'NOTIFY_TEXT_PASSWORD_CHANGED',
  'NOTIFY_TEXT_NEW_DEVICE',
  'NOTIFY_TEXT_LOCKED_OUT',
  'CAPTCHA_SECRET_KEY',
  'DATABASE_PASSWORD',
  'DATABASE_MIGRATION_PASSWORD',
  'NOTIFY_TEXT_NUMBER_CLAIMED',
  'NOTIFY_TEXT_PHONE_CHANGED',
  'NOTIFY_TEXT_ACCOUNT_CLOSED',
];

const atLeastOne = ['0', '-1', '1.5', 'x', '1e3', ' 1', '0x10', '9'.repeat(20)];
const fromZero = atLeastOne.slice(1);
const address = ['x', 'example.com', 'ftp://a.example', 'javascript:alert(1)', '//a.example'];

const BAD: Record<string, string[]> = {
  NODE_ENV: ['dev', 'Test', 'staging'],
  PORT: ['-1', '65536', 'http', '80.5', '1e3'],
  DATABASE_URL: ['localhost', 'mysql://a@b/c', 'http://a.example'],
  DATABASE_MIGRATION_URL: ['localhost', 'mysql://a@b/c', 'http://a.example'],
  DATABASE_REPLICA_URL: ['localhost', 'mysql://a@b/c', 'http://a.example'],
  DATABASE_LIMITS_URL: ['localhost', 'mysql://a@b/c', 'http://a.example'],
  REPLICA_LAG_MAX: ['-1', '1.5', 'x', '9'.repeat(20)],
  CLOCK_SKEW_MAX_MS: ['-1', '60001', 'x'],
  DATABASE_POOL_MAX: atLeastOne,
  DATABASE_PREPARE: ['true', 'ON'],
  AUTO_MIGRATE: ['true', '1', 'ON'],
  AUDIT_DAYS: [...atLeastOne, '3651'],
  EVENT_DAYS: [...atLeastOne, '366'],
  WEBHOOK_NETWORKS: ['loopback', '10.0.0.0/33', '0.0.0.0/0', 'example.com', '10.0.0.0', '192.168.1.1,172.16.0.0'],
  METRICS_PORT: ['-1', '65536', 'on', '8585'],
  ADMIN_PORT: ['-1', '65536', 'on', '8585'],
  OTEL_EXPORTER_OTLP_ENDPOINT: address,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address,
  OTEL_EXPORTER_OTLP_HEADERS: ['key', 'key=', '=value', 'a b=c', 'key=a,b', 'key=%', 'key=%zz', 'key=%ff', 'key=ä'],
  OTEL_TRACES_SAMPLER_ARG: ['-1', '2', '1.5', '.5', '10%', 'always_on'],
  LOG_LEVEL: ['verbose', 'INFO'],
  PUBLIC_URL: address,
  TRUST_PROXY: [
    '0',
    'true',
    'yes',
    '-1',
    '100',
    'proxy.example',
    '10.0.0.0/8,x',
    '1.5',
    '10.0.0.0/33',
    '0.0.0.0/0',
    '::/0',
    '::1/129',
    '10.0.0.0',
  ],
  DOCS_PAGE: ['true', 'ON', 'yes'],
  INBOX_TOKEN: ['x'.repeat(15), 'sixteen characters', 'x'.repeat(16) + '#'],
  CORS_ORIGINS: [
    '*',
    'example.com',
    'https://a.example/',
    'https://a.example/path',
    'https://a.example,null',
    'capacitor://',
    'capacitor://a/b',
    'javascript:alert(1)',
    'ws://a.example',
    'ftp://a.example',
    'https://*.example.com',
  ],
  SESSION_SECRETS: ['short', `${'x'.repeat(32)},short`, ','],
  LEAVE_SECONDS: [...fromZero, '601'],
  DATABASE_WAIT_SECONDS: [...fromZero, '3601'],
  SESSION_DAYS: [...atLeastOne, '91', '401'],
  SESSION_MAX_DAYS: [...atLeastOne, '3651'],
  RECYCLE_DAYS: ['-1', '1.5', 'never', '3651'],
  BCRYPT_COST: ['3', '16', 'x', '10.5'],
  PASSWORDS: ['on', 'Optional', 'off'],
  SMS_PROVIDER: ['sns', 'Twilio'],
  SMS_ROUTES: ['/nowhere/routes.json'],
  SMS_TEXT: ['your code', '{minutes}', '{CODE}'],
  DEFAULT_LANGUAGE: ['en_GB', 'in English', 'a-', 'x'.repeat(40)],
  SMS_ANDROID_HASH: ['FA+9qCX9VS', 'FA+9qCX9VSuu', 'FA+9qCX9VS=', '-A+9qCX9VSu'],
  NOTIFY: ['on', 'SMS', 'email'],
  SMS_HTTP_URL: address,
  SMS_HTTP_SECRET: ['x', ',', 'whsec_', 'whsec_c2hvcnQ=', `whsec_${'x'.repeat(32)},y`, `whsec_${'-'.repeat(43)}`],
  TWILIO_ACCOUNT_SID: ['SK0123456789abcdef0123456789abcdef', 'ac1'],
  TWILIO_AUTH_TOKEN: ['x', 'x'.repeat(31), `${'x'.repeat(32)} `],
  TWILIO_FROM: ['07911123456', '7911123456', '+0791112345', '+44 7911 123456', 'Twelve chars', 'a@b'],
  TWILIO_MESSAGING_SERVICE_SID: ['+447400000000', 'mg0'],
  TWILIO_VERIFY_SERVICE_SID: ['MG1', 'va0'],
  TWILIO_API_URL: address,
  WHATSAPP_PHONE_NUMBER_ID: ['+447400000000', 'x'],
  WHATSAPP_TEMPLATE: ['My Template', 'a-b'],
  WHATSAPP_TEMPLATE_LANGUAGES: ['pt-BR', 'english', ',', 'en,x'],
  WHATSAPP_API_URL: address,
  TELEGRAM_API_URL: address,
  MESSAGING_PROVIDER: ['none', 'JWT'],
  MESSAGING_JWT_KEY: ['x', 'x'.repeat(64), '-----BEGIN PRIVATE KEY-----'],
  MESSAGING_JWT_OLD_KEY: ['x', 'x'.repeat(64)],
  TOKEN_AUDIENCES: ['a b', 'a,b;c', 'x'.repeat(101), '"'],
  MESSAGING_TOKEN_TTL_SECONDS: atLeastOne,
  RONGCLOUD_API_URL: address,
  STORAGE_PROVIDER: ['s3', 'Local'],
  IMAGES: ['there', 'Here', 'images.example', 'ftp://a.example'],
  UPLOAD_MAX_BYTES: [...atLeastOne, '5MB'],
  UPLOAD_BYTES_PER_USER: fromZero,
  UPLOAD_MIN_FREE_BYTES: fromZero,
  QINIU_DOMAIN: ['x', 'ftp://a.example', 'javascript:alert(1)', '//a.example', 'a.example/b', 'a b.example'],
  QINIU_UPLOAD_URL: address,
  PORTRAIT_HOSTS: [
    'https://a.example',
    'a.example/x',
    'a@b.example',
    'A.example',
    'a b',
    'a.example:443',
    'a.example,/',
  ],
  PHONE_CHECK: ['on', 'Mobile'],
  ALLOWED_REGIONS: ['gb', 'UK', 'GB,UK', 'ZZ', '001', '999', '44,x', '+44', '044', 'constructor'],
  CAPTCHA_POLICY: ['on', 'never'],
  CAPTCHA_PROVIDER: ['none', 'Turnstile', 'hcaptcha'],
  CAPTCHA_SITE_KEY: ['a b', '"', 'x'.repeat(65)],
  CAPTCHA_VERIFY_URL: address,
  CAPTCHA_SCRIPT_URL: address,
  SPEND_GUARD: ['on', 'Record'],
  TEST_NUMBERS: ['+447700900123', '+447700900123=1234@2026-12-31', '+1234567=271828@2020-01-01'],
  CODE_TTL_SECONDS: atLeastOne,
  CODE_RESEND_SECONDS: atLeastOne,
  CODE_MAX_ATTEMPTS: atLeastOne,
  VERIFICATION_TOKEN_TTL_SECONDS: atLeastOne,
  SEND_CODE_PER_PHONE_DAY: fromZero,
  SEND_CODE_PER_IP_HOUR: fromZero,
  SEND_CODE_PER_IP_HOUR_WITH_CAPTCHA: fromZero,
  SEND_CODE_PER_DAY: fromZero,
  NEW_DEVICE_NOTICES_PER_IP_HOUR: fromZero,
  WRONG_CODES_PER_PHONE_AND_IP_DAY: fromZero,
  WRONG_CODES_PER_PHONE_DAY: fromZero,
  LOGIN_FAILURES_PER_PHONE_AND_IP: fromZero,
  LOGIN_FAILURES_PER_PHONE_AND_IP_DAY: fromZero,
  LOGIN_FAILURES_PER_PHONE_DAY: fromZero,
  LOGIN_FAILURES_PER_IP: fromZero,
  LOGIN_FAILURES_PER_DEVICE: fromZero,
  LOGIN_FAILURES_PER_DEVICE_DAY: fromZero,
  LOGINS_PER_PHONE_AND_IP_HOUR: fromZero,
  LOGINS_PER_PHONE_DAY: fromZero,
  ADMIN_CALLS_PER_TOKEN_MINUTE: fromZero,
  ADMIN_WRONG_TOKENS_PER_IP_MINUTE: fromZero,
  FINDS_PER_USER_MINUTE: fromZero,
  FINDS_PER_USER_DAY: fromZero,
  CHANGES_PER_USER_HOUR: fromZero,
  PASSWORD_CHANGES_PER_USER_HOUR: fromZero,
  MAX_BLACKLIST: fromZero,
  BLACKLIST_CHANGES_PER_USER_HOUR: fromZero,
  FRIEND_REQUESTS_PER_USER_DAY: fromZero,
  GROUP_ADD: ['all', 'Friends'],
  GROUP_JOIN: ['off', 'Open'],
  GROUP_MAX_MEMBERS: [...atLeastOne, '1000001'],
  GROUPS_PER_USER: fromZero,
  GROUPS_JOINED_PER_USER: fromZero,
  GROUPS_CREATED_PER_USER_DAY: fromZero,
  FRIENDS_PER_USER: fromZero,
  OPEN_REQUESTS_PER_USER: fromZero,
  GROUP_CHANGES_PER_USER_HOUR: fromZero,
  UPLOADS_PER_USER_HOUR: fromZero,
  CHECKS_PER_IP_MINUTE: fromZero,
  CHECKS_PER_IP_DAY: fromZero,
  VERIFIES_PER_IP_MINUTE: fromZero,
  VERIFIES_PER_IP_DAY: fromZero,
  PAGE_KIB_PER_IP_HOUR: fromZero,
};

const amounts = (limits: Partial<Record<LimitName, number>>) =>
  Object.fromEntries(Object.entries(limits).map(([name, amount]) => [name, { amount }]));

describe('loadConfig', () => {
  // guard config-6: a national number is refused as the sender of codes
  // src/integrations/senders/twilio/settings.ts
  // - \d{3,8}|(?=
  // + \d{3,11}|(?=
  // guard config-7: a session does not promise to last beyond its maximum
  // src/config/sections/sessions.ts
  // - given !== undefined && given > maxDays
  // + false
  it.each(Object.entries(BAD).flatMap(([name, values]) => values.map((value) => [name, value])))(
    'refuses %s=%s in one line that names it and says what it must be',
    (name = '', value = '') => {
      const mistakes = mistakesIn({ [name]: value });
      expect(new Set(mistakes).size).toBe(1);
      expect(mistakes[0]).toMatch(new RegExp(`^${name}: .*(must|needs|set it)`));
      expect(mistakes[0]).not.toMatch(/\n/);
    },
  );

  it('is tested with a bad value of every variable that can have one', () => {
    expect([...Object.keys(BAD), ...FREE].sort()).toEqual([...VARIABLES].sort());
  });

  it('reports all mistakes at once, one line each', () => {
    const mistakes = mistakesIn({ PORT: 'x', SMS_PROVIDER: 'x', BCRYPT_COST: 'x' });
    expect(mistakes.map((mistake) => mistake.split(':')[0]).sort()).toEqual(['BCRYPT_COST', 'PORT', 'SMS_PROVIDER']);
  });

  // guard config-9: missing and wrong settings are reported together
  // src/config/config.ts
  // - ...further.filter((mistake) => !isTold(mistake, read.wrong))
  // + ...(read.wrong.size > 0 ? [] : further)
  it('reports wrong and missing variables together, each variable once', () => {
    const env = {
      NODE_ENV: 'production',
      PORT: 'x',
      DATABASE_URL: 'x',
      DATABASE_PASSWORD: 'x',
      TRUST_PROXY: 'all',
      SESSION_SECRETS_FILE: '/dev/null/x',
      STORAGE_PROVIDER: 'qiniu',
      CAPTCHA_PROVIDER: 'turnstile',
    };
    expect(mistakesIn(env).map((mistake) => mistake.split(':')[0])).toEqual([
      'SESSION_SECRETS_FILE',
      'PORT',
      'DATABASE_URL',
      'TRUST_PROXY',
      'SMS_PROVIDER',
      'MESSAGING_JWT_KEY',
      'PUBLIC_URL',
      'SEND_CODE_PER_DAY',
      'QINIU_ACCESS_KEY',
      'QINIU_SECRET_KEY',
      'QINIU_BUCKET',
      'QINIU_DOMAIN',
      'CAPTCHA_SITE_KEY',
      'CAPTCHA_SECRET_KEY',
    ]);
  });

  it('explains what production needs when NODE_ENV=prod', () => {
    const names = mistakesIn({ NODE_ENV: 'prod' }).map((mistake) => mistake.split(':')[0]);
    expect(names).toEqual(expect.arrayContaining(['NODE_ENV', 'DATABASE_URL', 'SMS_PROVIDER']));
  });

  it('does not show the value of a wrong secret', () => {
    const env = { SESSION_SECRETS: 'hunter2', MESSAGING_JWT_KEY: 'hunter2', DATABASE_URL: 'mysql://a:hunter2@b/c' };
    expect(mistakesIn(env)).toHaveLength(3);
    expect(mistakesIn(env).join()).not.toContain('hunter2');
  });

  it('treats an empty value as unset, and ignores unknown variables', () => {
    expect(loadConfig({ ...Object.fromEntries(VARIABLES.map((name) => [name, ''])), UNKNOWN: 'x' })).toEqual(
      loadConfig({}),
    );
  });

  it('adds the path of traces to an address of OpenTelemetry for all signals, and reads its headers', () => {
    const tracesOf = (env: Record<string, string>) => loadConfig(env).traces;
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://localhost:4318/';
    const settings = {
      url: 'http://localhost:4318/v1/traces',
      headers: {},
      serviceName: 'user-account-service',
      share: 1,
    };
    expect(tracesOf({ OTEL_EXPORTER_OTLP_ENDPOINT })).toEqual(settings);
    const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = 'https://a.example/own';
    expect(tracesOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT })?.url).toBe(
      'https://a.example/own',
    );
    const OTEL_EXPORTER_OTLP_HEADERS = 'authorization=Basic%20YWJj==, x-scope=a b';
    expect(tracesOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS })?.headers).toEqual({
      authorization: 'Basic YWJj==',
      'x-scope': 'a b',
    });
    expect(tracesOf({ OTEL_EXPORTER_OTLP_HEADERS })).toBeUndefined();
  });

  it('has the documented defaults', () => {
    expect(loadConfig({})).toMatchObject({
      production: false,
      http: { host: '127.0.0.1', port: 8585, publicUrl: undefined, trustProxy: false, corsOrigins: [] },
      database: { poolMax: 10, autoMigrate: true },
      dataDir: '.data',
      logLevel: 'info',
      sessions: { days: 30, maxDays: 90 },
      passwords: { bcryptCost: 10 },
      tokenLogins: { passwordRequired: false },
      sms: { senders: { console: {} } },
      messaging: { provider: 'jwt', ttlSeconds: 3_600 },
      storage: {
        provider: 'local',
        directory: '.data/uploads',
        maxBytes: 5 * 1_024 * 1_024,
        maxBytesPerUser: 0,
        minFreeBytes: 0,
      },
      captcha: { provider: 'drawn', answers: 'checked' },
      verification: {
        phoneCheck: 'possible',
        allowedRegions: [],
        captchaPolicy: 'adaptive',
        spendGuard: 'record',
        codeTtlSeconds: 300,
        codeMaxAttempts: 5,
        tokenTtlSeconds: 1_800,
      },
      limits: {
        resend: { amount: 1, seconds: 60 },
        ...amounts({ sendPerPhone: 10, sendPerPhoneWithCaptcha: 20, sendPerPhoneElsewhere: 7, sendInAll: 0 }),
        ...amounts({ wrongCodesPerPhoneAndAddress: 20, wrongCodesPerPhone: 100, wrongCodesPerPhoneElsewhere: 80 }),
        ...amounts({ loginFailuresPerPhoneAndAddress: 10, loginFailuresPerPhone: 100, friendRequestsPerDay: 100 }),
        ...amounts({ findsPerMinute: 300, findsPerDay: 2_000, groupsCreatedPerDay: 100, groupChangesPerHour: 0 }),
        // Limits per address only hold in production: all tests of a developer come from one address.
        ...amounts({ sendPerAddress: 0, sendPerAddressWithCaptcha: 0, loginFailuresPerAddress: 0 }),
        ...amounts({ loginsPerPhoneAndAddress: 0, loginsPerPhone: 0, newDeviceNoticesPerAddress: 0 }),
        ...amounts({ checksPerMinute: 0, checksPerDay: 0, verifiesPerMinute: 0, verifiesPerDay: 0 }),
        ...amounts({ pageKibPerHour: 0, passwordChangesPerHour: 0, changesPerHour: 0, blacklistAddsPerHour: 0 }),
        ...amounts({ uploadsPerHour: 0, uploadPartsPerHour: 0 }),
      },
      maxBlacklist: 2_000,
      mostFriendships: { friends: 0, requests: 0 },
      groups: { addFriendsOnly: true, joinable: true, maxMembers: 500, maxPerUser: 500 },
    });
  });

  it('has an admin API only where its port is set, on a port of its own, and none in a process for images', () => {
    expect(loadConfig({}).admin).toBeUndefined();
    expect(loadConfig({ ADMIN_PORT: '9465' }).admin).toEqual({ host: '127.0.0.1', port: 9465 });
    expect(loadConfig({ IMAGES: 'only', ADMIN_PORT: '9465' }).admin).toBeUndefined();
    const said = (other: string) => [`ADMIN_PORT: must not be ${other}, which has other readers: choose another port`];
    expect(mistakesIn({ ADMIN_PORT: '9465', PORT: '9465' })).toEqual(said('PORT'));
    expect(mistakesIn({ ADMIN_PORT: '9465', METRICS_PORT: '9465' })).toEqual(said('METRICS_PORT'));
    expect(mistakesIn({ ADMIN_PORT: '0', PORT: '0', METRICS_PORT: '0' })).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['none', false],
    ['1', 1],
    ['2', 2],
    ['loopback', ['loopback']],
    ['10.0.0.0/8, fd00::/8,uniquelocal', ['10.0.0.0/8', 'fd00::/8', 'uniquelocal']],
  ])('reads TRUST_PROXY=%s', (TRUST_PROXY, trustProxy) => {
    expect(loadConfig({ TRUST_PROXY }).http.trustProxy).toEqual(trustProxy);
  });

  it('reads lists, and drops the slash at the end of addresses', () => {
    const config = loadConfig({
      CORS_ORIGINS: 'https://a.example, http://localhost:3000, capacitor://localhost,',
      ALLOWED_REGIONS: '44,US, 870',
      PUBLIC_URL: 'https://a.example/accounts/',
      SESSION_SECRETS: `${'x'.repeat(32)}, ${'y'.repeat(40)}`,
    });
    expect(config.http).toMatchObject({
      corsOrigins: ['https://a.example', 'http://localhost:3000', 'capacitor://localhost'],
      publicUrl: 'https://a.example/accounts',
    });
    expect(config.verification.allowedRegions).toEqual(['44', 'US', '870']);
    expect(config.secrets.session).toEqual(['x'.repeat(32), 'y'.repeat(40)]);
  });

  it.each(['+447400000000', '12345', 'MyApp', 'Shop 24'])('sends codes from TWILIO_FROM=%s', (TWILIO_FROM) => {
    expect(loadConfig({ ...productionEnv(), TWILIO_FROM }).sms.senders.twilio).toMatchObject({ from: TWILIO_FROM });
  });

  it.each([
    ['ALLOWED_REGIONS', 'US,UK', 'UK is written GB'],
    ['ALLOWED_REGIONS', 'us', 'us is written US'],
    ['ALLOWED_REGIONS', 'Germany', 'Germany is written DE'],
    ['ALLOWED_REGIONS', '+44', '+44 is written 44'],
    ['WEBHOOK_NETWORKS', '10.0.0.0', 'did you mean 10.0.0.0/8?'],
    ['WEBHOOK_NETWORKS', '172.16.0.0,fd00::/8', 'did you mean 172.16.0.0/16?'],
    ['TRUST_PROXY', '192.168.1.0', 'did you mean 192.168.1.0/24?'],
    ['SMS_PROVIDER', 'Twilio', 'did you mean twilio?'],
    ['SMS_PROVIDER', 'whatsap', 'did you mean whatsapp?'],
    ['NODE_ENV', 'Production', 'did you mean production?'],
  ])('tells with %s=%s which value is probably meant', (name, value, hint) => {
    const [mistake = ''] = mistakesIn({ [name]: value });
    expect(mistake.startsWith(`${name}: must be `)).toBe(true);
    expect(mistake.endsWith(`: ${hint}`)).toBe(true);
  });

  it('takes one address that ends in zeros as a network of its own only with /32', () => {
    const { webhookNetworks } = loadConfig({ WEBHOOK_NETWORKS: '10.0.0.0/32,10.0.0.7' });
    expect(['10.0.0.0', '10.0.0.7', '10.0.0.1'].map((one) => webhookNetworks.check(one))).toEqual([true, true, false]);
  });

  it('gives metrics a port of their own', () => {
    const said = 'METRICS_PORT: must not be PORT, which has other readers: choose another port';
    expect(mistakesIn({ PORT: '9464', METRICS_PORT: '9464' })).toEqual([said]);
    expect(mistakesIn({ PORT: '0', METRICS_PORT: '0' })).toEqual([]);
  });

  it.each([undefined, 'console', 'Twilio', 'sns'])(
    'asks for no keys of a vendor with SMS_PROVIDER=%s',
    (SMS_PROVIDER) => {
      const unset = Object.keys(productionEnv()).filter((name) => name.startsWith('TWILIO_'));
      const env = { ...productionEnv(), ...Object.fromEntries(unset.map((name) => [name, undefined])), SMS_PROVIDER };
      expect(mistakesIn(env)).toEqual([expect.stringMatching(/^SMS_PROVIDER: /)]);
    },
  );

  it('shortens the default of SESSION_DAYS to SESSION_MAX_DAYS', () => {
    expect(loadConfig({ SESSION_MAX_DAYS: '7' }).sessions).toEqual({ days: 7, maxDays: 7 });
  });

  it('keeps secrets apart from values that may be logged', () => {
    const { secrets, ...rest } = loadConfig({
      ...productionEnv(),
      DATABASE_URL: 'postgresql://a:hunter2@b/c',
      DATABASE_MIGRATION_URL: 'postgresql://owner@b/c',
      DATABASE_MIGRATION_PASSWORD: 'hunter3',
    });
    expect(secrets.databaseUrl).toContain('hunter2');
    expect(secrets.migrationUrl).toContain('hunter3');
    for (const value of Object.values(secrets).flat()) if (value) expect(JSON.stringify(rest)).not.toContain(value);
  });

  it('takes the address for migrations, or by default that of the service', () => {
    const [DATABASE_URL, DATABASE_MIGRATION_URL] = ['postgresql://a@b/c', 'postgresql://owner@b/c'];
    expect(loadConfig({ DATABASE_URL, DATABASE_MIGRATION_URL }).secrets).toMatchObject({
      databaseUrl: DATABASE_URL,
      migrationUrl: DATABASE_MIGRATION_URL,
    });
    expect(loadConfig({ DATABASE_URL }).secrets).toMatchObject({
      databaseUrl: DATABASE_URL,
      migrationUrl: DATABASE_URL,
    });
    expect(mistakesIn({ DATABASE_MIGRATION_URL })).toEqual([expect.stringMatching(/^DATABASE_URL: set it/)]);
  });

  // guard config-8: a database password may hold any characters
  // src/database/database-url.ts
  // - encodeURIComponent(password)
  // + password
  it.each([`p@ss/w:rd #1?&%41'"\\`, 'plain', '%', '::@@//'])(
    'reads the password %s from its own variable',
    (password) => {
      const { secrets } = loadConfig({ DATABASE_URL: 'postgresql://a@b:5/c', DATABASE_PASSWORD: password });
      expect(new Client(secrets.databaseUrl)).toMatchObject({ user: 'a', password, host: 'b', port: 5, database: 'c' });
      for (const DATABASE_URL of [undefined, 'postgresql://a:own@b/c'])
        expect(mistakesIn({ DATABASE_URL, DATABASE_PASSWORD: password })).toEqual([
          expect.stringMatching(/^DATABASE_PASSWORD: needs a DATABASE_URL without/),
        ]);
    },
  );

  it.each([
    [{ SMS_PROVIDER: 'twilio' }, ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_FROM']],
    [{ SMS_PROVIDER: 'twilio-verify' }, ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_VERIFY_SERVICE_SID']],
    [{ SMS_PROVIDER: 'whatsapp' }, ['WHATSAPP_TOKEN', 'WHATSAPP_PHONE_NUMBER_ID', 'WHATSAPP_TEMPLATE']],
    [{ SMS_PROVIDER: 'telegram' }, ['TELEGRAM_GATEWAY_TOKEN']],
    [{ SMS_PROVIDER: 'http' }, ['SMS_HTTP_URL', 'SMS_HTTP_SECRET']],
    [{ MESSAGING_PROVIDER: 'rongcloud' }, ['RONGCLOUD_APP_KEY', 'RONGCLOUD_APP_SECRET']],
    [{ CAPTCHA_PROVIDER: 'turnstile' }, ['CAPTCHA_SITE_KEY', 'CAPTCHA_SECRET_KEY']],
    [{ STORAGE_PROVIDER: 'qiniu' }, ['QINIU_ACCESS_KEY', 'QINIU_SECRET_KEY', 'QINIU_BUCKET', 'QINIU_DOMAIN']],
  ])('with %j names each variable that is missing', (env, names) => {
    const mistakes = mistakesIn(env);
    expect(mistakes.map((mistake) => mistake.split(':')[0])).toEqual(names);
    for (const mistake of mistakes) expect(mistake).toMatch(/: set it.*needs it$/);
  });

  it.each(['images.example', 'images.example:8080', 'https://images.example'])(
    'gives clients QINIU_DOMAIN=%s as it stands',
    (QINIU_DOMAIN) => {
      const qiniu = { STORAGE_PROVIDER: 'qiniu', QINIU_ACCESS_KEY: 'a', QINIU_SECRET_KEY: 's', QINIU_BUCKET: 'b' };
      expect(loadConfig({ ...qiniu, QINIU_DOMAIN }).storage).toMatchObject({ domain: QINIU_DOMAIN });
    },
  );

  it.each(['only', 'https://images.example'])(
    'refuses a second place for images: Qiniu together with IMAGES=%s',
    (IMAGES) => {
      const QINIU = { QINIU_ACCESS_KEY: 'a', QINIU_SECRET_KEY: 's', QINIU_BUCKET: 'b', QINIU_DOMAIN: 'images.example' };
      const mistakes = mistakesIn({ STORAGE_PROVIDER: 'qiniu', ...QINIU, IMAGES });
      expect(mistakes).toEqual([expect.stringMatching(/^IMAGES: unset it with STORAGE_PROVIDER=qiniu/)]);
    },
  );

  it.each([
    ['https://images.example', true],
    ['https://10.1.2.3', false],
  ])('with IMAGES=%s, allows portraits only on public hosts in production: %s', (IMAGES, publicOnly) => {
    expect(loadConfig({ ...productionEnv(), IMAGES }).portraits).toMatchObject({ publicOnly });
  });

  it("uses Cloudflare's Turnstile by default", () => {
    const keys = { CAPTCHA_PROVIDER: 'turnstile', CAPTCHA_SITE_KEY: 'site', CAPTCHA_SECRET_KEY: 'secret' };
    expect(loadConfig(keys).captcha).toEqual({
      provider: 'turnstile',
      siteKey: 'site',
      secretKey: 'secret',
      verifyUrl: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
      scriptUrl: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    });
  });

  it('accepts a messaging service instead of a number for Twilio', () => {
    const { TWILIO_FROM: _from, ...env } = productionEnv();
    expect(mistakesIn({ ...env, TWILIO_MESSAGING_SERVICE_SID: 'MG1' })).toEqual([]);
  });
});

describe('loadConfig in production', () => {
  // guard config-17: in production a code without a password signs in only if the operator says so
  // src/config/sections/sessions.ts
  // - production: 'required',
  it('lets a code without a password sign in only if that is set', () => {
    const required = (env = {}) => loadConfig({ ...productionEnv(), ...env }).tokenLogins.passwordRequired;
    expect([required(), required({ PASSWORDS: 'optional' })]).toEqual([true, false]);
  });

  it('accepts the required settings, and has the strict defaults', () => {
    expect(loadConfig(productionEnv())).toMatchObject({
      production: true,
      verification: { phoneCheck: 'mobile', spendGuard: 'enforce' },
      storage: { maxBytesPerUser: 100 * 1_024 * 1_024, minFreeBytes: 1_024 * 1_024 * 1_024 },
      limits: {
        ...amounts({ sendPerAddress: 200, sendPerAddressWithCaptcha: 1_000, loginFailuresPerAddress: 500 }),
        ...amounts({ checksPerMinute: 600, checksPerDay: 20_000, verifiesPerMinute: 600, verifiesPerDay: 20_000 }),
        ...amounts({ pageKibPerHour: 100_000, changesPerHour: 30, displayNamesPerHour: 600, uploadsPerHour: 30 }),
        ...amounts({ loginsPerPhoneAndAddress: 60, loginsPerPhone: 500, passwordChangesPerHour: 10 }),
        ...amounts({ newDeviceNoticesPerAddress: 20, uploadPartsPerHour: 600, blacklistAddsPerHour: 600 }),
        ...amounts({ groupChangesPerHour: 2_000 }),
      },
      maxBlacklist: 2_000,
      mostFriendships: { friends: 5_000, requests: 1_000 },
    });
  });

  it('lets every strict default be set', () => {
    const config = loadConfig({ ...productionEnv(), PHONE_CHECK: 'possible', CHECKS_PER_IP_MINUTE: '0' });
    expect(config).toMatchObject({ verification: { phoneCheck: 'possible' }, limits: amounts({ checksPerMinute: 0 }) });
  });

  // guard config-2: production sends nothing to Twilio over HTTP
  // src/integrations/senders/twilio/settings.ts
  // - https: 'codes and the account are sent there',
  // guard config-3: production does not trust pages that come over HTTP
  // src/config/sections/clients.ts
  // - https: 'anyone on the network path can change a page that is sent over HTTP',
  // guard config-4: production does not trust more proxies than can exist
  // src/config/sections/clients.ts
  // - proxies > MOST_PROXIES,
  // + proxies > 1_000,
  // guard config-16: production sends no code to an endpoint over HTTP
  // src/integrations/senders/http/settings.ts
  // - https: 'codes are sent there',
  // guard config-12: production sends nothing to WhatsApp over HTTP
  // src/integrations/senders/whatsapp/settings.ts
  // - https: 'codes and the token are sent there',
  // guard config-13: production sends nothing to Telegram over HTTP
  // src/integrations/senders/telegram/settings.ts
  // - https: 'codes and the token are sent there',
  // guard config-19: production finds HTTP in an address however it is written
  // src/base/formats.ts
  // - .replace(/^https?:/i, (scheme) => scheme.toLowerCase())
  it.each<[string, Record<string, string | undefined>, RegExp]>([
    ['no DATABASE_URL', { DATABASE_URL: undefined }, /^DATABASE_URL: set it.*embedded/],
    ['no SESSION_SECRETS', { SESSION_SECRETS: undefined }, /^SESSION_SECRETS: set it.*openssl rand -hex 32/],
    ['no SMS_PROVIDER', { SMS_PROVIDER: undefined }, /^SMS_PROVIDER: set it to one of twilio, /],
    ['SMS_PROVIDER=console', { SMS_PROVIDER: 'console' }, /^SMS_PROVIDER: set it to one of twilio, /],
    ['SMS_PROVIDER=file', { SMS_PROVIDER: 'file' }, /^SMS_PROVIDER: set it to one of twilio, /],
    ['no STORAGE_PROVIDER', { STORAGE_PROVIDER: undefined }, /^STORAGE_PROVIDER: set it to qiniu, or to local/],
    ['no MESSAGING_JWT_KEY', { MESSAGING_JWT_KEY: undefined }, /^MESSAGING_JWT_KEY: set it.*openssl genpkey/],
    ['no PUBLIC_URL', { PUBLIC_URL: undefined }, /^PUBLIC_URL: set it to the https address/],
    ['a PUBLIC_URL without HTTPS', { PUBLIC_URL: 'http://a.example' }, /^PUBLIC_URL: must start with https/],
    ['HTTP in capitals', { PUBLIC_URL: 'HTTP://a.example' }, /^PUBLIC_URL: must start with https/],
    ['no TRUST_PROXY', { TRUST_PROXY: undefined }, /^TRUST_PROXY: set it to the number of proxies/],
    ['a letter repeated', { SESSION_SECRETS: 'a'.repeat(64) }, /^SESSION_SECRETS: each needs to be random.*openssl/],
    [
      'tokens that come over HTTP',
      { RONGCLOUD_API_URL: 'http://a.example' },
      /^RONGCLOUD_API_URL: must start with https/,
    ],
    ['images that are kept over HTTP', { IMAGES: 'http://a.example' }, /^IMAGES: must start with https/],
    ['tokens that go over HTTP', { QINIU_UPLOAD_URL: 'http://a.example' }, /^QINIU_UPLOAD_URL: must start with https/],
    ['codes that go over HTTP', { SMS_HTTP_URL: 'http://a.example' }, /^SMS_HTTP_URL: must start with https/],
    ['WhatsApp over HTTP', { WHATSAPP_API_URL: 'http://a.example' }, /^WHATSAPP_API_URL: must start with https/],
    ['Telegram over HTTP', { TELEGRAM_API_URL: 'http://a.example' }, /^TELEGRAM_API_URL: must start with https/],
    ['Twilio over HTTP', { TWILIO_API_URL: 'http://a.example' }, /^TWILIO_API_URL: must start with https/],
    [
      'a captcha that is checked over HTTP',
      { CAPTCHA_VERIFY_URL: 'http://a.example' },
      /^CAPTCHA_VERIFY_URL: must start/,
    ],
    ['a script that comes over HTTP', { CAPTCHA_SCRIPT_URL: 'http://a.example' }, /^CAPTCHA_SCRIPT_URL: must start/],
    ['pages that come over HTTP', { CORS_ORIGINS: 'https://a.example,http://b.example' }, /^CORS_ORIGINS: must start/],
    ['more proxies than there are', { TRUST_PROXY: '11' }, /^TRUST_PROXY: must be at most 10/],
    [
      'a key that is sent to a collector over HTTP',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a.example', OTEL_EXPORTER_OTLP_HEADERS: 'key=a' },
      /^OTEL_EXPORTER_OTLP_ENDPOINT: must start/,
    ],
    ['a low BCRYPT_COST', { BCRYPT_COST: '9' }, /^BCRYPT_COST: set it to 10 or more/],
  ])('refuses %s in one line that names the variable and the remedy', (_case, env, line) => {
    const mistakes = mistakesIn({ ...productionEnv(), ...env });
    expect(mistakes).toEqual([expect.stringMatching(line)]);
  });

  // guard config-1: production requires random secrets
  // src/config/sections/sessions.ts
  // - return isRepeated || new Set(secret).size < LEAST_CHARACTERS ||
  // + return isRepeated ||
  // guard config-5: production refuses a guessable secret for signing
  // src/config/sections/sessions.ts
  // - return isRepeated || new Set(secret).size < LEAST_CHARACTERS || GUESSED_FIRST.test(secret);
  // + return isRepeated && false;
  it.each([
    ['a word repeated', 'changeme'.repeat(8)],
    ['random characters repeated', 'aK3-xQ9_zT1w'.repeat(3)],
    ['all digits, again and again', '0123456789'.repeat(4)],
    ['a word that many would try', 'my-dog-Rex-is-a-Password-of-27-kg'],
    ['the alphabet', 'abcdefghijklmnopqrstuvwxyz0246813579'],
    ['few characters in disorder', 'xyzzyxzyxxzyyxzzxyxzyzxxyzyxzzyx'],
  ])('refuses a guessable value of SESSION_SECRETS: %s', (_case, SESSION_SECRETS) => {
    const mistakes = mistakesIn({ ...productionEnv(), SESSION_SECRETS });
    expect(mistakes).toEqual([expect.stringMatching(/^SESSION_SECRETS: each needs to be random/)]);
  });

  it('accepts STORAGE_PROVIDER=local and TRUST_PROXY=none when they are set', () => {
    expect(mistakesIn({ ...productionEnv(), STORAGE_PROVIDER: 'local', TRUST_PROXY: 'none' })).toEqual([]);
  });

  it('does not need MESSAGING_JWT_KEY with another provider', () => {
    const rongcloud = { MESSAGING_PROVIDER: 'rongcloud', RONGCLOUD_APP_KEY: 'k', RONGCLOUD_APP_SECRET: 's' };
    expect(mistakesIn({ ...productionEnv(), ...rongcloud, MESSAGING_JWT_KEY: undefined })).toEqual([]);
  });

  it('needs MESSAGING_JWT_KEY with another provider when it signs tokens for other services', () => {
    const rongcloud = { MESSAGING_PROVIDER: 'rongcloud', RONGCLOUD_APP_KEY: 'k', RONGCLOUD_APP_SECRET: 's' };
    const env = { ...productionEnv(), ...rongcloud, TOKEN_AUDIENCES: 'reports,https://calls.example.com' };
    expect(mistakesIn(env)).toEqual([]);
    expect(mistakesIn({ ...env, MESSAGING_JWT_KEY: undefined })).toEqual([
      expect.stringMatching(/^MESSAGING_JWT_KEY: set it/),
    ]);
  });

  // guard config-10: messaging servers can refuse tokens that are for other services
  // src/integrations/messaging/jwt/settings.ts
  // - if (audiences.length > 0) need('MESSAGING_JWT_AUDIENCE', () => 'TOKEN_AUDIENCES needs it to tell tokens apart');
  // guard config-11: no service has the audience of messaging
  // src/integrations/messaging/jwt/settings.ts
  // - if (audience !== undefined && audiences.includes(audience))
  // + if (audience === undefined && audiences.includes(String(audience)))
  it('needs audiences that differ, so that messaging servers can refuse tokens for others', () => {
    expect(mistakesIn({ TOKEN_AUDIENCES: 'reports' })).toEqual([
      expect.stringMatching(/^MESSAGING_JWT_AUDIENCE: set it, TOKEN_AUDIENCES needs it/),
    ]);
    expect(mistakesIn({ TOKEN_AUDIENCES: 'reports', MESSAGING_JWT_AUDIENCE: 'chat' })).toEqual([]);
    expect(mistakesIn({ TOKEN_AUDIENCES: 'reports,chat', MESSAGING_JWT_AUDIENCE: 'chat' })).toEqual([
      expect.stringMatching(/^TOKEN_AUDIENCES: must not contain MESSAGING_JWT_AUDIENCE/),
    ]);
  });

  it('names all missing settings at once', () => {
    expect(mistakesIn({ NODE_ENV: 'production' }).map((mistake) => mistake.split(':')[0])).toEqual([
      'DATABASE_URL',
      'SESSION_SECRETS',
      'SMS_PROVIDER',
      'STORAGE_PROVIDER',
      'MESSAGING_JWT_KEY',
      'PUBLIC_URL',
      'TRUST_PROXY',
      'SEND_CODE_PER_DAY',
    ]);
  });
});

/** The variables of senders that reach phones. */
const OTHER_SENDERS: [SenderName, Record<string, string>][] = [
  ['twilio-verify', { TWILIO_ACCOUNT_SID: 'AC1', TWILIO_AUTH_TOKEN: 't'.repeat(32), TWILIO_VERIFY_SERVICE_SID: 'VA1' }],
  ['whatsapp', { WHATSAPP_TOKEN: 't', WHATSAPP_PHONE_NUMBER_ID: '106540352242922', WHATSAPP_TEMPLATE: 'code' }],
  ['telegram', { TELEGRAM_GATEWAY_TOKEN: 't' }],
  ['http', { SMS_HTTP_URL: 'https://sms.example', SMS_HTTP_SECRET: `whsec_${'aB3+'.repeat(11)}` }],
];

describe('SMS_PROVIDER', () => {
  it.each(OTHER_SENDERS)('may be %s in production, with its own settings only', (name, env) => {
    const { TWILIO_ACCOUNT_SID: _sid, TWILIO_AUTH_TOKEN: _token, TWILIO_FROM: _from, ...rest } = productionEnv();
    const { sms } = loadConfig({ ...rest, ...env, SMS_PROVIDER: name });
    expect(Object.keys(sms.senders)).toEqual([name]);
    expect(sms.routes.routes['*']).toEqual([
      [{ sender: name, channel: SENDERS[name].channels[0], weight: 1, cost: 1 }],
    ]);
    expect(sms.reachesPhones).toBe(true);
  });
});

describe('SMS_ROUTES', () => {
  const folder = mkdtempSync(join(tmpdir(), 'accounts-routes-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const fileOf = (content: unknown) => {
    const path = join(folder, 'routes.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const withRoutes = (content: unknown, env = {}) => ({ ...env, SMS_ROUTES: fileOf(content) });

  it('leaves countries without a route to SMS_PROVIDER, and counts a call as three messages unless it is told', () => {
    const given = [{ 'file sms': 3, console: 1 }, 'file voice', { 'console voice': { cost: 7 } }];
    const { sms } = loadConfig(withRoutes({ routes: { GB: given } }));
    const [sms3, sms1] = [
      { sender: 'file', channel: 'sms', weight: 3, cost: 1 },
      { sender: 'console', channel: 'sms', weight: 1, cost: 1 },
    ];
    const calls = [
      [{ sender: 'file', channel: 'voice', weight: 1, cost: 3 }],
      [{ sender: 'console', channel: 'voice', weight: 1, cost: 7 }],
    ];
    expect(sms.routes.routes.GB).toEqual([[sms3, sms1], ...calls]);
    expect(sms.routes.routes['*']?.[0]).toEqual([sms1]);
    expect(Object.keys(sms.senders)).toEqual(['console', 'file']);
  });

  it.each<[string, unknown, RegExp]>([
    [
      'a file that is not JSON',
      '{"routes": {\n"GB" ["console"]}}',
      /^SMS_ROUTES: must be the path of a file that is JSON: look at line 2 column 6$/,
    ],
    [
      'a comma too many',
      '{"routes": {\n"GB": ["a,]", "console" ,\n]}}',
      /^SMS_ROUTES: must be the path of a file that is JSON: line 2 column 25 has a comma too many$/,
    ],
    ['an unknown way', { routes: { GB: ['pigeon'] } }, /^SMS_ROUTES: routes\.GB\[0\]: pigeon is not a way/],
    ['a channel that the sender lacks', { routes: { GB: ['twilio telegram'] } }, /twilio telegram is not a way/],
    ['an unknown country', { routes: { UK: ['console'] } }, /^SMS_ROUTES: UK: must be a country.*: UK is written GB$/],
    ['a route without steps', { routes: { GB: [] } }, /^SMS_ROUTES: routes\.GB: /],
    ['a weight of 0', { routes: { GB: [{ console: 0 }] } }, /^SMS_ROUTES: routes\.GB\[0\]/],
    ['a way that costs nothing', { routes: { GB: [{ console: { cost: 0 } }] } }, /^SMS_ROUTES: routes\.GB\[0\]/],
  ])('refuses %s', (_case, content, line) => {
    expect(mistakesIn(withRoutes(content))).toEqual([expect.stringMatching(line)]);
  });

  it('tells of an unknown country beside another mistake of the file', () => {
    expect(mistakesIn(withRoutes({ routes: { UK: ['console'], GB: ['pigeon'] } }))).toEqual([
      expect.stringMatching(/^SMS_ROUTES: routes\.GB\[0\]: pigeon/),
      expect.stringMatching(/^SMS_ROUTES: UK: must be a country/),
    ]);
  });

  it('refuses a file that is not there', () => {
    const mistake = 'SMS_ROUTES: must be the path of a file that is readable (ENOENT)';
    expect(mistakesIn({ SMS_ROUTES: join(folder, 'none.json') })).toEqual([mistake]);
  });

  it('refuses a way whose sender is not set up', () => {
    const mistakes = mistakesIn(withRoutes({ routes: { GB: ['twilio'] } }));
    expect(mistakes).toContainEqual(expect.stringMatching(/^TWILIO_ACCOUNT_SID: set it/));
  });

  // guard config-14: calls by Twilio have a number to call from
  // src/integrations/senders/twilio/settings.ts
  // - if (channels.includes('voice') && !env.TWILIO_FROM?.startsWith('+'))
  // + if (false)
  it.each([{ TWILIO_FROM: undefined, TWILIO_MESSAGING_SERVICE_SID: 'MG1' }, { TWILIO_FROM: 'MyApp' }])(
    'refuses calls by Twilio without a number to call from: %j',
    (given) => {
      const mistakes = mistakesIn(withRoutes({ routes: { GB: ['twilio voice'] } }, { ...productionEnv(), ...given }));
      expect(mistakes).toEqual([expect.stringMatching(/^TWILIO_FROM: set it to a number: twilio voice calls/)]);
      expect(mistakesIn(withRoutes({ routes: { GB: ['twilio voice'] } }, productionEnv()))).toEqual([]);
    },
  );

  // guard config-15: a route in production does not show codes
  // src/config/sections/sms.ts
  // - if (isProduction && env.SMS_ROUTES !== undefined &&
  // + if (false &&
  it('refuses, in production, a way that shows codes', () => {
    const mistakes = mistakesIn(withRoutes({ routes: { GB: ['console'] } }, productionEnv()));
    expect(mistakes).toEqual([expect.stringMatching(/^SMS_ROUTES: must not lead to console or file/)]);
  });

  // guard config-18: routes in production do not hide a provider that shows codes
  // src/config/sections/sms.ts
  // - : SENDERS[SMS_PROVIDER].forDevelopment;
  // + : SMS_ROUTES === undefined && SENDERS[SMS_PROVIDER].forDevelopment;
  it.each(['console', 'file'])(
    'refuses, in production, SMS_PROVIDER=%s beside routes for all countries',
    (provider) => {
      const env = (own: string | undefined) =>
        withRoutes({ routes: { '*': ['twilio'] } }, { ...productionEnv(), SMS_PROVIDER: own });
      expect(mistakesIn(env(provider))).toEqual([expect.stringMatching(/^SMS_PROVIDER: set it to one of twilio, /)]);
      expect(mistakesIn(env(undefined))).toEqual([]);
    },
  );

  it('refuses notices where a route has no SMS for them', () => {
    const mistakes = mistakesIn(withRoutes({ routes: { GB: ['console voice'] } }, { NOTIFY: 'sms' }));
    expect(mistakes).toEqual([expect.stringMatching(/^NOTIFY: the route of GB in SMS_ROUTES has no SMS/)]);
  });
});

describe('.env.example', () => {
  const example = readFileSync(join(__dirname, '../../.env.example'), 'utf8');

  it('shows the defaults', () => {
    expect(loadConfig(parse(example))).toEqual(loadConfig({}));
  });

  it('shows the defaults of production only commented out', () => {
    const commentedOut = Object.fromEntries(
      [...example.matchAll(/^# ([A-Z_]+)=(.+)$/gm)].map(([, name, value]) => [name ?? '', value]),
    );
    expect(Object.keys(commentedOut)).toEqual(expect.arrayContaining(['SEND_CODE_PER_IP_HOUR', 'CHECKS_PER_IP_DAY']));
    const production = productionEnv();
    expect(loadConfig({ ...production, ...commentedOut })).toEqual(loadConfig(production));
  });
});
