import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OUTPUT } from './paths';
import { rememberSecret } from './secrets';
import { until } from './until';

export const ROOT = join(__dirname, '..', '..');

/** Runs a program of the sources, as npm's commands do. */
export const RUN = join(ROOT, 'scripts/launch/run.mjs');
/** Lets a process of Node's own load TypeScript: `node --require TYPESCRIPT`. */
export const TYPESCRIPT = join(ROOT, 'scripts/launch/typescript.cjs');

/** For NODE_OPTIONS: the process prints at its end which packages it has loaded. */
export const SHOW_MODULES = `--require=${join(ROOT, 'test/support/show-modules.cjs')}`;

export interface HowToStart {
  /** Program in front of node. */
  command?: string[];
}

/** The service as its users start it: a process of its own, with settings only from its environment. */
export class ServiceProcess {
  stdout = '';
  stderr = '';
  readonly exited: Promise<number | null>;

  private constructor(private readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.exited = new Promise((resolve) => child.on('close', (status) => resolve(status)));
    void this.exited.then(() => this.keepLog());
  }

  /** Starts it in a process group of its own, as in a terminal. */
  static start(env: Record<string, string>, { command = [] }: HowToStart = {}): ServiceProcess {
    const [program = process.execPath, ...args] = [...command, process.execPath, RUN, 'src/server.ts'];
    const child = spawn(program, args, {
      cwd: ROOT,
      detached: true,
      env: { ...ofThisRun('PATH', 'HOME', 'TEST_RUN', 'TMPDIR'), BCRYPT_COST: '4', PORT: '0', ...env },
    });
    return new ServiceProcess(child);
  }

  /** The codes of the SMS in its output, oldest first. */
  get codes(): string[] {
    return [...this.stdout.matchAll(/^SMS to \S+: (\d{6}) /gm)].map(([, code]) => rememberSecret(code ?? ''));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** The address that it prints, on a port that the system has chosen. */
  get url(): string {
    const [, url] =
      /try +curl (http:\S+?)\/(?:user|readyz)/.exec(this.stdout) ?? /"url":"(http:[^"]+)"/.exec(this.stdout) ?? [];
    if (url === undefined) throw new Error(`the service does not listen: ${this.stdout}${this.stderr}`);
    return url;
  }

  async untilListening(): Promise<this> {
    await until(() => {
      if (this.child.exitCode !== null) throw new Error(`the service has ended: ${this.stdout}${this.stderr}`);
      return this.stdout.includes(' is ready at ');
    }, 300_000);
    return this;
  }

  async untilReady(): Promise<this> {
    await this.untilListening();
    await until(async () => (await fetch(`${this.url}/readyz`)).ok);
    return this;
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Sends SIGINT to the whole group, as Ctrl-C does. */
  interruptGroup(): void {
    process.kill(-this.pid, 'SIGINT');
  }

  async stop(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.signal('SIGTERM');
    return this.exited;
  }

  async post(path: string, body: object): Promise<Response> {
    return fetch(`${this.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  }

  /** Keeps its log, which is searched for secrets like all others. */
  private keepLog(): void {
    const lines = this.stdout.split('\n').filter((line) => line.startsWith('{'));
    appendFileSync(join(OUTPUT, `log-process-${this.pid}.ndjson`), `${lines.join('\n')}\n`);
  }
}

/** Returns these variables of the environment, where they are set. */
function ofThisRun(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, process.env[name] ?? '']));
}

export const NOBODY = 65_534;
export const AS_ORDINARY_USER = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

/** Whether every user may read this tree. Only root can use one below root's own folder. */
export function isTreeOpen(): boolean {
  const [program = '', ...args] = [...AS_ORDINARY_USER, 'test', '-r', join(ROOT, 'package.json')];
  return spawnSync(program, args).status === 0;
}

export interface DataDir {
  path: string;
  remove(): void;
}

export function newDataDir(): DataDir {
  const parent = mkdtempSync(join(tmpdir(), 'accounts-data-'));
  return { path: join(parent, 'data'), remove: () => rmSync(parent, { recursive: true, force: true }) };
}

/** Returns the embedded server's process id from its own file, or 0 after an orderly stop. */
export function postmasterPid(dataDir: string): number {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0;
}
