import { spawnSync } from 'node:child_process';
import { said } from './program';

/** The version of Java here, 0 without one. */
export function javaVersion(): number {
  const { stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  return Number(/version "(\d+)/.exec(String(stderr))?.[1] ?? 0);
}

/** Each program runs once, and too shortly for the better of the compilers. */
export const java = (...args: string[]) => said('java', ['-Xmx1g', '-XX:TieredStopAtLevel=1', ...args]);
