import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { codeOf } from './error';

export interface Account {
  uid: number;
  gid: number;
}

export interface Outcome {
  ok: boolean;
  stdout: string;
  stderr: string;
}

/**
 * Runs a program to its end, with only the search path of the environment: PGDATA, PGPORT, LC_ALL and others in the
 * operator's shell must not affect the database, and messages must be in English to be recognised.
 */
export function runProgram(file: string, args: string[], account?: Account): Promise<Outcome> {
  const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
  const ended = new Promise<Outcome>((settle) => {
    execFile(file, args, { ...account, cwd: '/', env }, (error, stdout, stderr) =>
      settle({ ok: !error, stdout, stderr: stderr || (error?.message ?? '') }),
    );
  });
  // If this process may not use the account, Node throws at once.
  return ended.catch((error: unknown) => ({ ok: false, stdout: '', stderr: String(error) }));
}

/**
 * Returns whether a process runs. A zombie, which no parent has collected (as in a container without an init), does
 * not.
 */
export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false;
  }
  return !/^State:\s+[ZX]/m.test(procFile(pid, 'status'));
}

/** Returns whether a postgres runs with this id. On systems without process names, any process counts. */
export function isPostgres(pid: number): boolean {
  return isAlive(pid) && ['postgres\n', ''].includes(procFile(pid, 'comm'));
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
