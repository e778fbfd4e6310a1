import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const WRITTEN_EVERY_MS = 100;

/** What a process that was started with observe.mjs has last told of itself. */
export async function look(server) {
  await sleep(2 * WRITTEN_EVERY_MS);
  return JSON.parse(readFileSync(server.file, 'utf8'));
}

/** Lets its memory settle and begins a new period; returns what it then looks like. */
export async function settle(server) {
  const { resets } = await look(server);
  process.kill(server.pid, 'SIGUSR2');
  for (;;) {
    const now = await look(server);
    if (now.resets > resets) return now;
  }
}

export const MIB = 1_024 ** 2;
