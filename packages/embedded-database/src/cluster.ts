// Depends on details that PostgreSQL does not promise: the lines of postmaster.pid, the wording of its messages, and
// that the server process is named postgres and runs in the data folder.
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, EmbeddedPostgresError } from './error';
import { isAlive, isPostgres, runProgram } from './processes';
import type { Programs } from './programs';

const USER = 'accounts';
const UNFINISHED = 'postgres.new-';
const STOP_WITHIN_MS = 60_000;
/** Errors to retry: another program took the port, another start was faster, or a killed server is still ending. */
const TRY_AGAIN = /could not (bind|create any TCP)|lock file .* already exists|pre-existing shared memory/;

/** PostgreSQL's files in DATA_DIR, and the server on them. */
export class Cluster {
  readonly folder: string;
  readonly log: string;
  readonly addressFile: string;
  private readonly pidFile: string;
  /** Process id for stopping the server after its folder was deleted. */
  private lastPid = 0;

  constructor(
    readonly dataDir: string,
    private readonly programs: Programs,
    private readonly settings: Record<string, string>,
  ) {
    this.folder = join(dataDir, 'postgres');
    this.log = join(dataDir, 'postgres.log');
    this.addressFile = join(dataDir, 'database-url');
    this.pidFile = join(this.folder, 'postmaster.pid');
  }

  /** Returns whether there is a database already. Refuses one of another version of PostgreSQL. */
  async exists(): Promise<boolean> {
    const version = (await readIfThere(join(this.folder, 'PG_VERSION'))).trim();
    if (version === '' || version === this.programs.version) return version !== '';
    throw new EmbeddedPostgresError(
      `${this.folder} was created by PostgreSQL ${version}, but this is ${this.programs.version}: dump it with the old version and restore it, or move it away to start with an empty database`,
    );
  }

  /** Returns the URL of the server, without a database. */
  async server(port: number): Promise<string> {
    return `postgresql://${USER}:${await this.password()}@127.0.0.1:${port}`;
  }

  /**
   * Returns a password that is the same at each start and in each copy of the cluster, and does not reveal the owner's.
   */
  async passwordOf(role: string): Promise<string> {
    return createHmac('sha256', await this.password())
      .update(role)
      .digest('base64url');
  }

  /**
   * Creates the cluster next to its place, and moves it there when complete: an interrupted start leaves no partial
   * cluster.
   */
  async create(): Promise<void> {
    const workshop = await mkdtemp(join(this.dataDir, UNFINISHED));
    const made = join(workshop, 'cluster');
    const password = join(workshop, 'password');
    try {
      await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600 });
      await this.handOver(workshop);
      await this.initdb(made, password);
      // The password moves with the cluster, so that two concurrent first starts cannot mix theirs up.
      await rename(password, join(made, 'password'));
      await rename(made, this.folder);
    } catch (error) {
      // Another first start was faster, and may have deleted this folder. Its cluster is as good.
      if (await this.exists()) return;
      if (codeOf(error) !== 'ENOTEMPTY') throw error;
      throw new EmbeddedPostgresError(
        `${this.folder} contains something other than a database: move it away, or set DATA_DIR to another folder`,
      );
    } finally {
      await discard(workshop);
    }
  }

  /** Deletes leftovers of interrupted starts. Only for the owner of the cluster: another first start may be running. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.dataDir))
      if (name.startsWith(UNFINISHED)) await discard(join(this.dataDir, name));
  }

  /** Returns the server that runs on this cluster, if any. */
  async postmaster(): Promise<{ pid: number; port: number } | undefined> {
    const [pid, , , port] = (await readIfThere(this.pidFile)).split('\n').map(Number);
    if (!pid || !port || !(await this.runsHere(pid))) return undefined;
    this.lastPid = pid;
    return { pid, port };
  }

  /**
   * Starts the server. Returns without one if a retry may succeed. pg_ctl starts the server in its own session, so a
   * Ctrl-C for the service does not reach it.
   */
  async start(port: number): Promise<void> {
    await this.dropForeignPidFile();
    await writeFile(this.log, '', { flag: 'a', mode: 0o600 });
    await this.handOver(this.folder);
    await this.handOver(this.log);
    const logged = (await stat(this.log)).size;
    const args = ['start', '-D', this.folder, '-l', this.log, '-o', this.serverOptions(port)];
    const outcome = await this.programs.run('pg_ctl', args);
    if (outcome.ok || (await this.postmaster())) return;
    // Reads only the log of this start.
    const output = (await readFile(this.log)).subarray(logged).toString();
    if (TRY_AGAIN.test(output)) return sleep(250);
    const why = reason(`${output}\n${outcome.stderr}`);
    throw new EmbeddedPostgresError(`PostgreSQL did not start, ${why} (see ${this.log})`);
  }

  /**
   * Stops the server and waits for its end: sessions are cut, commits stay. Sends a signal, like `pg_ctl stop`, so that
   * it also works when someone has deleted the folder.
   */
  async stop(): Promise<void> {
    const pid = (await this.postmaster())?.pid ?? this.lastPid;
    if (!isPostgres(pid)) return;
    process.kill(pid, 'SIGINT');
    const deadline = Date.now() + STOP_WITHIN_MS;
    while (isAlive(pid) && Date.now() < deadline) await sleep(10);
    if (isAlive(pid))
      throw new EmbeddedPostgresError(`PostgreSQL (process ${pid}) does not stop: see ${this.log}, then kill it`);
  }

  private password(): Promise<string> {
    return readFile(join(this.folder, 'password'), 'utf8');
  }

  private async initdb(folder: string, passwordFile: string): Promise<void> {
    const { ok, stderr } = await this.programs.run('initdb', [
      `--pgdata=${folder}`,
      `--username=${USER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--no-instructions',
      // Unicode by PostgreSQL's own tables: the same on every machine, whatever locales it has.
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...(this.settings.fsync === 'off' ? ['--no-sync'] : []),
    ]);
    if (!ok) throw new EmbeddedPostgresError(`the database could not be created, ${reason(stderr)}`);
  }

  /** Returns the options, quoted because pg_ctl passes them to a shell. */
  private serverOptions(port: number): string {
    const fixed = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port) };
    return Object.entries({ ...this.settings, ...fixed })
      .map(([name, value]) => `-c '${name}=${value.replaceAll("'", `'\\''`)}'`)
      .join(' ');
  }

  /** Returns whether the process is a postgres in this folder: process ids are reused, above all in containers. */
  private async runsHere(pid: number): Promise<boolean> {
    if (!isPostgres(pid)) return false;
    // Compares the folders by inode: DATA_DIR may be a symbolic link.
    const [folder, there] = await Promise.all([stat(this.folder), stat(`/proc/${pid}/cwd`).catch(() => undefined)]);
    return there === undefined || (there.dev === folder.dev && there.ino === folder.ino);
  }

  /** Deletes a pid file that PostgreSQL would not replace: an empty one, or one whose id another process has. */
  private async dropForeignPidFile(): Promise<void> {
    const content = await readIfThere(this.pidFile);
    const pid = parseInt(content, 10);
    if (content === '' || (isAlive(pid) && !(await this.runsHere(pid)))) await discard(this.pidFile);
  }

  /** Gives files to the owner. They may belong to root in a copy made by root, or after a start in a user namespace. */
  private async handOver(path: string): Promise<void> {
    const { owner } = this.programs;
    if (!owner || (await stat(path)).uid === owner.uid) return;
    // Follows a link to the folder, but not links inside it, which could lead to files of another user.
    await runProgram('chown', ['-RhH', `${owner.uid}:${owner.gid}`, path]);
  }
}

/** Returns the line of PostgreSQL's output with the reason. */
function reason(output: string): string {
  const [line = output.trim()] = /(FATAL|PANIC).*/.exec(output) ?? /.*(error|could not).*/.exec(output) ?? [];
  return line;
}

async function readIfThere(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
}

/** Deletes a file or folder, if possible: a later start deletes the rest. */
async function discard(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => undefined);
}
