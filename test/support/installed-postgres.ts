import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { AS_ORDINARY_USER, NOBODY } from './service-process';

const PROGRAMS = ['initdb', 'pg_ctl', 'pg_dump', 'pg_restore', 'psql'];
/** The folder of Debian's PostgreSQL, with a folder for each major version. */
const DEBIAN = '/usr/lib/postgresql';

/** Returns the folder of a PostgreSQL with pg_dump, which the embedded one lacks: from PATH, or the newest version. */
export function installedPostgres(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...(process.env.PATH ?? '').split(':'), ...versions.map((version) => join(DEBIAN, version, 'bin'))];
  return folders.find((folder) => PROGRAMS.every((program) => existsSync(join(folder, program))));
}

/** A server of an installed PostgreSQL, which listens on a socket in its own folder. */
export class InstalledPostgres {
  private constructor(
    private readonly programs: string,
    readonly folder: string,
  ) {}

  static start(programs: string): InstalledPostgres {
    const folder = mkdtempSync(join(tmpdir(), 'accounts-installed-'));
    if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY);
    const server = new InstalledPostgres(programs, folder);
    const auth = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    server.runProgram('initdb', [`--pgdata=${server.files}`, ...auth]);
    server.startServer();
    return server;
  }

  startServer(): void {
    const options = `-c listen_addresses='' -c unix_socket_directories='${this.folder}' -c fsync=off`;
    const log = join(this.folder, 'log');
    this.runProgram('pg_ctl', ['start', '--wait', `--pgdata=${this.files}`, `--log=${log}`, `--options=${options}`]);
  }

  stopServer(): void {
    this.runProgram('pg_ctl', ['stop', '--wait', '--mode=immediate', `--pgdata=${this.files}`]);
  }

  remove(): void {
    this.stopServer();
    rmSync(this.folder, { recursive: true, force: true });
  }

  url(database: string, role = 'postgres'): string {
    return `postgresql://${role}@localhost/${database}?host=${this.folder}`;
  }

  async sql(database: string, statement: string): Promise<Record<string, unknown>[]> {
    const client = new Client(this.url(database));
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end();
    }
  }

  private get files(): string {
    return join(this.folder, 'files');
  }

  private runProgram(program: string, args: string[]): void {
    runProgram(this.programs, program, args);
  }
}

/** Runs a program of PostgreSQL as an ordinary user, since it refuses root. */
export function runProgram(folder: string, program: string, args: string[]): void {
  const before = process.getuid?.() === 0 ? AS_ORDINARY_USER : [];
  const [file = '', ...rest] = [...before, join(folder, program), ...args];
  const { status, stderr } = spawnSync(file, rest, {
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 60_000,
  });
  if (status !== 0) throw new Error(`${program}: ${stderr.toString()}`);
}
