import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, open, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../errors';
import type { Binaries } from './binaries';
import { EmbeddedPostgresError, orWhen } from './error';
import { USER } from './ownership';
import { isAlive, programName, type Outcome } from './processes';
import type { Chosen, RunAs } from './run-as';

export interface Postmaster {
  pid: number;
  /** Not known while it is still starting. */
  port: number | undefined;
}

const LOG_LIMIT_BYTES = 8 * 1_024 * 1_024;
const UNFINISHED = 'postgres.new-';
const START_SECONDS = 120;
const FAST_STOP_MS = 60_000;
const IMMEDIATE_STOP_MS = 10_000;

/** PostgreSQL's files in DATA_DIR, and the server that runs on them. */
export class Cluster {
  readonly folder: string;
  readonly log: string;
  private readonly runAs: RunAs;

  constructor(
    private readonly dataDir: string,
    private readonly binaries: Binaries,
    private readonly chosen: Chosen,
    private readonly settings: Record<string, string>,
  ) {
    this.folder = join(dataDir, 'postgres');
    this.log = join(dataDir, 'postgres.log');
    this.runAs = chosen.runAs;
  }

  async exists(): Promise<boolean> {
    return (await this.version()) !== undefined;
  }

  async password(): Promise<string> {
    return readFile(join(this.folder, 'password'), 'utf8');
  }

  /** Made beside its place and moved there when complete, so that an interrupted start leaves nothing half done. */
  async create(): Promise<void> {
    const workshop = await mkdtemp(join(this.dataDir, UNFINISHED));
    try {
      const made = join(workshop, 'cluster');
      const password = join(workshop, 'password');
      await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600 });
      await this.handOver(workshop, password);
      await this.initdb(made, password);
      // The password moves with the cluster: two first starts at once cannot mix theirs up.
      await rename(password, join(made, 'password'));
      await rename(made, this.folder);
    } catch (error) {
      // Another first start was quicker, and may have swept our workshop away: its cluster is as good.
      if (await this.exists()) return;
      if (codeOf(error) !== 'ENOTEMPTY') throw error;
      throw new EmbeddedPostgresError(
        `${this.folder} holds something else than a database: move it away, or set DATA_DIR to another folder`,
      );
    } finally {
      await discard(workshop);
    }
  }

  /** What starts that died halfway left behind. Only for the cluster's owner: another first start may be at work. */
  async sweep(): Promise<void> {
    const names = (await readdir(this.dataDir)).filter((name) => name.startsWith(UNFINISHED));
    await Promise.all(names.map((name) => discard(join(this.dataDir, name))));
  }

  /** The server on this cluster, if there is one, whoever started it. */
  async postmaster(): Promise<Postmaster | undefined> {
    const [pid, , , port] = (await this.pidFile()).split('\n').map(Number);
    if (!pid || !(await this.runsHere(pid))) return undefined;
    return { pid, port: port || undefined };
  }

  /**
   * Starts the server on a port, or says what to try next: `running` when another start got ahead, `port taken` when
   * the port did. pg_ctl puts the server into a session of its own, where a Ctrl-C meant for us does not reach it.
   */
  async start(port: number): Promise<'running' | 'port taken'> {
    await this.checkVersion();
    await this.dropForeignPidFile();
    await this.handOverFolder();
    const logged = await this.prepareLog();
    const args = ['start', '-w', '-t', String(START_SECONDS), '-D', this.folder, '-l', this.log];
    const outcome = await this.runAs.run(this.binaries.pgCtl, [...args, '-o', this.serverOptions(port)]);
    if (outcome.ok || (await this.postmaster())) return 'running';
    const output = (await readFile(this.log, 'utf8')).slice(logged);
    if (/could not bind|could not create any TCP/.test(output)) return 'port taken';
    // Another start's server was there a moment ago, or processes of a killed one are still on their way out.
    if (/lock file .* already exists|pre-existing shared memory block/.test(output)) {
      await sleep(250);
      return 'running';
    }
    throw new EmbeddedPostgresError(`PostgreSQL did not start, ${reason(output, outcome)} (see ${this.log})`);
  }

  /** Ends the server and waits until it has gone: sessions are cut, what was committed stays. */
  async stop(started: Postmaster): Promise<void> {
    const { pid } = (await this.postmaster()) ?? started;
    if (await this.ended(pid, 'SIGINT', FAST_STOP_MS)) return;
    if (await this.ended(pid, 'SIGQUIT', IMMEDIATE_STOP_MS)) return;
    throw new EmbeddedPostgresError(`PostgreSQL (process ${pid}) does not stop: see ${this.log}, then kill it`);
  }

  private async ended(pid: number, signal: 'SIGINT' | 'SIGQUIT', withinMs: number): Promise<boolean> {
    // By signal, as `pg_ctl stop` does it, but also when someone has deleted the folder under the server.
    if (!isPostgres(pid)) return true;
    process.kill(pid, signal);
    const deadline = Date.now() + withinMs;
    while (isAlive(pid) && Date.now() < deadline) await sleep(10);
    return !isAlive(pid);
  }

  private async initdb(folder: string, passwordFile: string): Promise<void> {
    const outcome = await this.runAs.run(this.binaries.initdb, [
      ...['-D', folder, '-U', USER, '--pwfile', passwordFile, '--auth=scram-sha-256', '--no-instructions'],
      // Unicode by PostgreSQL's own tables: the same on every machine, whatever locales it has.
      ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      ...(this.settings.fsync === 'off' ? ['--no-sync'] : []),
    ]);
    if (outcome.ok) return;
    throw new EmbeddedPostgresError(`the database could not be created, ${reason(outcome.stderr, outcome)}`);
  }

  private serverOptions(port: number): string {
    const fixed = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port) };
    return Object.entries({ ...this.settings, ...fixed })
      .map(([name, value]) => `-c ${quoted(`${name}=${value}`)}`)
      .join(' ');
  }

  private async version(): Promise<string | undefined> {
    const text = await orWhen('ENOENT', undefined, readFile(join(this.folder, 'PG_VERSION'), 'utf8'));
    return text?.trim();
  }

  private async checkVersion(): Promise<void> {
    const version = await this.version();
    if (version === this.chosen.version) return;
    throw new EmbeddedPostgresError(
      `${this.folder} was made by PostgreSQL ${version}, this is ${this.chosen.version}: dump it with the old version and restore it, or move it away to begin with an empty database`,
    );
  }

  private async pidFile(): Promise<string> {
    return orWhen('ENOENT', '', readFile(join(this.folder, 'postmaster.pid'), 'utf8'));
  }

  /** Numbers of processes are used again, most of all in containers: only a postgres inside this folder is ours. */
  private async runsHere(pid: number): Promise<boolean> {
    if (!isPostgres(pid)) return false;
    // By what the folders are and not by their names: DATA_DIR may be a symbolic link.
    const [folder, there] = await Promise.all([stat(this.folder), stat(`/proc/${pid}/cwd`).catch(() => undefined)]);
    return there === undefined || (there.dev === folder.dev && there.ino === folder.ino);
  }

  /**
   * PostgreSQL replaces the file of a dead server by itself, but neither one whose number lives on elsewhere nor an
   * empty one.
   */
  private async dropForeignPidFile(): Promise<void> {
    const content = await orWhen('ENOENT', undefined, readFile(join(this.folder, 'postmaster.pid'), 'utf8'));
    if (content === undefined) return;
    const pid = Number(content.split('\n')[0]);
    const foreign = pid > 0 && isAlive(pid) && !(await this.runsHere(pid));
    if (foreign || (content === '' && (await this.pidFileStaysEmpty())))
      await discard(join(this.folder, 'postmaster.pid'));
  }

  private async pidFileStaysEmpty(): Promise<boolean> {
    await sleep(500);
    return (await this.pidFile()) === '';
  }

  /** Returns how much the log already holds, so that an old failure is not taken for the new one. */
  private async prepareLog(): Promise<number> {
    const file = await open(this.log, 'a', 0o600);
    try {
      if ((await file.stat()).size > LOG_LIMIT_BYTES) await file.truncate(0);
    } finally {
      await file.close();
    }
    await this.handOver(this.log);
    return (await readFile(this.log, 'utf8')).length;
  }

  private async handOver(...paths: string[]): Promise<void> {
    const { owner } = this.runAs;
    if (owner) await Promise.all(paths.map((path) => chown(path, owner.uid, owner.gid)));
  }

  /** After a start that had to run PostgreSQL as somebody else. */
  private async handOverFolder(): Promise<void> {
    const { owner } = this.runAs;
    if (!owner || (await stat(this.folder)).uid === owner.uid) return;
    const entries = await readdir(this.folder, { recursive: true });
    await this.handOver(...entries.map((entry) => join(this.folder, entry)));
    await this.handOver(this.folder);
  }
}

/** Where the system tells no names, whatever runs under the number is taken for a server. */
function isPostgres(pid: number): boolean {
  return isAlive(pid) && (programName(pid) ?? 'postgres') === 'postgres';
}

/** For the shell through which pg_ctl starts the server. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The line of PostgreSQL's output that says why, and what to do about it where that is known. */
function reason(output: string, outcome: Outcome): string {
  const lines = `${outcome.stderr}\n${output}`.split('\n').filter((line) => line.trim() !== '');
  // A full disk or memory makes further complaints, which say less.
  const cause = lines.find((line) => /No space left|could not extend file|shared memory/.test(line));
  const telling = lines.filter(
    (line) => /FATAL|PANIC|error|could not|cannot/i.test(line) && !line.startsWith('pg_ctl:'),
  );
  const line = (cause ?? telling.pop() ?? lines.pop() ?? 'without a word').replace(/^.*(?=FATAL|PANIC)/, '').trim();
  if (/No space left|could not extend file/.test(line))
    return `${line}: free some disk space, or set DATA_DIR to another disk`;
  if (/shared memory/.test(line)) return `${line}: free some memory, or set DATABASE_URL`;
  return line;
}

/** Best effort: what cannot go now is swept by a later start. */
async function discard(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}
