// Ends what a run of tests has started, and removes its folder, when the run has ended, even by Ctrl-C or a kill: the run
// holds the other end of standard input. It uses only Node, and has a process group of its own.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [folder = ''] = process.argv.slice(2);
const END_WITHIN_MS = 60_000;
const MARKS = [`TEST_RUN=${process.env.TEST_RUN} `, folder];

await new Promise((resolve) => process.stdin.on('close', resolve).resume());
const begun = Date.now();
// Again and again, since a process may start others until it is ended.
for (let left = processes(); left.length > 0 && Date.now() - begun < END_WITHIN_MS; left = processes()) {
  left.forEach(end);
  await sleep(50);
}
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });

/** Returns processes that have inherited the name of the run, or know its folder, as a PostgreSQL does. */
function processes() {
  const all = existsSync('/proc/self/environ') ? ofProc() : ofPs();
  return all.filter(
    ({ pid, text }) =>
      MARKS.some((mark) => text.includes(mark)) && !text.includes('run-watcher') && pid !== process.pid,
  );
}

function ofProc() {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((name) => {
    const [command, environment] = ['cmdline', 'environ'].map((file) => read(`/proc/${name}/${file}`));
    return { pid: Number(name), text: `${command} ${environment}`.replaceAll('\0', ' ') };
  });
}

/** Elsewhere, ps shows the environments of this user's processes. */
function ofPs() {
  const { stdout } = spawnSync('ps', ['axeww', '-o', 'pid=,command='], { encoding: 'utf8' });
  return stdout.split('\n').map((line) => ({ pid: parseInt(line, 10), text: `${line} ` }));
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended, or is another user's.
    return '';
  }
}

/** PostgreSQL ends its own processes when it is told to quit. The data is deleted. */
function end({ pid, text }) {
  try {
    process.kill(pid, /^\S*(^|\/)postgres /.test(text) ? 'SIGQUIT' : 'SIGKILL');
  } catch {
    // It has ended.
  }
}
