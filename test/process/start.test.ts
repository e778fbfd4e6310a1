import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { field, newPassword } from '../support/people';
import { generateSigningKey } from '../../src/integrations/messaging/signing-key';
import { isAlive } from '../../packages/embedded-database/src';
import { AS_ORDINARY_USER, isTreeOpen, NOBODY, postmasterPid } from '../support/service-process';
import { until } from '../support/until';
import { rememberSecret } from '../support/secrets';
import { makeDataDir, makeUsedDataDir, startService } from '../support/started';

const PHONE = { region: 44, phone: '7911123456' };

describe('npm start without a database', () => {
  it('starts its own, says where it is and what to try, and keeps the data across starts', async () => {
    const DATA_DIR = makeDataDir();
    const first = await (await startService({ DATA_DIR })).untilReady();
    expect(first.stdout).toContain(`ready at ${first.url}`);
    expect(first.stdout).toMatch(/try +curl http:.*\/user\/send_code/);
    expect(statSync(join(DATA_DIR, 'database-url')).mode & 0o777).toBe(0o600);
    const address = readFileSync(join(DATA_DIR, 'database-url'), 'utf8');
    const client = new Client(address.trim());
    await client.connect();
    await client.query(`INSERT INTO users (id, nickname) VALUES ('kept', 'Ann')`);
    await client.end();
    expect(await first.stop()).toBe(0);

    const second = await (await startService({ DATA_DIR })).untilReady();
    expect(readFileSync(join(DATA_DIR, 'database-url'), 'utf8')).toBe(address);
    const again = new Client(address.trim());
    await again.connect();
    expect((await again.query('SELECT nickname FROM users')).rows).toEqual([{ nickname: 'Ann' }]);
    await again.end();
    await second.stop();
  });

  it('prints links that open the inbox, and /dev links the metrics', async () => {
    const service = await (await startService({ DATA_DIR: makeUsedDataDir() })).untilReady();
    const links = [...service.stdout.matchAll(/^ +open +(http\S+)\/(docs|dev\/inbox)#inbox=([\w-]{22})$/gm)];
    expect(links.map(([, url, page]) => [url, page])).toEqual([
      [service.url, 'docs'],
      [service.url, 'dev/inbox'],
    ]);
    const ask = (token: string) =>
      fetch(`${service.url}/dev/inbox.json`, { headers: { Authorization: `Bearer ${token}` } });
    const statuses = await Promise.all([...links.map(([, , , token = '']) => token), 'x'].map(ask));
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 404]);
    const [, metrics = ''] = /^ +metrics +(http\S+)$/m.exec(service.stdout) ?? [];
    expect(await (await fetch(`${service.url}/dev`)).text()).toContain(`href="${metrics}"`);
    await service.stop();
  });

  // guard start-2: the service connects to its embedded database as a role that owns nothing
  // src/run.ts
  // - url: postgres.serviceUrl,
  // + url: postgres.url,
  it('connects to it as a role with only the rights that the service needs', async () => {
    const DATA_DIR = makeDataDir();
    const service = await (await startService({ DATA_DIR })).untilReady();
    const client = new Client(readFileSync(join(DATA_DIR, 'database-url'), 'utf8').trim());
    await client.connect();
    const { rows } = await client.query(
      `SELECT DISTINCT usename FROM pg_stat_activity WHERE application_name = 'user-account-service'`,
    );
    expect(rows).toEqual([{ usename: 'accounts_service' }]);
    await client.end();
    await service.stop();
  });

  // guard start-4: a process for images serves nothing of the accounts
  // src/server.ts
  // - process.env.IMAGES === 'only'
  // + false
  it('serves images, its health and nothing else with IMAGES=only', async () => {
    const service = await (await startService({ DATA_DIR: makeUsedDataDir(), IMAGES: 'only' })).untilReady();
    expect(service.stdout).toContain(`try       curl ${service.url}/readyz\n`);
    const get = async (path: string) => (await fetch(service.url + path)).status;
    for (const path of ['/openapi.json', '/docs', '/dev/inbox', '/.well-known/jwks.json', '/user/find/44/7911123456'])
      expect(await get(path)).toBe(404);
    for (const path of ['/user/login', '/sync/0']) expect((await service.post(path, {})).status).toBe(404);
    for (const path of ['/healthz', '/readyz']) expect(await get(path)).toBe(200);
    await service.stop();
  });

  it('shows codes in the terminal at any log level, and never in the log', async () => {
    const service = await (await startService({ DATA_DIR: makeUsedDataDir(), LOG_LEVEL: 'silent' })).untilReady();
    expect(await (await service.post('/user/send_code', PHONE)).json()).toEqual({ code: 200 });
    await until(() => /SMS to \+447911123456: \d{6} is your verification code/.test(service.stdout));
    expect(service.stdout).not.toContain('{"level"');
  });

  it('stops everything on SIGTERM: no process and no lock remain', async () => {
    const DATA_DIR = makeUsedDataDir();
    const service = await (await startService({ DATA_DIR })).untilReady();
    const postmaster = postmasterPid(DATA_DIR);
    expect(isAlive(postmaster)).toBe(true);
    expect(await service.stop()).toBe(0);
    await until(() => !isAlive(postmaster));
    expect(postmasterPid(DATA_DIR)).toBe(0);
  });

  it('answers pending requests when Ctrl-C reaches the whole process group', async () => {
    const DATA_DIR = makeUsedDataDir();
    const service = await (
      await startService({ DATA_DIR, SMS_PROVIDER: 'file', BCRYPT_COST: '13', METRICS_PORT: '0' })
    ).untilReady();
    await service.post('/user/send_code', PHONE);
    const { code } = JSON.parse(readFileSync(join(DATA_DIR, 'sms.ndjson'), 'utf8')) as { code: string };
    const verified: unknown = await (
      await service.post('/user/verify_code', { ...PHONE, code: rememberSecret(code) })
    ).json();
    const verification_token = rememberSecret(String(field(field(verified, 'result'), 'verification_token')));
    const registered = service.post('/user/register', { nickname: 'Ann', password: newPassword(), verification_token });
    let isAnswered = false;
    void registered.then(() => (isAnswered = true));
    const [metrics = ''] = /http:\S+\/metrics$/m.exec(service.stdout) ?? [];
    const isHashing = async () => (await (await fetch(metrics)).text()).includes('running{queue="hashing"} 1');
    await until(async () => isAnswered || (await isHashing()));
    service.interruptGroup();
    expect((await registered).status).toBe(200);
    expect(await service.exited).toBe(0);
    expect(postmasterPid(DATA_DIR)).toBe(0);
  });

  it('recovers after kill -9, with the database still running', async () => {
    const DATA_DIR = makeUsedDataDir();
    const killed = await (await startService({ DATA_DIR })).untilReady();
    killed.signal('SIGKILL');
    await killed.exited;
    expect(isAlive(postmasterPid(DATA_DIR))).toBe(true);
    const next = await (await startService({ DATA_DIR })).untilReady();
    expect(await next.stop()).toBe(0);
    expect(postmasterPid(DATA_DIR)).toBe(0);
  });

  it('recovers after kill -9 of both, as after a power cut', async () => {
    const DATA_DIR = makeUsedDataDir();
    const killed = await (await startService({ DATA_DIR })).untilReady();
    killed.signal('SIGKILL');
    process.kill(postmasterPid(DATA_DIR), 'SIGKILL');
    await killed.exited;
    expect(postmasterPid(DATA_DIR)).toBeGreaterThan(0);
    await (await startService({ DATA_DIR })).untilReady();
  });

  it('removes the files of a start that was killed while it made the database', async () => {
    const DATA_DIR = makeDataDir();
    const left = join(DATA_DIR, 'postgres.new-999999999-abcd1234');
    mkdirSync(join(left, 'data'), { recursive: true });
    await (await startService({ DATA_DIR })).untilReady();
    expect(existsSync(left)).toBe(false);
  });

  it('says in one line that another service runs on the data', async () => {
    const DATA_DIR = makeUsedDataDir();
    await (await startService({ DATA_DIR })).untilReady();
    const second = await startService({ DATA_DIR });
    expect(await second.exited).toBe(1);
    expect(second.stderr).toMatch(/^Cannot start: another service .*is already running on .*DATA_DIR.*\n$/);
  });

  it('lets one of two concurrent first starts win', async () => {
    const DATA_DIR = makeDataDir();
    const both = await Promise.all([startService({ DATA_DIR }), startService({ DATA_DIR })]);
    const loser = await Promise.race(both.map(async (service) => (await service.exited, service)));
    expect(loser.stderr).toMatch(/^Cannot start: another service .*is already running on .*\n$/);
    const winner = both.find((service) => service !== loser);
    await winner?.untilReady();
  });

  // guard start-3: an unwritable folder is reported at the start
  // src/run.ts
  // - ...folderMistakes(config),
  it('says first that a data folder cannot be written, whatever the folder is needed for', async () => {
    const DATABASE_URL = 'postgresql://a@127.0.0.1:4/c';
    const refused = async (env: Record<string, string>) => {
      const service = await startService({ DATA_DIR: '/dev/null/accounts', ...env });
      expect(await service.exited).toBe(1);
      return service.stderr;
    };
    const line = (kept: string) =>
      new RegExp(
        `^Cannot start: one setting is wrong.*\\n  DATA_DIR: /dev/null/accounts.* \\(ENOTDIR\\), where ${kept} would ` +
          'be kept: .* set DATA_DIR to a folder that this user may write\\n$',
      );
    expect(await refused({})).toMatch(line('the embedded database, the keys of this installation and uploaded images'));
    expect(await refused({ DATABASE_URL })).toMatch(line('the keys of this installation and uploaded images'));
    const keys = {
      SESSION_SECRETS: rememberSecret('5'.repeat(40)),
      MESSAGING_JWT_KEY: rememberSecret(generateSigningKey()),
    };
    expect(await refused({ DATABASE_URL, ...keys })).toMatch(line('uploaded images'));
  });

  // Only root can become another user, and that user must be able to read the tree.
  const asRoot = process.getuid?.() === 0 && isTreeOpen() ? it : it.skip;

  asRoot('says that a data folder belongs to another user, and leaves no files', async () => {
    const DATA_DIR = makeDataDir();
    mkdirSync(DATA_DIR);
    chmodSync(join(DATA_DIR, '..'), 0o755);
    for (const folder of [DATA_DIR, join(DATA_DIR, 'deeper', 'still')]) {
      const service = await startService({ DATA_DIR: folder, HOME: '/tmp' }, { command: AS_ORDINARY_USER });
      expect(await service.exited).toBe(1);
      expect(service.stderr).toMatch(
        /^ {2}DATA_DIR: .* \(EACCES\), .*: give it to user 65534 \(chown\), or set DATA_DIR/m,
      );
    }
    expect(readdirSync(DATA_DIR)).toEqual([]);
  });

  asRoot('also runs for an ordinary user', async () => {
    const DATA_DIR = makeDataDir();
    mkdirSync(DATA_DIR);
    chownSync(DATA_DIR, NOBODY, NOBODY);
    chownSync(join(DATA_DIR, '..'), NOBODY, NOBODY);
    const service = await (await startService({ DATA_DIR, HOME: '/tmp' }, { command: AS_ORDINARY_USER })).untilReady();
    expect(await service.stop()).toBe(0);
  });
});

describe('SIGTERM, with a load balancer that has to notice it,', () => {
  // guard start-1: an instance that is told to stop reports so before it closes
  // src/run.ts
  // - built.announceStop();
  it('makes the service unready at once, but it answers for LEAVE_SECONDS more', async () => {
    const service = await (await startService({ DATA_DIR: makeUsedDataDir(), LEAVE_SECONDS: '2' })).untilReady();
    const kept = await service.post('/user/get_sms_img_code', {});
    expect(kept.headers.get('connection')).toBe('keep-alive');
    service.signal('SIGTERM');
    await until(async () => (await fetch(`${service.url}/readyz`)).status === 503);
    const answer = await service.post('/user/check_phone_available', PHONE);
    expect(await answer.json()).toEqual({ code: 200, result: true });
    expect(answer.headers.get('connection')).toBe('close');
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    expect(await service.exited).toBe(0);
  });

  it('stops the service without waiting when sent twice', async () => {
    const service = await (await startService({ DATA_DIR: makeUsedDataDir(), LEAVE_SECONDS: '600' })).untilReady();
    service.signal('SIGTERM');
    await until(async () => (await fetch(`${service.url}/readyz`)).status === 503);
    service.signal('SIGTERM');
    expect(await service.exited).toBe(0);
  });
});
