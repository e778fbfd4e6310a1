import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse as parseEnv } from 'dotenv';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/config';
import { interpolate } from '../support/compose';
import { rememberSecret } from '../support/secrets';
import { ROOT } from '../support/service-process';

const SID = `AC${'0123456789abcdef'.repeat(2)}`;
const SERVICE = `MG${'0123456789abcdef'.repeat(2)}`;
const TOKEN = rememberSecret('fedcba98765432100123456789abcdef');
const ENDPOINT_SECRET = rememberSecret('whsec_c2V0dXAgc2VjcmV0IG9mIHRoaXJ0eS10d28gYnl0ZXM=');
const ANSWERS = ['accounts.example', SID, TOKEN, '+447400000000', '1000'];
const MADE = [
  'SESSION_SECRETS',
  'MESSAGING_JWT_KEY',
  'POSTGRES_PASSWORD',
  'DATABASE_PASSWORD',
  'DATABASE_MIGRATION_PASSWORD',
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'accounts-setup-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function setUp({ answers = [] as string[], args = [] as string[], env = {} } = {}) {
  const command = [join(ROOT, 'scripts/launch/run.mjs'), 'scripts/operate/setup.ts', ...args];
  const { stdout, stderr, status } = spawnSync(process.execPath, command, {
    cwd: folder,
    input: answers.map((answer) => `${answer}\n`).join(''),
    env: { PATH: process.env.PATH, ...env },
  });
  return { told: stdout.toString(), refused: stderr.toString(), status };
}

const written = () => readFileSync(join(folder, '.env'), 'utf8');

/** Returns what the compose file passes to the service: .env, and its own variables. */
function environmentOfService(): Record<string, string> {
  const env = parseEnv(written());
  const file = interpolate(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), env);
  const { services } = parse(file, { merge: true, schema: 'failsafe' }) as {
    services: { service: { environment: Record<string, string> } };
  };
  return { ...env, ...services.service.environment };
}

describe('npm run setup', () => {
  // guard setup-3: the secrets that setup makes are readable only by the user who made them
  // scripts/operate/setup.ts
  // - mode: 0o600
  // + mode: 0o644
  it('asks, and writes an .env with which the service starts in production', () => {
    const { status, told } = setUp({ answers: ANSWERS });
    expect({ status, told }).toMatchObject({ status: 0 });
    expect(told.match(/: /g)).toHaveLength(ANSWERS.length);
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
    const config = loadConfig(environmentOfService());
    expect(config).toMatchObject({
      production: true,
      http: { publicUrl: 'https://accounts.example', trustProxy: 1 },
      sms: { senders: { twilio: { accountSid: SID, authToken: TOKEN, from: '+447400000000' } } },
      storage: { provider: 'local' },
      limits: { sendInAll: { amount: 3_000 } },
    });
    const { DATABASE_PASSWORD, DATABASE_MIGRATION_PASSWORD } = parseEnv(written());
    expect(config.secrets).toMatchObject({
      databaseUrl: `postgresql://accounts_service:${DATABASE_PASSWORD}@postgres:5432/accounts`,
      migrationUrl: `postgresql://accounts_owner:${DATABASE_MIGRATION_PASSWORD}@postgres:5432/accounts`,
    });
  });

  it('makes new secrets each time, and shows none', () => {
    const secretsOf = () => {
      const { told } = setUp({ answers: ANSWERS });
      const settings = parseEnv(written());
      const all = MADE.map((name) => settings[name] ?? '');
      rmSync(join(folder, '.env'));
      for (const made of [...all, TOKEN]) {
        expect(made.length).toBeGreaterThanOrEqual(32);
        expect(told).not.toContain(made);
      }
      return all;
    };
    expect(new Set([...secretsOf(), ...secretsOf()]).size).toBe(2 * MADE.length);
  });

  it('repeats a question until the answer can be right', () => {
    const { status, told } = setUp({ answers: ['https://accounts.example/', ...ANSWERS] });
    expect(status).toBe(0);
    expect(told).toContain('It has to look otherwise');
    expect(parseEnv(written()).DOMAIN).toBe('accounts.example');
  });

  it('does not ask for what arguments or the environment give', () => {
    const env = { DOMAIN: 'b.example', TWILIO_ACCOUNT_SID: SID, TWILIO_AUTH_TOKEN: TOKEN };
    const args = [
      'DOMAIN=accounts.example',
      `TWILIO_FROM=${SERVICE}`,
      'SMS_TEXT=It is {code}, $1',
      'SEND_CODE_PER_DAY=500',
    ];
    const { status, told } = setUp({ env, args });
    expect({ status, told }).toMatchObject({ status: 0, told: expect.not.stringContaining(': ') as string });
    const config = loadConfig(environmentOfService());
    expect(config).toMatchObject({
      http: { publicUrl: 'https://accounts.example' },
      sms: { senders: { twilio: { from: undefined, messagingServiceSid: SERVICE } } },
      words: { replaced: { code: 'It is {code}, $1' } },
    });
  });

  it('accepts the arguments of docs/deploying.md, with which the service starts', () => {
    const page = readFileSync(join(ROOT, 'docs/deploying.md'), 'utf8');
    const [, args = ''] = /^npm run setup -- (.+)$/m.exec(page) ?? [];
    const { status, told } = setUp({ args: args.split(' '), answers: ANSWERS.slice(1) });
    expect({ status, told }).toMatchObject({ status: 0 });
    const given = parseEnv(args.replaceAll(' ', '\n'));
    expect(Object.keys(given).length).toBeGreaterThan(1);
    expect(parseEnv(written())).toMatchObject(given);
    expect(() => loadConfig(environmentOfService())).not.toThrow();
  });

  it('asks for your own database if the database of the compose file is left out', () => {
    const [domain = '', ...twilio] = ANSWERS;
    const url = 'postgresql://me:mine@db.example:5432/accounts';
    const { status } = setUp({ args: ['COMPOSE_PROFILES=proxy'], answers: [domain, url, ...twilio] });
    expect(status).toBe(0);
    expect(loadConfig(environmentOfService()).secrets).toMatchObject({ databaseUrl: url, migrationUrl: url });
  });

  // guard setup-4: the .env that the package writes turns the strict defaults of production on
  // scripts/operate/setup.ts
  // - NODE_ENV: 'production', TRUST_PROXY
  // + TRUST_PROXY
  it('writes in a package, which has no compose file, all that production needs', () => {
    const [domain = '', ...twilio] = ANSWERS;
    const url = 'postgresql://me:mine@db.example:5432/accounts';
    const env = { ACCOUNTS_COMMAND: 'npx user-account-service' };
    const { status, told } = setUp({ env, answers: [domain, url, ...twilio] });
    expect({ status, told }).toMatchObject({ status: 0 });
    expect(loadConfig(parseEnv(written()))).toMatchObject({
      production: true,
      http: { publicUrl: 'https://accounts.example', trustProxy: 1 },
      secrets: { databaseUrl: url, migrationUrl: url },
    });
  });

  it('does not ask for keys of Twilio with another sender', () => {
    const [domain = '', , , , users = ''] = ANSWERS;
    const args = ['SMS_PROVIDER=http', 'SMS_HTTP_URL=https://sms.example/take', `SMS_HTTP_SECRET=${ENDPOINT_SECRET}`];
    const { status, told } = setUp({ args, answers: [domain, users] });
    expect({ status, told }).toMatchObject({ status: 0 });
    const http = { url: 'https://sms.example/take', secrets: [ENDPOINT_SECRET] };
    expect(loadConfig(environmentOfService()).sms.senders).toEqual({ http });
  });

  // guard setup-2: setup does not change an existing .env
  // scripts/operate/setup.ts
  // - if (existsSync(target)) throw new Mistake('there is an .env already, and it stays as it is');
  // scripts/operate/setup.ts
  // - flag: 'wx'
  // + flag: 'w'
  it('does not change an existing .env', () => {
    writeFileSync(join(folder, '.env'), 'MINE=1\n');
    const { status, refused } = setUp({ answers: ANSWERS });
    expect({ status, refused }).toEqual({
      status: 1,
      refused: '\nNothing was written: there is an .env already, and it stays as it is\n',
    });
    expect(written()).toBe('MINE=1\n');
  });

  // guard setup-1: setup does not write settings that the service would refuse
  // scripts/operate/setup.ts
  // - , ...mistakesIn(given)]
  // + ]
  it.each([
    [
      'the service would refuse its settings',
      {
        args: ['TWILIO_FROM=07911123456', 'TWILIO_AUTH_TOKEN=x', 'ALLOWED_REGIONS=UK', 'SEND_CODE_PER_DAY=0'],
        answers: ANSWERS.slice(0, 2),
      },
      /TWILIO_AUTH_TOKEN: must be .*$\n^TWILIO_FROM: must be .*$\n^ALLOWED_REGIONS: .*: UK is written GB$/m,
    ],
    [
      'a session would outlive its maximum',
      { args: ['SESSION_DAYS=100'], answers: ANSWERS },
      /SESSION_DAYS: must be at most SESSION_MAX_DAYS, which is 90/,
    ],
    ['an answer is missing', { answers: ANSWERS.slice(0, 2) }, /TWILIO_AUTH_TOKEN is missing/],
    ['an argument is wrong', { args: ['DOMAIN=x'], answers: ANSWERS }, /DOMAIN: must be this/],
    ['an argument is unknown', { args: ['DOMIAN=a.example'], answers: ANSWERS }, /DOMIAN=a.example: is no NAME=value/],
    ['a value would end its quotes', { args: [`SMS_TEXT={code}'`], answers: ANSWERS }, /SMS_TEXT: may hold no quote/],
  ])('writes nothing, and says why, when %s', (_case, given, why) => {
    const { status, refused } = setUp(given);
    expect({ status, refused }).toEqual({ status: 1, refused: expect.stringMatching(why) as string });
    expect(existsSync(join(folder, '.env'))).toBe(false);
  });
});
