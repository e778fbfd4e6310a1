import { spawn, type SpawnOptions } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { codeOf } from '../../errors';

export interface Outcome {
  ok: boolean;
  stdout: string;
  stderr: string;
}

/**
 * Runs a program to its end. Of the environment it gets only the search path: PGDATA, PGPORT, LC_ALL and their like in
 * the operator's shell must not bend the database, and messages that are looked through have to be in English.
 */
export function run(file: string, args: string[], options: Pick<SpawnOptions, 'uid' | 'gid'> = {}): Promise<Outcome> {
  return new Promise((settle) => {
    const child = spawn(file, args, {
      ...options,
      cwd: '/',
      // eslint-disable-next-line no-restricted-properties -- not configuration: where the programs are found
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    child.on('error', (error) => settle({ ok: false, stdout, stderr: error.message }));
    child.on('close', (code) => settle({ ok: code === 0, stdout, stderr }));
  });
}

/**
 * Whether a process runs; one that has ended but that nobody has collected (as in a container without an init) does
 * not.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false;
  }
  return !/^State:\s+[ZX]/m.test(procFile(pid, 'status'));
}

/** The program's short name, or undefined where the system does not tell. */
export function programName(pid: number): string | undefined {
  return procFile(pid, 'comm').trim() || undefined;
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
