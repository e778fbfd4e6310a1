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
 * Runs a program to its end. Of the environment it gets only the search path: PGDATA, PGPORT, LC_ALL and their like in
 * the operator's shell must not bend the database, and messages that are looked through have to be in English.
 */
export function run(file: string, args: string[], account?: Account): Promise<Outcome> {
  const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
  const ended = new Promise<Outcome>((settle) => {
    execFile(file, args, { ...account, cwd: '/', env }, (error, stdout, stderr) =>
      settle({ ok: !error, stdout, stderr: stderr || (error?.message ?? '') }),
    );
  });
  // An account that this process may not become is an error at once.
  return ended.catch((error: unknown) => ({ ok: false, stdout: '', stderr: String(error) }));
}

/**
 * Whether a process runs; one that has ended but that nobody has collected (as in a container without an init) does
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

/** On systems that tell no names, any process with this number is taken for a server. */
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
