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

/** What finds the engine and a way out, and nothing else: a variable of this shell must not stand in for one of .env. */
const NEEDED = /^(PATH|HOME|TMPDIR|XDG_RUNTIME_DIR|DOCKER_\w+|BUILDX_\w+|https?_proxy|no_proxy)$/i;
const KEPT = Object.fromEntries(Object.entries(process.env).filter(([name]) => NEEDED.test(name)));
const ENVIRONMENT = { ...KEPT, BUILDKIT_PROGRESS: 'plain', COMPOSE_MENU: '0', NO_COLOR: '1' };

/** As it ends, whatever its status. */
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

/** What it prints; an error with its last words unless it ends well. */
export async function dockerOutput(args: string[], where?: Where): Promise<string> {
  const ended = await docker(args, where);
  if (ended.status === 0) return ended.stdout.trim();
  const words = `${ended.stdout}${ended.stderr}`.trimEnd().split('\n').slice(-12).join('\n    ');
  throw new Error(`docker ${args.join(' ')} ended with ${ended.status}:\n    ${words}`);
}

/** Its version, or undefined where none answers. */
export async function engineVersion(): Promise<string | undefined> {
  const format = '{{.Server.Version}}';
  const ended = await docker(['version', '--format', format]).catch(() => undefined);
  return ended?.status === 0 ? ended.stdout.trim() : undefined;
}
