import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { cloneDatabase, type TestDatabase } from '../support/database';
import { rememberSecret } from '../support/secrets';
import { ROOT, RUN } from '../support/service-process';
import { makeDataDir, startService } from '../support/started';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

const settings = () => ({
  DATABASE_URL: database.serviceUrl,
  DATABASE_MIGRATION_URL: database.url,
  DATA_DIR: makeDataDir(),
});

/** Runs npm run admin beside the service. */
function admin(env: Record<string, string>, ...words: string[]): unknown {
  const args = [RUN, 'scripts/operate/admin.ts', '--json', ...words];
  const own = { PATH: process.env.PATH, HOME: process.env.HOME };
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...own, ...env },
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe('npm start with ADMIN_PORT', () => {
  it('prints the address of the admin API, which takes tokens of the command line, and ends it at the stop', async () => {
    const env = settings();
    const service = await (await startService({ ...env, ADMIN_PORT: '0' })).untilListening();
    const [, url = ''] = /^ {2}admin +(http:\S+)$/m.exec(service.stdout) ?? [];
    const { added } = admin(env, 'tokens', 'add', 'ci', 'read') as { added: [{ token: string }] };
    const headers = { Authorization: `Bearer ${rememberSecret(added[0].token)}` };
    const ask = () => fetch(`${url}/spend/today`, { method: 'POST', headers });
    expect(await (await ask()).json()).toMatchObject({ code: 200, result: { codes: [] } });
    admin(env, 'tokens', 'revoke', 'ci');
    expect((await ask()).status).toBe(401);
    expect(await service.stop()).toBe(0);
    await expect(ask()).rejects.toThrow('fetch failed');
  });

  it('says in one line that the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const service = await startService({ ...settings(), ADMIN_PORT: String(port) });
    expect(await service.exited).toBe(1);
    expect(service.stderr).toBe(
      `Cannot start: port ${port} on 127.0.0.1 is taken: stop what listens there, or set ADMIN_PORT to another one\n`,
    );
    other.close();
  });
});

describe('npm start without ADMIN_PORT', () => {
  it('has no admin API, also in development', async () => {
    const service = await (await startService(settings())).untilListening();
    expect(service.stdout).not.toMatch(/^ {2}admin /m);
  });
});
