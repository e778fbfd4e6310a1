// Stops the PostgreSQL of a run of tests and removes its folder when the run has ended, even by Ctrl-C or a kill: the
// run holds the other end of standard input. It uses only Node, and has a process group of its own.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [dataDir = ''] = process.argv.slice(2);
const STOP_WITHIN_MS = 60_000;

function postmaster() {
  try {
    const pid = parseInt(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

await new Promise((resolve) => process.stdin.on('close', resolve).resume());
const begun = Date.now();
const pid = postmaster();
// Immediate shutdown, since the data is deleted.
if (pid !== undefined) process.kill(pid, 'SIGQUIT');
while (postmaster() !== undefined && Date.now() - begun < STOP_WITHIN_MS) {
  await sleep(50);
}
rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
