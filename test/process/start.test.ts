import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { cloneDatabase, emptyDatabase } from '../support/database';
import { field, newPassword } from '../support/people';
import {
  freePort,
  isAlive,
  newDataDir,
  postmasterPid,
  ROOT,
  ServiceProcess,
  until,
  type DataDir,
} from '../support/service-process';
import { secret } from '../support/secrets';

const PHONE = { region: 44, phone: '7911123456' };
const NOBODY = 65_534;

let running: ServiceProcess[] = [];
let folders: DataDir[] = [];

async function start(env: Record<string, string>, command?: string[]): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(env, command);
  running.push(service);
  return service;
}

function dataDir(): string {
  const folder = newDataDir();
  folders.push(folder);
  return folder.path;
}

afterEach(async () => {
  await Promise.all(running.map((service) => service.stop()));
  // What a test has killed without mercy leaves its database behind.
  for (const { path } of folders) {
    const pid = postmasterPid(path);
    if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGQUIT');
  }
  folders.forEach((folder) => folder.remove());
  running = [];
  folders = [];
});

describe('npm start without a database', () => {
  it('brings one along, says where it is and what to try, and keeps the data from start to start', async () => {
    const DATA_DIR = dataDir();
    const first = await (await start({ DATA_DIR })).ready();
    expect(first.stdout).toContain(`ready at ${first.url}`);
    expect(first.stdout).toMatch(/try +curl http:.*\/user\/send_code/);
    expect(statSync(join(DATA_DIR, 'database-url')).mode & 0o777).toBe(0o600);
    const address = readFileSync(join(DATA_DIR, 'database-url'), 'utf8');
    const client = new Client(address.trim());
    await client.connect();
    await client.query(`INSERT INTO users (id, nickname) VALUES ('kept', 'Ann')`);
    await client.end();
    expect(await first.stop()).toBe(0);

    const second = await (await start({ DATA_DIR })).ready();
    expect(readFileSync(join(DATA_DIR, 'database-url'), 'utf8')).toBe(address);
    const again = new Client(address.trim());
    await again.connect();
    expect((await again.query('SELECT nickname FROM users')).rows).toEqual([{ nickname: 'Ann' }]);
    await again.end();
    await second.stop();
  });

  it('sends codes to the terminal, whatever the log level is, and none to the log', async () => {
    const service = await (await start({ DATA_DIR: dataDir(), LOG_LEVEL: 'silent' })).ready();
    expect(await (await service.post('/user/send_code', PHONE)).json()).toEqual({ code: 200 });
    expect(service.stdout).toMatch(/SMS to \+447911123456: \d{6} is your verification code/);
    expect(service.stdout).not.toContain('{"level"');
  });

  it('stops everything on SIGTERM: no process, no lock', async () => {
    const DATA_DIR = dataDir();
    const service = await (await start({ DATA_DIR })).ready();
    const postmaster = postmasterPid(DATA_DIR);
    expect(isAlive(postmaster)).toBe(true);
    expect(await service.stop()).toBe(0);
    await until(() => !isAlive(postmaster));
    expect(postmasterPid(DATA_DIR)).toBe(0);
  });

  it('answers what is under way when Ctrl-C reaches the whole group', async () => {
    const DATA_DIR = dataDir();
    const service = await (await start({ DATA_DIR, SMS_PROVIDER: 'file', BCRYPT_COST: '13' })).ready();
    await service.post('/user/send_code', PHONE);
    const { code } = JSON.parse(readFileSync(join(DATA_DIR, 'sms.ndjson'), 'utf8')) as { code: string };
    const verified: unknown = await (await service.post('/user/verify_code', { ...PHONE, code: secret(code) })).json();
    const verification_token = secret(String(field(field(verified, 'result'), 'verification_token')));
    const registered = service.post('/user/register', { nickname: 'Ann', password: newPassword(), verification_token });
    await new Promise((resolve) => setTimeout(resolve, 150));
    service.interruptGroup();
    expect((await registered).status).toBe(200);
    expect(await service.exited).toBe(0);
    expect(postmasterPid(DATA_DIR)).toBe(0);
  });

  it('recovers after kill -9, with the database still running', async () => {
    const DATA_DIR = dataDir();
    const killed = await (await start({ DATA_DIR })).ready();
    killed.signal('SIGKILL');
    await killed.exited;
    expect(isAlive(postmasterPid(DATA_DIR))).toBe(true);
    const next = await (await start({ DATA_DIR })).ready();
    expect(await next.stop()).toBe(0);
    expect(postmasterPid(DATA_DIR)).toBe(0);
  });

  it('recovers after kill -9 of both, as after a power cut', async () => {
    const DATA_DIR = dataDir();
    const killed = await (await start({ DATA_DIR })).ready();
    killed.signal('SIGKILL');
    process.kill(postmasterPid(DATA_DIR), 'SIGKILL');
    await killed.exited;
    expect(postmasterPid(DATA_DIR)).toBeGreaterThan(0);
    await (await start({ DATA_DIR })).ready();
  });

  it('sweeps away what a start left that was killed while it made the database', async () => {
    const DATA_DIR = dataDir();
    const left = join(DATA_DIR, 'postgres.new-999999999-abcd1234');
    mkdirSync(join(left, 'data'), { recursive: true });
    await (await start({ DATA_DIR })).ready();
    expect(existsSync(left)).toBe(false);
  });

  it('says in one line that another service runs on the data', async () => {
    const DATA_DIR = dataDir();
    await (await start({ DATA_DIR })).ready();
    const second = await start({ DATA_DIR });
    expect(await second.exited).toBe(1);
    expect(second.stderr).toMatch(/^Cannot start: another service .*is already running on .*DATA_DIR.*\n$/);
  });

  it('lets one of two first starts win', async () => {
    const DATA_DIR = dataDir();
    const both = await Promise.all([start({ DATA_DIR }), start({ DATA_DIR })]);
    const loser = await Promise.race(both.map(async (service) => (await service.exited, service)));
    expect(loser.stderr).toMatch(/^Cannot start: another service .*is already running on .*\n$/);
    const winner = both.find((service) => service !== loser);
    await winner?.ready();
  });

  it('says in one line that a data folder cannot be written', async () => {
    const service = await start({ DATA_DIR: '/dev/null/accounts' });
    expect(await service.exited).toBe(1);
    expect(service.stderr).toMatch(/^Cannot start: .*DATA_DIR \/dev\/null\/accounts.*: set DATA_DIR to a folder .*\n$/);
  });

  const asRoot = process.getuid?.() === 0 ? it : it.skip; // only root can become another user

  asRoot('runs for an ordinary user too', async () => {
    const DATA_DIR = dataDir();
    mkdirSync(DATA_DIR);
    chownSync(DATA_DIR, NOBODY, NOBODY);
    chownSync(join(DATA_DIR, '..'), NOBODY, NOBODY);
    const asNobody = ['setpriv', '--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups'];
    const service = await (await start({ DATA_DIR, HOME: '/tmp' }, asNobody)).ready();
    expect(await service.stop()).toBe(0);
  });
});

describe('npm start with DATABASE_URL', () => {
  it('uses that database, migrates it, and starts none', async () => {
    const database = await emptyDatabase();
    const DATA_DIR = dataDir();
    const service = await (await start({ DATA_DIR, DATABASE_URL: database.url })).ready();
    expect(service.stdout).toContain('Applied migrations: 0001_accounts');
    expect(existsSync(join(DATA_DIR, 'postgres'))).toBe(false);
    await service.stop();
    await database.drop();
  });

  it('lets two instances migrate an empty database side by side', async () => {
    const database = await emptyDatabase();
    const env = () => ({ DATA_DIR: dataDir(), DATABASE_URL: database.url });
    const both = await Promise.all([start(env()), start(env())]);
    await Promise.all(both.map((service) => service.ready()));
    await Promise.all(both.map((service) => service.stop()));
    await database.drop();
  });

  it('says in one line, quickly, that the database is not there', async () => {
    const service = await start({
      DATA_DIR: dataDir(),
      DATABASE_URL: `postgresql://a:b@127.0.0.1:${await freePort()}/c`,
    });
    const begun = Date.now();
    expect(await service.exited).toBe(1);
    expect(service.stderr).toMatch(
      /^Cannot start: the database at 127\.0\.0\.1:\d+\/c cannot be used: .*ECONNREFUSED.*\n$/,
    );
    expect(Date.now() - begun).toBeLessThan(8_000);
  });

  it('refuses a database that was restored into another cluster, and says how to go on', async () => {
    const database = await cloneDatabase();
    const client = new Client(database.url);
    await client.connect();
    await client.query('UPDATE sync_epoch SET system_identifier = system_identifier - 1');
    const env = { DATA_DIR: dataDir(), DATABASE_URL: database.url };
    const refused = await start(env);
    expect(await refused.exited).toBe(1);
    expect(refused.stderr).toMatch(
      /^Cannot start: .*restored into another PostgreSQL cluster.*SELECT sync_rebase\(\);.*\n$/,
    );
    await client.query('SELECT sync_rebase()');
    await client.end();
    await (await (await start(env)).ready()).stop();
    await database.drop();
  });

  it('is not ready while migrations are missing, with AUTO_MIGRATE=off', async () => {
    const database = await emptyDatabase();
    const service = await start({ DATA_DIR: dataDir(), DATABASE_URL: database.url, AUTO_MIGRATE: 'off' });
    await until(async () => (await fetch(`${service.url}/healthz`).catch(() => undefined))?.ok ?? false);
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
    expect(migrate.stdout.toString()).toContain('Batch 1 run: 5 migrations');
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    const rollback = spawnSync('npm', ['run', 'migrate:rollback'], {
      cwd: ROOT,
      env: { ...process.env, DATABASE_URL: database.url },
    });
    expect(rollback.stdout.toString()).toContain('Batch 1 rolled back: 5 migrations');
    await service.stop();
    await database.drop();
  });
});

describe('mistakes of whoever starts it', () => {
  it('says in one line that the port is taken, and leaves no database behind', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    const DATA_DIR = dataDir();
    const service = await start({ DATA_DIR, PORT: String(port) });
    expect(await service.exited).toBe(1);
    expect(service.stderr).toBe(
      `Cannot start: port ${port} on 127.0.0.1 is taken: stop what listens there, or set PORT to another one\n`,
    );
    expect(postmasterPid(DATA_DIR)).toBe(0);
    other.close();
  });

  it('names each wrong variable in a line of its own', async () => {
    const service = await start({ DATA_DIR: dataDir(), PORT: '99999', LOG_LEVEL: 'loud', BCRYPT_COST: 'x' });
    expect(await service.exited).toBe(1);
    expect(
      service.stderr
        .trim()
        .split('\n')
        .map((line) => line.split(':')[0])
        .sort(),
    ).toEqual(['BCRYPT_COST', 'LOG_LEVEL', 'PORT']);
    expect(service.stderr).not.toContain('    at ');
  });

  it('refuses in production what suits only development, each with its remedy', async () => {
    const service = await start({ DATA_DIR: dataDir(), NODE_ENV: 'production' });
    expect(await service.exited).toBe(1);
    for (const name of [
      'DATABASE_URL',
      'SESSION_SECRETS',
      'SMS_PROVIDER',
      'STORAGE_PROVIDER',
      'MESSAGING_JWT_KEY',
      'PUBLIC_URL',
      'TRUST_PROXY',
      'BCRYPT_COST',
    ])
      expect(service.stderr).toMatch(new RegExp(`^${name}: .*set`, 'm'));
    expect(service.stderr).toContain('openssl rand -hex 32');
  });
});
