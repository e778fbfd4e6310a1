import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { cloneDatabase, emptyDatabase } from '../support/database';
import { productionEnv } from '../support/production';
import { rememberSecret } from '../support/secrets';
import { ROOT, RUN } from '../support/service-process';
import { makeDataDir, makeUsedDataDir, startService } from '../support/started';
import { until } from '../support/until';

const migrations = readdirSync(join(ROOT, 'migrations'))
  .filter((name) => name.endsWith('.up.sql'))
  .map((name) => name.replace('.up.sql', ''))
  .sort();

describe('npm start with DATABASE_URL', () => {
  it('uses that database, migrates it, and starts no PostgreSQL of its own', async () => {
    const database = await emptyDatabase();
    const DATA_DIR = makeDataDir();
    const service = await (await startService({ DATA_DIR, DATABASE_URL: database.url })).untilReady();
    expect(service.stdout).toContain('Applied migrations: 0001_accounts');
    expect(existsSync(join(DATA_DIR, 'postgres'))).toBe(false);
    await service.stop();
    await database.drop();
  });

  it('logs in with a password from a file that a URL could hold only encoded', async () => {
    const database = await emptyDatabase();
    const password = rememberSecret('p@ss/w:rd%41#of-the-role');
    await query(database.url, `CREATE ROLE behind_a_file LOGIN SUPERUSER PASSWORD '${password}'`);
    const url = new URL(database.url);
    url.username = 'behind_a_file';
    url.password = '';
    const DATA_DIR = makeDataDir();
    mkdirSync(DATA_DIR, { recursive: true });
    const DATABASE_PASSWORD_FILE = join(DATA_DIR, 'password');
    writeFileSync(DATABASE_PASSWORD_FILE, `${password}\n`);
    const env = { DATA_DIR, DATABASE_URL: url.href, DATABASE_PASSWORD_FILE };
    const service = await (await startService(env)).untilReady();
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    await service.stop();
    const rollBack = spawnSync('npm', ['run', 'migrate:rollback'], { cwd: ROOT, env: { ...process.env, ...env } });
    expect(rollBack.stdout.toString()).toContain('was undone');
    writeFileSync(DATABASE_PASSWORD_FILE, 'another');
    const refused = await startService(env);
    expect(await refused.exited).toBe(1);
    expect(refused.stderr).toMatch(/^Cannot start: the database at .* cannot be used: password authentication failed/);
    await query(database.url, 'REASSIGN OWNED BY behind_a_file TO CURRENT_USER');
    await query(database.url, 'DROP ROLE behind_a_file');
    await database.drop();
  });

  it('lets two instances migrate an empty database side by side', async () => {
    const database = await emptyDatabase();
    const env = () => ({ DATA_DIR: makeDataDir(), DATABASE_URL: database.url });
    const both = await Promise.all([startService(env()), startService(env())]);
    await Promise.all(both.map((service) => service.untilReady()));
    await Promise.all(both.map((service) => service.stop()));
    await database.drop();
  });

  it('says in one line, without waiting, that the database cannot be reached', async () => {
    const service = await startService({
      DATA_DIR: makeDataDir(),
      // No process listens on this port: only root may use it, and no protocol is assigned to it any more.
      DATABASE_URL: `postgresql://a:b@127.0.0.1:4/c`,
    });
    expect(await service.exited).toBe(1);
    expect(service.stderr).toMatch(
      /^Cannot start: the database at 127\.0\.0\.1:\d+\/c cannot be used: .*ECONNREFUSED.*\n$/,
    );
    expect(service.stdout).not.toContain('Waiting');
  });

  it('waits for a database that comes up later, and says so', async () => {
    const database = await cloneDatabase();
    const { hostname, port } = new URL(database.url);
    const later = createServer((socket) => {
      const server = connect(Number(port), hostname);
      socket.on('error', () => server.destroy());
      server.on('error', () => socket.destroy());
      socket.pipe(server).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(later, 'listening');
    const url = new URL(database.url);
    url.port = String((later.address() as AddressInfo).port);
    later.close();
    await once(later, 'close');
    const service = await startService({
      DATA_DIR: makeDataDir(),
      DATABASE_URL: url.href,
      DATABASE_WAIT_SECONDS: '60',
    });
    await until(() =>
      /^Waiting for the database at 127\.0\.0\.1:\d+\/.* cannot be used yet: .*ECONNREFUSED/m.test(service.stdout),
    );
    later.listen(Number(url.port), '127.0.0.1');
    await service.untilReady();
    await service.stop();
    later.close();
    await database.drop();
  });

  it('does not wait if waiting cannot help', async () => {
    const database = await cloneDatabase();
    const url = new URL(database.url);
    url.pathname = '/no_such_database';
    const service = await startService({
      DATA_DIR: makeDataDir(),
      DATABASE_URL: url.href,
      DATABASE_WAIT_SECONDS: '3600',
    });
    expect(await service.exited).toBe(1);
    expect(service.stderr).toMatch(/^Cannot start: the database at .*no_such_database cannot be used: .*\n$/);
    await database.drop();
  });

  // guard settings-1: migrations of a newer version are not a mistake
  // src/database/migrations.ts
  // - disableMigrationsListValidation: true,
  it('starts on a database restored into another cluster, and on one that a newer version has migrated', async () => {
    const database = await cloneDatabase();
    const client = new Client(database.url);
    await client.connect();
    await client.query('UPDATE sync_epoch SET system_identifier = system_identifier - 1');
    await client.query(`INSERT INTO knex_migrations (name, batch, migration_time) VALUES ('9999_later', 2, now())`);
    await client.query('ALTER TABLE users ADD COLUMN added_later text');
    await client.end();
    const service = await (await startService({ DATA_DIR: makeDataDir(), DATABASE_URL: database.url })).untilReady();
    expect(service.stdout).not.toContain('Applied migrations');
    await service.stop();
    await database.drop();
  });

  it('is not ready while migrations are missing, with AUTO_MIGRATE=off', async () => {
    const database = await emptyDatabase();
    const service = await startService({ DATA_DIR: makeDataDir(), DATABASE_URL: database.url, AUTO_MIGRATE: 'off' });
    await service.untilListening();
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    const answer = await fetch(`${service.url}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      code: 503,
      message: expect.stringContaining('npm run migrate') as string,
    });
    const migrate = spawnSync('npm', ['run', 'migrate'], {
      cwd: ROOT,
      env: { ...process.env, DATABASE_URL: database.url },
    });
    expect(migrate.stdout.toString()).toContain(`Applied migrations: ${migrations.join(', ')}`);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    await service.stop();
    await database.drop();
  });
});

describe('npm run migrate:rollback', () => {
  const newest = migrations.at(-1) ?? '';
  const rollBack = (url: string, { NODE_ENV = 'development', answers = [] as string[] } = {}) => {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [RUN, 'scripts/operate/migrate-rollback.ts', ...answers],
      {
        cwd: ROOT,
        env: { ...process.env, NODE_ENV, DATABASE_URL: url },
      },
    );
    return { told: stdout.toString(), refused: stderr.toString(), status };
  };

  it('undoes one migration, and says what data it deletes', async () => {
    const database = await cloneDatabase();
    const before = await applied(database.url);
    const { told, status } = rollBack(database.url);
    expect(status).toBe(0);
    expect(told).toContain(readFileSync(join(ROOT, 'migrations', `${newest}.down.sql`), 'utf8').trim());
    expect(told).toContain(`${newest} was undone`);
    expect(await applied(database.url)).toEqual(before.slice(0, -1));
    await database.drop();
  });

  // guard settings-2: in production a migration is undone only when told twice
  // scripts/operate/migrate-rollback.ts
  // - if (!isAgreed)
  // + if (false)
  it('undoes a migration in production only when told twice', async () => {
    const database = await cloneDatabase();
    const before = await applied(database.url);
    for (const answers of [[], ['--yes'], ['--no', '--yes']]) {
      const { refused, status } = rollBack(database.url, { NODE_ENV: 'production', answers });
      expect(status).toBe(1);
      expect(refused).toContain('say so twice: --yes --yes at the end');
    }
    expect(await applied(database.url)).toEqual(before);
    expect(rollBack(database.url, { NODE_ENV: 'production', answers: ['--yes', '--yes'] }).status).toBe(0);
    expect(await applied(database.url)).toEqual(before.slice(0, -1));
    await database.drop();
  });

  it('leaves a migration of a newer version to that version', async () => {
    const database = await cloneDatabase();
    await query(
      database.url,
      `INSERT INTO knex_migrations (name, batch, migration_time) VALUES ('9999_later', 2, now())`,
    );
    const before = await applied(database.url);
    const { refused, status } = rollBack(database.url);
    expect(status).toBe(1);
    expect(refused).toContain('9999_later was applied by a newer version');
    expect(await applied(database.url)).toEqual(before);
    await database.drop();
  });
});

async function applied(url: string): Promise<string[]> {
  const rows = await query(url, 'SELECT name FROM knex_migrations ORDER BY id');
  return rows.map(({ name }) => String(name));
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('mistakes in settings at npm start', () => {
  // guard settings-3: a port in use is reported before a database is made
  // src/run.ts
  // - await askForPort(config);
  it('reports in one line that the port is taken, and leaves no running database', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const DATA_DIR = makeDataDir();
    const service = await startService({ DATA_DIR, PORT: String(port) });
    expect(await service.exited).toBe(1);
    expect(service.stderr).toBe(
      `Cannot start: port ${port} on 127.0.0.1 is taken: stop what listens there, or set PORT to another one\n`,
    );
    expect(existsSync(join(DATA_DIR, 'postgres'))).toBe(false);
    other.close();
  });

  // guard settings-7: an empty stored key signs nothing
  // src/run.ts
  // - ...keyMistakes(config)
  // guard settings-12: the service does not start with words that it cannot use
  // src/run.ts
  // - ...words.mistakes,
  it('names all mistakes at once, under one headline', async () => {
    const folder = makeDataDir();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'session-secret'), '');
    const service = await startService({
      DATA_DIR: folder,
      PORT: '99999',
      LOG_LEVEL: 'loud',
      SMS_PROVIDER: 'twilio',
      TWILIO_FROM: '+15005550006',
      TWILIO_ACCOUNT_SID: 'AC1',
      QINIU_SECRET_KEY_FILE: '/dev/null/x',
      STORAGE_PROVIDER: 'qiniu',
      WORDS_DIR: join(folder, 'none'),
    });
    expect(await service.exited).toBe(1);
    const [headline, ...mistakes] = service.stderr.trim().split('\n');
    expect(headline).toMatch(/^Cannot start: 9 settings are wrong, .*\.env\.example.*:$/);
    expect(mistakes.map((line) => line.split(':')[0])).toEqual([
      '  QINIU_SECRET_KEY_FILE',
      '  PORT',
      '  LOG_LEVEL',
      '  TWILIO_AUTH_TOKEN',
      '  QINIU_ACCESS_KEY',
      '  QINIU_BUCKET',
      '  QINIU_DOMAIN',
      '  WORDS_DIR',
      '  DATA_DIR',
    ]);
    expect(service.stderr).not.toContain('    at ');
  });

  it('refuses in production what is only for development, each with a remedy', async () => {
    const service = await startService({ DATA_DIR: makeDataDir(), NODE_ENV: 'production' });
    expect(await service.exited).toBe(1);
    const [headline, ...mistakes] = service.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(headline).toMatchObject({ level: 60, msg: expect.stringMatching(/^Cannot start: 9 settings /) as string });
    for (const name of [
      'DATABASE_URL',
      'SESSION_SECRETS',
      'SMS_PROVIDER',
      'STORAGE_PROVIDER',
      'MESSAGING_JWT_KEY',
      'PUBLIC_URL',
      'TRUST_PROXY',
      'SEND_CODE_PER_DAY',
      'BCRYPT_COST',
    ])
      expect(mistakes).toContainEqual({
        level: 60,
        time: expect.any(Number) as number,
        msg: expect.stringMatching(new RegExp(`^${name}: .*set`)) as string,
      });
    expect(service.stderr).toContain('openssl rand -hex 32');
  });

  // guard settings-8: a misspelt variable is reported
  // src/run.ts
  // - unknownVariables(process.env).forEach((line) => startLog.warn(line));
  // guard settings-9: an unknown variable is reported without its value
  // src/start/unknown-names.ts
  // - return [`${name}: is not a setting
  // + return [`${name}: ${env[name]} is not a setting
  it('names variables that are probably meant for it, without their values', async () => {
    const service = await startService({
      DATA_DIR: makeDataDir(),
      PORT: 'x',
      DATABSE_URL: rememberSecret('postgresql://a:an-old-secret@b/c'),
      SMS_PROVDER: rememberSecret('twilio-but-misspelt'),
      DATABASE_HOST: rememberSecret('a-host-of-somebody'),
    });
    expect(await service.exited).toBe(1);
    expect(service.stderr).toMatch(/^DATABSE_URL: .* did you mean DATABASE_URL\?$/m);
    expect(service.stderr).toMatch(/^SMS_PROVDER: .* did you mean SMS_PROVIDER\?$/m);
    expect(service.stderr).toMatch(/^DATABASE_HOST: is not a setting .*\.env\.example lists all settings$/m);
    for (const value of ['an-old-secret', 'misspelt', 'somebody']) expect(service.stderr).not.toContain(value);
  });

  it('starts in spite of an unknown variable, and of a code that takes two messages, and tells of both', async () => {
    const env = { LOG_LEVL: 'info', SMS_TEXT: `{code} ${'x'.repeat(160)}` };
    const service = await (await startService({ DATA_DIR: makeUsedDataDir(), ...env })).untilReady();
    expect(service.stderr).toBe(
      'LOG_LEVL: is not a setting of this service, and has no effect: did you mean LOG_LEVEL?\n' +
        'SMS_TEXT: takes more than one message in every language (167 of 160 places of GSM-7)\n',
    );
    await service.stop();
  });

  // guard settings-13: each start tells of test numbers
  // src/accounts-server.ts
  // - await warnOfTestNumbers(container);
  it('tells of each test number at each start, with neither the number nor its code', async () => {
    const lastDay = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const TEST_NUMBERS = `${rememberSecret('+447700900123')}=${rememberSecret('718281')}@${lastDay}`;
    const service = await (await startService({ DATA_DIR: makeUsedDataDir(), TEST_NUMBERS })).untilReady();
    expect(service.stderr).toBe(`TEST_NUMBERS: +447…23 takes a fixed code, and is sent none, until ${lastDay}\n`);
    await service.stop();
  });

  // guard settings-11: an .env that cannot be read is reported, not ignored
  // src/run.ts
  // - if (error && codeOf(error) !== 'ENOENT')
  // + if (false)
  it('reports an .env that exists and cannot be read', () => {
    const folder = makeDataDir();
    mkdirSync(join(folder, '.env'), { recursive: true });
    const { status, stderr } = spawnSync(process.execPath, [RUN, 'src/server.ts'], {
      cwd: folder,
      env: { PATH: process.env.PATH, DATA_DIR: folder, PORT: '0' },
      // A service that starts in spite of it would run for ever.
      timeout: 300_000,
    });
    expect(status).toBe(1);
    expect(stderr.toString()).toMatch(
      /^Cannot start: one setting is wrong, .*\n {2}\.env: cannot be read \(EISDIR\): .*\n$/,
    );
  });

  it('says what to do about a HOST that this machine does not have', async () => {
    const service = await startService({ DATA_DIR: makeDataDir(), HOST: '192.0.2.1' });
    expect(await service.exited).toBe(1);
    expect(service.stderr).toBe(
      'Cannot start: 192.0.2.1 is not an address of this machine: set HOST to one of its own, or to 0.0.0.0 for all\n',
    );
  });
});

describe('a database that cannot be used', () => {
  /** Returns the message about it, after a check that it does not contain the password in any form. */
  async function refusalBy(env: Record<string, string>): Promise<string> {
    const service = await startService({ DATA_DIR: makeDataDir(), ...env });
    expect(await service.exited).toBe(1);
    const told = service.stdout + service.stderr;
    expect(told).not.toContain('hunter2');
    expect(told).not.toMatch(/^ +at /m);
    expect(service.stderr).toMatch(/^Cannot start: /);
    return service.stderr;
  }

  /** Returns the address of a new database, with parts of it changed. */
  async function changed(change: (url: URL) => void) {
    const database = await emptyDatabase();
    const url = new URL(database.url);
    change(url);
    return { url: url.href, drop: () => database.drop(), ownerUrl: database.url };
  }

  // guard settings-4: pg is told which sslmode is meant
  // src/database/database-url.ts
  // - address.replace(READ_AS_VERIFY_FULL, 'verify-full')
  // + address
  // guard settings-5: the address of a database is shown without its password
  // src/database/database-url.ts
  // - `${host}:${port}/${database}`;
  // + address;
  // guard settings-6: a database that cannot be used is reported with a remedy
  // src/start/remedies.ts
  // - . ${remedyFor(error, name)}`
  // + `
  it.each<[string, (url: URL) => void, RegExp]>([
    ['a wrong password', (url) => (url.password = 'hunter2'), /password authentication failed .* DATABASE_PASSWORD$/m],
    [
      'a wrong password among its options',
      (url) => void ((url.password = ''), url.searchParams.set('password', 'hunter2')),
      /password authentication failed .* DATABASE_PASSWORD$/m,
    ],
    ['no password', (url) => (url.password = ''), /It requires a password: set it in DATABASE_PASSWORD$/m],
    ['another name', (url) => (url.pathname = '/no_such'), /"no_such" does not exist\. Create it .* DATABASE_URL to/],
    ['no TLS', (url) => url.searchParams.set('sslmode', 'verify-full'), /Turn ssl on .* sslmode out of DATABASE_URL$/m],
    [
      'no TLS, as providers write it',
      (url) => url.searchParams.set('sslmode', 'require'),
      /Turn ssl on .* out of DATABASE_URL$/m,
    ],
  ])('is reported with a remedy: %s', async (_case, change, told) => {
    const { url, drop } = await changed(change);
    expect(await refusalBy({ DATABASE_URL: url })).toMatch(told);
    await drop();
  });

  it('is reported with a remedy: another encoding than UTF8', async () => {
    const { url, ownerUrl, drop } = await changed((one) => (one.pathname = '/latin'));
    await query(ownerUrl, `CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'`);
    expect(await refusalBy({ DATABASE_URL: url })).toMatch(/LATIN1.*\. The service needs UTF8: CREATE DATABASE .*\n$/);
    await query(ownerUrl, 'DROP DATABASE latin');
    await drop();
  });

  it('is reported with a remedy: a password from the environment', async () => {
    const { url, drop } = await changed((one) => (one.password = ''));
    expect(await refusalBy({ DATABASE_URL: url, PGPASSWORD: 'hunter2' })).toMatch(/password authentication failed/);
    await drop();
  });

  it.each([
    [
      'postgresql://a:hunter2@127.0.0.1:4/c',
      /127\.0\.0\.1:4\/c .*ECONNREFUSED.*\. Nothing listens there: start PostgreSQL/,
    ],
    [
      'postgresql://a:hunter2@no-such-host.invalid/c',
      /no-such-host\.invalid:5432\/c .*\. Is the host in DATABASE_URL spelt/,
    ],
    [
      'postgresql:///c?host=/run/nowhere&user=a&password=hunter2',
      /\/run\/nowhere \(a socket\).*\. Is PostgreSQL running/,
    ],
    ['postgresql://a:1/hunter2@127.0.0.1:4/c', /^ {2}DATABASE_URL: has a character .* write @ as %40/m],
    ['postgresql://a:1#hunter2@127.0.0.1:4/c', /^ {2}DATABASE_URL: has a character .* write @ as %40/m],
    ['postgresql://a:1?hunter2@127.0.0.1:4/c', /^ {2}DATABASE_URL: has a character .* write @ as %40/m],
    ['postgresql://a:hunter2@[::1/c', /^ {2}DATABASE_URL: must look like/m],
    ['postgresql://a:hunter2%C3@127.0.0.1:4/c', /^ {2}DATABASE_URL: has a character .* write @ as %40/m],
    ['postgresql://a:hunter2@127.0.0.1:4/c?sslrootcert=/no/such', /^ {2}DATABASE_URL: .* sslrootcert, .* there\?$/m],
  ])('is reported with a remedy: %s', async (DATABASE_URL, told) => {
    expect(await refusalBy({ DATABASE_URL })).toMatch(told);
  });

  it('is reported with a remedy: a read-only database', async () => {
    const { url, drop, ownerUrl } = await changed(() => undefined);
    const name = new URL(ownerUrl).pathname.slice(1);
    await query(ownerUrl, `ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    expect(await refusalBy({ DATABASE_URL: url })).toMatch(
      /\. It does not take writes, like a standby: set DATABASE_URL/,
    );
    await drop();
  });

  it("is reported with a remedy: another application's tables, and a role without rights", async () => {
    const { url, drop, ownerUrl } = await changed(() => undefined);
    await query(ownerUrl, 'CREATE TABLE users (x integer)');
    const told = await refusalBy({ DATABASE_URL: url });
    expect(told).toMatch(/cannot be used: relation "users" already exists\. It has tables of other software/);
    await query(ownerUrl, 'DROP TABLE users');
    await query(ownerUrl, `CREATE ROLE without_rights LOGIN PASSWORD 'hunter2'`);
    const weak = Object.assign(new URL(url), { username: 'without_rights', password: 'hunter2' });
    for (const env of [{ DATABASE_URL: weak.href }, { DATABASE_URL: url, DATABASE_MIGRATION_URL: weak.href }])
      expect(await refusalBy(env)).toMatch(/permission denied for schema public\. Migrations run as the owner/);
    await query(ownerUrl, 'DROP ROLE without_rights');
    await drop();
  });
});

describe('npm start in production', () => {
  it('makes DATA_DIR before the first image, so that a backup finds it', async () => {
    const database = await emptyDatabase();
    const DATA_DIR = makeDataDir();
    const env = { ...productionEnv(), LEAVE_SECONDS: '0', DATA_DIR, DATABASE_URL: database.url };
    const service = await (await startService(env)).untilReady();
    expect(statSync(DATA_DIR).mode & 0o777).toBe(0o700);
    await service.stop();
    await database.drop();
  });
});

describe('the suggestion of what to try next', () => {
  const twilio = {
    SMS_PROVIDER: 'twilio',
    TWILIO_ACCOUNT_SID: 'AC0123456789abcdef0123456789abcdef',
    TWILIO_AUTH_TOKEN: rememberSecret('7c1c2e7b5a3d4860b1e2f3a4c5d6e7f8'),
    TWILIO_FROM: '+15005550006',
  };

  // guard settings-10: the suggestion of what to try next does not cost a message
  // src/accounts-server.ts
  // - sms.reachesPhones ? '/readyz' :
  // + false ? '/readyz' :
  it.each([
    ['in production', () => ({ ...productionEnv(), LEAVE_SECONDS: '0' })],
    ['with a provider of SMS', () => twilio],
  ])('sends no message to a phone %s', async (_case, env) => {
    const database = await emptyDatabase();
    const service = await startService({ DATA_DIR: makeDataDir(), ...env(), DATABASE_URL: database.url });
    await service.untilReady();
    expect(service.stdout).toContain(`curl ${service.url}/readyz`);
    expect(service.stdout).not.toContain('send_code');
    await service.stop();
    await database.drop();
  });
});
