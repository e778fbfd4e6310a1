import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { cloneDatabase, emptyDatabase } from '../support/database';
import { postmasterPid, ROOT } from '../support/service-process';
import { dataDir, start } from '../support/started';

const migrations = readdirSync(join(ROOT, 'migrations')).filter((name) => name.endsWith('.up.sql')).length;

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
      // Nobody listens on a port that only root may use and that no protocol has any more.
      DATABASE_URL: `postgresql://a:b@127.0.0.1:4/c`,
    });
    const begun = Date.now();
    expect(await service.exited).toBe(1);
    expect(service.stderr).toMatch(
      /^Cannot start: the database at 127\.0\.0\.1:\d+\/c cannot be used: .*ECONNREFUSED.*\n$/,
    );
    expect(Date.now() - begun).toBeLessThan(8_000);
  });

  it('starts on a database that was restored into another cluster, and one that a newer version has migrated', async () => {
    const database = await cloneDatabase();
    const client = new Client(database.url);
    await client.connect();
    await client.query('UPDATE sync_epoch SET system_identifier = system_identifier - 1');
    await client.query(`INSERT INTO knex_migrations (name, batch, migration_time) VALUES ('9999_later', 2, now())`);
    await client.query('ALTER TABLE users ADD COLUMN added_later text');
    await client.end();
    const service = await (await start({ DATA_DIR: dataDir(), DATABASE_URL: database.url })).ready();
    expect(service.stdout).not.toContain('Applied migrations');
    await service.stop();
    await database.drop();
  });

  it('is not ready while migrations are missing, with AUTO_MIGRATE=off', async () => {
    const database = await emptyDatabase();
    const service = await start({ DATA_DIR: dataDir(), DATABASE_URL: database.url, AUTO_MIGRATE: 'off' });
    await service.listening();
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
    expect(migrate.stdout.toString()).toContain(`Batch 1 run: ${migrations} migrations`);
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    const rollback = spawnSync('npm', ['run', 'migrate:rollback'], {
      cwd: ROOT,
      env: { ...process.env, DATABASE_URL: database.url },
    });
    expect(rollback.stdout.toString()).toContain(`Batch 1 rolled back: ${migrations} migrations`);
    await service.stop();
    await database.drop();
  });
});

describe('mistakes of whoever starts it', () => {
  it('says in one line that the port is taken, and leaves no database behind', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
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
