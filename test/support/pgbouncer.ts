import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NOBODY } from './service-process';
import { until } from './until';

const PORT = 6432;
const DEADLINE_MS = 30_000;

/** PgBouncer as docs/database.md describes it. It refuses to run as root, and listens on a socket here. */
export class Pgbouncer {
  private constructor(
    private readonly folder: string,
    private readonly program: ChildProcess,
    private readonly users: Map<string, string>,
  ) {}

  /** Starts it with the address of each database. */
  static async start(databases: Record<string, string>): Promise<Pgbouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'accounts-pgbouncer-'));
    chmodSync(folder, 0o777);
    const known = Object.entries(databases).map(([name, url]) => ({ name, ...partsOf(url) }));
    const config = [
      '[databases]',
      ...known.map(
        ({ name, hostname, port, database, username, password }) =>
          `${name} = host=${hostname} port=${port} dbname=${database} user=${username} password=${password}`,
      ),
      '[pgbouncer]',
      'listen_addr =',
      `listen_port = ${PORT}`,
      `unix_socket_dir = ${folder}`,
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 10',
      'ignore_startup_parameters = extra_float_digits, statement_timeout, lock_timeout, idle_in_transaction_session_timeout',
    ];
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(file, `${config.join('\n')}\n`);
    const user = process.getuid?.() === 0 ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];
    const program = spawn('setpriv', [...user, 'pgbouncer', '-q', file], { stdio: ['ignore', 'ignore', 'inherit'] });
    const pgbouncer = new Pgbouncer(folder, program, new Map(known.map(({ name, username }) => [name, username])));
    try {
      await until(() => existsSync(join(folder, `.s.PGSQL.${PORT}`)), DEADLINE_MS);
    } catch (error) {
      await pgbouncer.stop();
      throw error;
    }
    return pgbouncer;
  }

  urlOf(name: string): string {
    return `postgresql://${this.users.get(name)}@localhost/${name}?host=${this.folder}&port=${PORT}`;
  }

  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.program;
    const ended = new Promise((resolve) => this.program.once('exit', resolve));
    if (exitCode === null && signalCode === null && this.program.kill('SIGTERM')) await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function partsOf(url: string) {
  const { hostname, port, username, password, pathname } = new URL(url);
  return { hostname, port, username, password, database: pathname.slice(1) };
}
