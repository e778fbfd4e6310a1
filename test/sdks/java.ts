import { spawnSync } from 'node:child_process';
import { outputOf } from './program';

/** Returns the installed version of Java, or 0. */
export function javaVersion(): number {
  const { stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  return Number(/version "(\d+)/.exec(String(stderr))?.[1] ?? 0);
}

/** Runs Java with only its first compiler: each program runs once, and too briefly for the second. */
export const java = (...args: string[]) => outputOf('java', ['-Xmx1g', '-XX:TieredStopAtLevel=1', ...args]);
