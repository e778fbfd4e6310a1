import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'pg-connection-string';
import { ConfigError, loadConfig, migrationUrlOf } from '../../src/config/config';
import { SECRETS } from '../../src/config/variables';
import { productionEnv } from '../support/production';

const folder = mkdtempSync(join(tmpdir(), 'accounts-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileWith(content: string): string {
  const path = join(folder, String((files += 1)));
  writeFileSync(path, content);
  return path;
}

function mistakesIn(env: Record<string, string | undefined>): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
}

const SAMPLES = {
  ...productionEnv(),
  DATABASE_PASSWORD: 'in a file',
  DATABASE_MIGRATION_URL: 'postgresql://accounts_owner@db.example/accounts',
  DATABASE_MIGRATION_PASSWORD: 'in a file',
  DATABASE_REPLICA_URL: 'postgresql://accounts_service@standby.example/accounts',
  DATABASE_LIMITS_URL: 'postgresql://accounts_service@limits.example/limits',
  MESSAGING_JWT_OLD_KEY: productionEnv().MESSAGING_JWT_KEY,
  RONGCLOUD_APP_SECRET: 'in a file',
  QINIU_SECRET_KEY: 'in a file',
  CAPTCHA_SECRET_KEY: 'in a file',
  SMS_HTTP_SECRET: `whsec_${'aB3+'.repeat(11)}`,
  WHATSAPP_TOKEN: 'in a file',
  WHATSAPP_APP_SECRET: 'in a file',
  WHATSAPP_VERIFY_TOKEN: 'in a file',
  TELEGRAM_GATEWAY_TOKEN: 'in a file',
  OTEL_EXPORTER_OTLP_HEADERS: 'key=in a file',
  TEST_NUMBERS: '+447700900123=271828@2020-01-31',
};
const GIVEN: Record<string, string | undefined> = {
  ...SAMPLES,
  CAPTCHA_PROVIDER: 'turnstile',
  CAPTCHA_SITE_KEY: 'k',
  STORAGE_PROVIDER: 'qiniu',
  QINIU_ACCESS_KEY: 'k',
  QINIU_BUCKET: 'b',
  QINIU_DOMAIN: 'a.example',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a.example',
  SMS_ROUTES: fileWith(JSON.stringify({ routes: { GB: ['http sms', 'whatsapp', 'telegram'] } })),
  SMS_HTTP_URL: 'https://a.example',
  WHATSAPP_PHONE_NUMBER_ID: '1',
  WHATSAPP_TEMPLATE: 'code',
};
const RONGCLOUD: typeof GIVEN = { ...GIVEN, MESSAGING_PROVIDER: 'rongcloud', RONGCLOUD_APP_KEY: 'k' };

describe('a secret in a file', () => {
  it.each(SECRETS)('has the value that %s would have, without the line break at its end', (name) => {
    const given = name === 'RONGCLOUD_APP_SECRET' ? RONGCLOUD : GIVEN;
    const value = given[name];
    for (const end of ['', '\n', '\r\n']) {
      const inFile = { ...given, [name]: undefined, [`${name}_FILE`]: fileWith(`${value}${end}`) };
      expect(loadConfig(inFile)).toEqual(loadConfig(given));
    }
  });

  // guard secret-files-1: a secret that is set twice is a mistake
  // src/config/secret-files.ts
  // - if (given[name]) return `${name}: set this or ${name}_FILE, and not both`;
  it.each(SECRETS)('is refused together with %s, by a mistake that names both', (name) => {
    expect(mistakesIn({ ...GIVEN, [`${name}_FILE`]: fileWith('x') })).toEqual([
      `${name}: set this or ${name}_FILE, and not both`,
    ]);
  });

  it.each([
    ['is not there', join(folder, 'none'), 'ENOENT'],
    ['is a folder', folder, 'EISDIR'],
  ])('that %s is refused in one line', (_case, path, code) => {
    const env = { ...productionEnv(), SESSION_SECRETS: undefined, SESSION_SECRETS_FILE: path };
    expect(mistakesIn(env)).toEqual([`SESSION_SECRETS_FILE: must be the path of a file that can be read (${code})`]);
  });

  it('that is empty is refused, not treated as unset', () => {
    const env = { ...productionEnv(), SESSION_SECRETS: undefined, SESSION_SECRETS_FILE: fileWith('\n') };
    expect(mistakesIn(env)).toEqual(['SESSION_SECRETS_FILE: must be the path of a file that is not empty']);
  });

  // guard secret-files-2: a secret that is set in place of its path is not shown
  // src/config/secret-files.ts
  // - (${codeOf(error) ?? 'unknown error'})
  // + (${String(error)})
  it('is not shown when it is set in place of its path', () => {
    const env = { ...productionEnv(), SESSION_SECRETS: undefined, SESSION_SECRETS_FILE: 'hunter2' };
    expect(mistakesIn(env).join()).not.toContain('hunter2');
  });

  it('counts as unset when its variable is empty', () => {
    expect(mistakesIn({ ...productionEnv(), SESSION_SECRETS_FILE: '' })).toEqual([]);
  });
});

describe('.env.example', () => {
  it('names the secrets that may come from a file', () => {
    const example = readFileSync(join(__dirname, '../../.env.example'), 'utf8');
    const [named = ''] = /(?<=^# A secret may .*\n)(# {3}[A-Z_ ]+\n)+/m.exec(example) ?? [];
    expect(named.match(/[A-Z_]+/g)).toEqual(SECRETS);
  });
});

describe('DATABASE_PASSWORD', () => {
  const DATABASE_URL = 'postgresql://accounts@db.example:5433/accounts?sslmode=disable';

  // guard secret-files-3: a database password is encoded for its address
  // src/database/database-url.ts
  // - encodeURIComponent(password)
  // + password
  it.each(['p@ss/w:rd', '100%41', '#?&=+ ;', `'"\\$\``, 'Пароль', '%'])('may be %s', (DATABASE_PASSWORD) => {
    const { databaseUrl = '' } = loadConfig({ DATABASE_URL, DATABASE_PASSWORD }).secrets;
    expect(parse(databaseUrl)).toMatchObject({
      user: 'accounts',
      password: DATABASE_PASSWORD,
      host: 'db.example',
      port: '5433',
      database: 'accounts',
    });
    expect(migrationUrlOf({ DATABASE_URL, DATABASE_PASSWORD })).toBe(databaseUrl);
  });

  it.each([
    ['no DATABASE_URL', undefined],
    ['one that has a password', 'postgresql://accounts:one@db.example/accounts'],
    ['one that has a password among its options', 'postgresql://accounts@db.example/accounts?password=one'],
    ['one without a host', 'postgresql:///accounts?host=/run/postgresql'],
  ])('is refused with %s', (_case, url) => {
    const env = { DATABASE_URL: url, DATABASE_PASSWORD: 'hunter2' };
    expect(mistakesIn(env)).toEqual([expect.stringMatching(/^DATABASE_PASSWORD: needs a DATABASE_URL/)]);
    expect(mistakesIn(env).join()).not.toContain('hunter2');
    expect(() => migrationUrlOf(env)).toThrow(/DATABASE_PASSWORD: needs a DATABASE_URL/);
  });
});

describe('the address for migrations', () => {
  it('needs no other variable, and may come from a file', () => {
    const DATABASE_URL = 'postgresql://accounts@db.example/accounts';
    const DATABASE_MIGRATION_URL = 'postgresql://accounts_owner@db.example/accounts';
    expect(migrationUrlOf({ DATABASE_URL, DATABASE_MIGRATION_URL })).toBe(DATABASE_MIGRATION_URL);
    expect(migrationUrlOf({ DATABASE_URL, NODE_ENV: 'production' })).toBe(DATABASE_URL);
    expect(migrationUrlOf({ DATABASE_URL_FILE: fileWith(`${DATABASE_URL}\n`) })).toBe(DATABASE_URL);
    expect(migrationUrlOf({})).toBeUndefined();
    expect(() => migrationUrlOf({ DATABASE_URL: 'mysql://a@b/c' })).toThrow(/^DATABASE_URL: must look like postgresql/);
  });
});
