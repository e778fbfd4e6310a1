import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TICKS_A_SECOND = 100;

/** What `work` returns, the CPU seconds that servers and PostgreSQL used meanwhile, and what others used of the machine. */
export async function watched(bench, pids, work) {
  // Other systems do not tell.
  if (process.platform !== 'linux') return { result: await work() };
  const before = usage(bench, pids);
  const result = await work();
  const after = usage(bench, pids);
  const used = Object.fromEntries(Object.keys(after).map((part) => [part, after[part] - before[part]]));
  const { server, postgres } = used;
  const foreign = Math.max(0, used.busy - server - postgres - used.own) / (used.at * availableParallelism());
  return { result, foreign, cpu: pids.length > 0 ? { server, postgres } : undefined };
}

/** In seconds. The load generators count as our own, since this process has waited for them. */
function usage(bench, pids) {
  const processes = allProcesses();
  return {
    at: globalThis.performance.now() / 1_000,
    busy: machineBusy(),
    own: processes.find(({ pid }) => pid === process.pid).cpu,
    postgres: cpuOfTree(processes, bench.postgres.pid),
    server: pids.reduce((sum, pid) => sum + cpuOfTree(processes, pid), 0),
  };
}

/** Read until the same are there twice: what is there all the time may be missing from one reading of the folder. */
function allProcesses() {
  const pids = (processes) => processes.map(({ pid }) => pid).join(' ');
  let last = readProcesses();
  for (let tries = 0; tries < 10; tries += 1) {
    const again = readProcesses();
    if (pids(again) === pids(last)) return again;
    last = again;
  }
  return last;
}

function readProcesses() {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? statOf(name) : []));
}

/** What a process, its threads and its children have used, with those that have ended and been waited for. */
function cpuOfTree(processes, root) {
  const own = processes.find(({ pid }) => pid === root)?.cpu ?? 0;
  const children = processes.filter(({ parent }) => parent === root);
  return children.reduce((sum, { pid }) => sum + cpuOfTree(processes, pid), own);
}

/** How long all processors have been busy, or were kept from us by the machine that ours is a guest of. */
function machineBusy() {
  const ticks = readFileSync('/proc/stat', 'utf8').split(/\s+/).slice(1, 9).map(Number);
  const [user, nice, system, , , irq, softirq, steal] = ticks;
  return (user + nice + system + irq + softirq + steal) / TICKS_A_SECOND;
}

function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name stands in brackets and may itself hold some.
    const [, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = rest.slice(9, 13).reduce((sum, part) => sum + Number(part), 0);
    return [{ pid: Number(pid), parent: Number(parent), cpu: ticks / TICKS_A_SECOND }];
  } catch {
    return [];
  }
}
