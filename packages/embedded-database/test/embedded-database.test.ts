import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgresError, isAlive, startEmbeddedPostgres, type EmbeddedPostgres } from '../src';
import { codeOf } from '../src/error';
import { processesIn } from '../../../test/support/clusters';
import {
  AS_ORDINARY_USER,
  NOBODY,
  isTreeOpen,
  newDataDir,
  postmasterPid,
  ROOT,
  type DataDir,
} from '../../../test/support/service-process';
import { until } from '../../../test/support/until';

/** These databases need not outlive a power cut, and are made in half the time. */
const SETTINGS = { fsync: 'off' };
const ROLE = 'accounts_service';
const asRoot = process.getuid?.() === 0 ? it : it.skip; // only root has to become, and can become, another user
const inOpenTree = isTreeOpen() ? asRoot : it.skip; // another user has to get at the programs

/** An account that no machine has a name for. */
const NAMELESS = 54_321;

const template = newDataDir();

const folders: DataDir[] = [];
let databases: EmbeddedPostgres[] = [];
let services: ChildProcess[] = [];

beforeAll(async () => {
  const database = await startEmbeddedPostgres({ dataDir: template.path, role: ROLE, settings: SETTINGS });
  await database.stop();
});

// Not after each test: ext4 is slow to make files for a while after many have been deleted.
afterAll(() => [template, ...folders].forEach((folder) => folder.remove()));

/** It may be ending by itself at this moment. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

afterEach(async () => {
  await Promise.all(databases.map((database) => database.stop()));
  for (const service of services) service.kill('SIGKILL');
  for (const { path } of folders) for (const pid of processesIn(path)) killIfThere(pid);
  databases = [];
  services = [];
});

function newFolder(): string {
  const folder = newDataDir();
  folders.push(folder);
  return folder.path;
}

/** With the data of an earlier start in it, which takes less time than a first start. */
function filledFolder(): string {
  const folder = newFolder();
  const { status } = spawnSync('cp', ['-a', template.path, folder]);
  expect(status).toBe(0);
  return folder;
}

async function start(dataDir: string, announced: string[] = []): Promise<EmbeddedPostgres> {
  const database = await startEmbeddedPostgres({
    dataDir,
    role: ROLE,
    settings: SETTINGS,
    announce: (line) => announced.push(line),
  });
  databases.push(database);
  return database;
}

/** A service in a process of its own, which can be killed. */
function startElsewhere(dataDir: string, env: Record<string, string> = {}, command: string[] = []): ChildProcess {
  const script = `require('./scripts/launch/typescript.cjs');
    require('./packages/embedded-database/src')
      .startEmbeddedPostgres(${JSON.stringify({ dataDir, role: ROLE, settings: SETTINGS })})
      .then((database) => console.log(database.url), (error) => console.log(error.message));
    setInterval(() => {}, 1000);`;
  const [program = process.execPath, ...args] = [...command, process.execPath, '-e', script];
  const service = spawn(program, args, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  services.push(service);
  return service;
}

async function firstLine(service: ChildProcess): Promise<string> {
  const [chunk] = (await once(service.stdout ?? service, 'data')) as [Buffer];
  return chunk.toString().trim();
}

async function kill(service: ChildProcess): Promise<void> {
  service.kill('SIGKILL');
  await once(service, 'exit');
}

/** A server answers a moment before the service that has started it again claims it. */
async function isClaimed(url: string): Promise<boolean> {
  return (await query(url, `SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`)).length > 0;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows.map((row) => Object.values(row)[0]);
  } finally {
    await client.end();
  }
}

async function refusal(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(EmbeddedPostgresError);
  return error instanceof Error ? error.message : '';
}

describe('the embedded database', () => {
  it('is created by the first start, and kept with its address by the next', async () => {
    const dataDir = newFolder();
    const announced: string[] = [];
    const first = await start(dataDir, announced);
    expect(announced).toEqual([expect.stringContaining('only the first start')]);
    await query(first.url, `CREATE TABLE kept AS SELECT 'data' AS value`);
    await first.stop();

    const second = await start(dataDir, announced);
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'SELECT value FROM kept')).toEqual(['data']);
    expect(announced).toHaveLength(1);
  });

  it('can only be opened with its address, which only its owner can read', async () => {
    const dataDir = filledFolder();
    const { url } = await start(dataDir);
    const file = join(dataDir, 'database-url');
    expect(readFileSync(file, 'utf8')).toBe(`${url}\n`);
    expect(statSync(file)).toMatchObject({ uid: process.getuid?.() });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o007).toBe(0);
    const stranger = new URL(url);
    stranger.password = 'guessed';
    await expect(query(stranger.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    expect(await query(url, `SELECT current_setting('listen_addresses')`)).toEqual(['127.0.0.1']);
    expect(await query(url, `SELECT current_setting('unix_socket_directories')`)).toEqual(['']);
  });

  it('uses Unicode, sorts the same way on every machine, and keeps commits after a power failure', async () => {
    const dataDir = filledFolder();
    const database = await startEmbeddedPostgres({ dataDir, role: ROLE });
    databases.push(database);
    expect(await query(database.url, `SELECT upper('àé ') || current_setting('server_encoding')`)).toEqual(['ÀÉ UTF8']);
    expect(await query(database.url, `SELECT current_setting('fsync')`)).toEqual(['on']);
  });

  it('uses another port when its own is in use', async () => {
    const dataDir = filledFolder();
    const port = Number(new URL(readFileSync(join(dataDir, 'database-url'), 'utf8').trim()).port);
    const squatter = createServer().listen(port, '127.0.0.1');
    await once(squatter, 'listening');
    try {
      const second = await start(dataDir);
      expect(Number(new URL(second.url).port)).not.toBe(port);
      expect(await query(second.url, 'SELECT 1')).toEqual([1]);
    } finally {
      squatter.close();
    }
  });

  it('leaves no process and no lock when it is stopped once or twice', async () => {
    const dataDir = filledFolder();
    const database = await start(dataDir);
    expect(processesIn(dataDir).length).toBeGreaterThan(3);
    await Promise.all([database.stop(), database.stop()]);
    expect(processesIn(dataDir)).toEqual([]);
    expect(postmasterPid(dataDir)).toBe(0);
  });

  it('also stops when its folder has been deleted', async () => {
    const dataDir = filledFolder();
    const database = await start(dataDir);
    const postmaster = postmasterPid(dataDir);
    spawnSync('rm', ['-rf', dataDir]);
    await database.stop();
    expect(isAlive(postmaster)).toBe(false);
  });
});

describe('one service per data directory', () => {
  it('refuses a second service with one line that names the first', async () => {
    const dataDir = filledFolder();
    const { url } = await start(dataDir);
    const message = await refusal(start(dataDir));
    expect(message).toMatch(
      /^another service \(process \d+\) is already running on .*: stop it, or set DATA_DIR to .*$/,
    );
    expect(message).toContain(`process ${process.pid})`);
    const otherName = `${dataDir}-by-another-name`;
    symlinkSync(dataDir, otherName);
    expect(await refusal(start(otherName))).toContain('is already running on');
    expect(await query(url, 'SELECT 1')).toEqual([1]);
  });

  it('lets exactly one of two first starts succeed', async () => {
    const dataDir = newFolder();
    const outcomes = await Promise.allSettled([start(dataDir), start(dataDir)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const outcome of outcomes)
      if (outcome.status === 'fulfilled') expect(await query(outcome.value.url, 'SELECT 1')).toEqual([1]);
      else expect(await refusal(Promise.reject(outcome.reason as Error))).toContain('is already running on');
    expect(readdirSync(dataDir).sort()).toEqual(['database-url', 'postgres', 'postgres.log']);
  });

  it('keeps its claim when the database drops its session', async () => {
    const dataDir = filledFolder();
    const { url } = await start(dataDir);
    const sessions = `FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE locktype = 'advisory'`;
    const [dropped] = await query(url, `SELECT pid ${sessions}`);
    expect(await query(url, `SELECT pg_terminate_backend(${String(dropped)})`)).toEqual([true]);
    await until(async () => {
      const [pid] = await query(url, `SELECT pid ${sessions}`);
      return pid !== undefined && pid !== dropped;
    });
    expect(await refusal(start(dataDir))).toContain('is already running on');
  });
});

describe('after an accident', () => {
  it('takes over the server of a service that was killed, and stops it at the end', async () => {
    const dataDir = filledFolder();
    const killed = startElsewhere(dataDir);
    const url = await firstLine(killed);
    await query(url, `CREATE TABLE kept AS SELECT 'data' AS value`);
    const postmaster = postmasterPid(dataDir);
    await kill(killed);
    expect(isAlive(postmaster)).toBe(true);

    const announced: string[] = [];
    const next = await start(dataDir, announced);
    expect(announced).toEqual([expect.stringContaining('Took over')]);
    expect(next.url).toBe(url);
    expect(postmasterPid(dataDir)).toBe(postmaster);
    expect(await query(next.url, 'SELECT value FROM kept')).toEqual(['data']);
    await next.stop();
    expect(isAlive(postmaster)).toBe(false);
  });

  it('has a role for the service, also in a folder of an earlier version after the next start', async () => {
    const dataDir = filledFolder();
    const first = await start(dataDir);
    expect(await query(first.serviceUrl, 'SELECT session_user')).toEqual(['accounts_service']);
    await query(first.url, 'DROP ROLE accounts_service');
    await first.stop();
    const second = await start(dataDir);
    expect(await query(second.serviceUrl, 'SELECT session_user')).toEqual(['accounts_service']);
    await expect(query(second.serviceUrl, 'CREATE TABLE mine (id text)')).rejects.toThrow('permission denied');
    expect(new URL(second.serviceUrl).password).toBe(new URL(first.serviceUrl).password);
    expect(second.serviceUrl).not.toContain(new URL(second.url).password);
  });

  it('restarts a killed server on the same port, every time', async () => {
    const dataDir = filledFolder();
    const announced: string[] = [];
    const database = await start(dataDir, announced);
    await query(database.url, `CREATE TABLE kept AS SELECT 'data' AS value`);
    for (let death = 1; death <= 2; death += 1) {
      process.kill(postmasterPid(dataDir), 'SIGKILL');
      await until(async () => announced.length === death && (await query(database.url, 'SELECT 1')).length === 1);
      expect(await query(database.url, 'SELECT value FROM kept')).toEqual(['data']);
    }
    expect(announced).toEqual(Array(2).fill('The database had stopped, and was restarted'));
    await until(() => isClaimed(database.url));
    expect(await refusal(start(dataDir))).toContain('is already running on');
    await database.stop();
    expect(processesIn(dataDir)).toEqual([]);
  });

  it('leaves no server when it stops during a restart', async () => {
    const dataDir = filledFolder();
    const database = await start(dataDir);
    process.kill(postmasterPid(dataDir), 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 520));
    await database.stop();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(processesIn(dataDir)).toEqual([]);
  });

  it('is not misled by a process with the id of the dead server', async () => {
    const dataDir = filledFolder();
    const stale = [process.pid, join(dataDir, 'postgres'), 1, 5_432, '', '127.0.0.1', '', 'ready'].join('\n');
    writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), stale);
    expect(await query((await start(dataDir)).url, 'SELECT 1')).toEqual([1]);
  });

  it('starts again after a first start that was killed halfway, and deletes its leftovers', async () => {
    const dataDir = newFolder();
    const unfinished = () =>
      existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.startsWith('postgres.new-')) : [];
    const killed = startElsewhere(dataDir);
    await until(() => unfinished().some((name) => existsSync(join(dataDir, name, 'cluster', 'base'))));
    await kill(killed);
    // Its initdb goes on for a while.
    const commands = () => execFileSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8' });
    await until(() => !commands().includes(join(dataDir, 'postgres.new-')));
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    expect(await query((await start(dataDir)).url, 'SELECT 1')).toEqual([1]);
    expect(unfinished()).toEqual([]);
  });
});

describe('the user who starts it', () => {
  it('may have variables of PostgreSQL for another database in the shell', async () => {
    const env = {
      PGDATA: '/nowhere',
      PGPORT: '1',
      PGHOST: 'db.invalid',
      PGUSER: 'me',
      PGDATABASE: 'mine',
      PGPASSWORD: 'x',
      PGSSLMODE: 'require',
      PGOPTIONS: '-c search_path=mine',
      LC_ALL: 'xx_XX',
    };
    expect(await firstLine(startElsewhere(filledFolder(), env))).toMatch(/^postgresql:\/\/accounts:/);
  });

  asRoot('may be root, with data below a folder that is closed to everybody else', async () => {
    const dataDir = newFolder();
    expect(statSync(join(dataDir, '..'))).toMatchObject({ uid: 0 });
    expect(statSync(join(dataDir, '..')).mode & 0o777).toBe(0o700);
    await start(dataDir);
    const status = readFileSync(`/proc/${postmasterPid(dataDir)}/status`, 'utf8');
    expect(status).not.toMatch(/^Uid:\s+0/m);
    // Reading and passing is all it may do beyond its account.
    expect(status).toMatch(/^CapEff:\s+0{15}4$/m);
  });

  inOpenTree('may be root, with no power for the database where it needs none', async () => {
    const dataDir = filledFolder();
    spawnSync('chmod', ['755', join(dataDir, '..')]);
    await start(dataDir);
    expect(readFileSync(`/proc/${postmasterPid(dataDir)}/status`, 'utf8')).toMatch(/^CapEff:\s+0{16}$/m);
    expect(statSync(dataDir).mode & 0o777).toBe(0o710);
  });

  inOpenTree('may be an ordinary user', async () => {
    const dataDir = newFolder();
    chownSync(join(dataDir, '..'), NOBODY, NOBODY);
    const service = startElsewhere(dataDir, { HOME: '/tmp' }, AS_ORDINARY_USER);
    expect(await firstLine(service)).toMatch(/^postgresql:\/\/accounts:/);
    expect(statSync(join(dataDir, 'database-url'))).toMatchObject({ uid: NOBODY });
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });

  inOpenTree('may be an ordinary user without a name', async () => {
    const dataDir = newFolder();
    chownSync(join(dataDir, '..'), NAMELESS, NAMELESS);
    const service = startElsewhere(dataDir, {}, ['setpriv', `--reuid=${NAMELESS}`, '--clear-groups']);
    expect(await firstLine(service)).toMatch(/^postgresql:\/\/accounts:/);
    expect(statSync(join(dataDir, 'postgres'))).toMatchObject({ uid: NAMELESS });
  });

  asRoot('may be root without the power to become another user', async () => {
    const service = startElsewhere(newFolder(), {}, ['unshare', '--user', '--map-root-user']);
    expect(await firstLine(service)).toMatch(/^postgresql:\/\/accounts:/);
  });

  asRoot('may be root as containers have it, with data below a folder that is closed to everybody else', async () => {
    const dataDir = newFolder();
    const noNamespaces = join(dataDir, '..', 'bin');
    mkdirSync(noNamespaces);
    writeFileSync(join(noNamespaces, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const env = { PATH: `${noNamespaces}:${process.env.PATH}` };
    const service = startElsewhere(dataDir, env, ['setpriv', '--bounding-set=-dac_read_search']);
    expect(await firstLine(service)).toMatch(/^postgresql:\/\/accounts:/);
    expect(readFileSync(`/proc/${postmasterPid(dataDir)}/status`, 'utf8')).toMatch(/^CapEff:\s+0{15}2$/m);
  });

  asRoot('may be root for once, with data of an ordinary user, which stays theirs', async () => {
    const dataDir = filledFolder();
    spawnSync('chown', ['-R', `${NAMELESS}:${NAMELESS}`, dataDir]);
    await start(dataDir);
    for (const name of ['database-url', 'postgres', 'postgres.log', join('postgres', 'postmaster.pid')])
      expect(statSync(join(dataDir, name))).toMatchObject({ uid: NAMELESS });
  });

  asRoot('may be root, with a copy of the data that belongs to root', async () => {
    const dataDir = filledFolder();
    spawnSync('chown', ['-R', '0:0', dataDir]);
    expect(await query((await start(dataDir)).url, 'SELECT 1')).toEqual([1]);
  });

  it('is told that a shell would misread the path', async () => {
    expect(await refusal(start(`${newFolder()}-$x`))).toMatch(/^PostgreSQL cannot use .*-\$x: rename it/);
  });

  inOpenTree('is told that the data is not theirs', async () => {
    const dataDir = filledFolder();
    spawnSync('chmod', ['755', join(dataDir, '..'), dataDir]);
    const stranger = startElsewhere(dataDir, {}, ['setpriv', '--reuid=1', '--clear-groups']);
    expect(await firstLine(stranger)).toMatch(
      /^cannot keep a database in .*, EACCES: .*: set DATA_DIR to a folder that/,
    );
  });

  it('is told that the folder cannot be written', async () => {
    expect(await refusal(start('/dev/null/data'))).toMatch(
      /^cannot keep a database in DATA_DIR .*'\/dev\/null\/data': set DATA_DIR/,
    );
  });

  it('is told that the folder contains something else', async () => {
    const dataDir = newFolder();
    mkdirSync(join(dataDir, 'postgres'), { recursive: true });
    writeFileSync(join(dataDir, 'postgres', 'diary'), '');
    expect(await refusal(start(dataDir))).toMatch(/^.* contains something other than a database: move it away/);
    expect(readdirSync(dataDir)).toEqual(['postgres']);
  });

  it('is told that the data is of another version', async () => {
    const dataDir = filledFolder();
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
    expect(await refusal(start(dataDir))).toMatch(/ was created by PostgreSQL 17, but this is \d+: dump it /);
  });

  it('is told what PostgreSQL itself says, when it does not start', async () => {
    const options = { dataDir: filledFolder(), role: ROLE, settings: { shared_buffers: 'a lot' } };
    expect(await refusal(startEmbeddedPostgres(options))).toMatch(
      /^PostgreSQL did not start, FATAL: .*"shared_buffers".*postgres\.log\)$/,
    );
    expect(processesIn(options.dataDir)).toEqual([]);
  });
});
