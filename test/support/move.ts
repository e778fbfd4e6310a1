import { spawn } from 'node:child_process';
import { ROOT, RUN } from './service-process';

interface Moving {
  said: () => string;
  /** Like Ctrl-C. */
  interrupt: () => void;
  end: Promise<{ said: string; code: number | null }>;
}

/** Starts npm run move with these words. */
export function startMove(from: string, to: string, ...words: string[]): Moving {
  const child = spawn(process.execPath, [RUN, 'scripts/operate/move.ts', ...words], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: from, MOVE_TO: to },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const end = new Promise<{ said: string; code: number | null }>((resolve) =>
    child.once('close', (code) => resolve({ said, code })),
  );
  return { said: () => said, interrupt: () => child.kill('SIGINT'), end };
}

/** Runs it, and returns what it printed and its exit code. */
export const runMove = (from: string, to: string, ...words: string[]) => startMove(from, to, ...words).end;

/** Moves all to an empty database, or throws. */
export async function moveAll(from: string, to: string): Promise<void> {
  const { said, code } = await runMove(from, to, '--cut-over');
  if (code !== 0) throw new Error(said);
}
