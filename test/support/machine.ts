import { spawnSync } from 'node:child_process';

/** Each returns why something cannot be tried on this machine. */
export const hasProgram = (name: string) =>
  spawnSync('which', [name]).status === 0 ? undefined : `${name} is not installed`;
export const isRoot = () => (process.getuid?.() === 0 ? undefined : 'only root can do that');
