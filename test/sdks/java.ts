import { spawn, spawnSync } from 'node:child_process';

/** The version of Java here, 0 without one. */
export function javaVersion(): number {
  const { stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  return Number(/version "(\d+)/.exec(String(stderr))?.[1] ?? 0);
}

/** What the program says, when it ends well. */
export function java(...args: string[]): Promise<string> {
  // Each program runs once, and too shortly for the better of the compilers.
  const child = spawn('java', ['-Xmx1g', '-XX:TieredStopAtLevel=1', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => (status === 0 ? resolve(output) : reject(new Error(output.slice(-8_000)))));
  });
}
