import { spawn } from 'node:child_process';

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Where {
  cwd?: string;
  input?: string;
}

/**
 * The only variables of this shell that docker gets: those to find the engine and the network. Others must not replace
 * variables of .env.
 */
const NEEDED = /^(PATH|HOME|TMPDIR|XDG_RUNTIME_DIR|DOCKER_\w+|BUILDX_\w+|https?_proxy|no_proxy)$/i;
const KEPT = Object.fromEntries(Object.entries(process.env).filter(([name]) => NEEDED.test(name)));
const ENVIRONMENT = { ...KEPT, BUILDKIT_PROGRESS: 'plain', COMPOSE_MENU: '0', NO_COLOR: '1' };

/** Runs docker, and returns its result with any status. */
export function docker(args: string[], { cwd, input = '' }: Where = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn('docker', args, { env: ENVIRONMENT, ...(cwd !== undefined && { cwd }) });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, stdout, stderr }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/** Returns docker's output, or throws an error with its last words if it fails. */
export async function dockerOutput(args: string[], where?: Where): Promise<string> {
  const ended = await docker(args, where);
  if (ended.status === 0) return ended.stdout.trim();
  const words = `${ended.stdout}${ended.stderr}`.trimEnd().split('\n').slice(-12).join('\n    ');
  throw new Error(`docker ${args.join(' ')} ended with ${ended.status}:\n    ${words}`);
}

/** Returns the engine's version, or undefined if no engine answers. */
export async function engineVersion(): Promise<string | undefined> {
  const format = '{{.Server.Version}}';
  const ended = await docker(['version', '--format', format]).catch(() => undefined);
  return ended?.status === 0 ? ended.stdout.trim() : undefined;
}
