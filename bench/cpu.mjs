import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TICKS_A_SECOND = 100;

/**
 * Runs `work`. Returns its result, the CPU seconds that servers and PostgreSQL used in that time, and the share of the
 * machine that other processes used.
 */
export async function watched(bench, pids, work) {
  // Other systems do not show these figures.
  if (process.platform !== 'linux') return { result: await work() };
  const before = usage(bench, pids);
  const result = await work();
  const after = usage(bench, pids);
  const used = Object.fromEntries(Object.keys(after).map((part) => [part, after[part] - before[part]]));
  const { server, postgres } = used;
  const foreign = Math.max(0, used.busy - server - postgres - used.own) / (used.at * availableParallelism());
  return { result, foreign, cpu: pids.length > 0 ? { server, postgres } : undefined };
}

/** Returns CPU times in seconds. The load generators count as our own, because this process has waited for them. */
function usage(bench, pids) {
  const processes = allProcesses();
  return {
    at: globalThis.performance.now() / 1_000,
    busy: machineBusy(),
    own: processes.find(({ pid }) => pid === process.pid).cpu,
    postgres: cpuOfTree(processes, bench.postgres.pid),
    server: sumOfTrees(processes, pids),
  };
}

/** Reads the folder until two readings agree: a single reading may miss a process that is there all the time. */
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

/** Returns the CPU seconds of processes and their children so far. */
export const cpuOfTrees = (roots) => sumOfTrees(allProcesses(), roots);

const sumOfTrees = (processes, roots) => roots.reduce((sum, root) => sum + cpuOfTree(processes, root), 0);

/**
 * Returns the CPU time of a process, its threads and its children, including children that have ended and been reaped.
 */
function cpuOfTree(processes, root) {
  const own = processes.find(({ pid }) => pid === root)?.cpu ?? 0;
  const children = processes.filter(({ parent }) => parent === root);
  return children.reduce((sum, { pid }) => sum + cpuOfTree(processes, pid), own);
}

/** Returns how long all processors were busy, or were taken from this virtual machine by its host (steal). */
function machineBusy() {
  const ticks = readFileSync('/proc/stat', 'utf8').split(/\s+/).slice(1, 9).map(Number);
  const [user, nice, system, , , irq, softirq, steal] = ticks;
  return (user + nice + system + irq + softirq + steal) / TICKS_A_SECOND;
}

function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name is in brackets, and may itself contain brackets.
    const [, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = rest.slice(9, 13).reduce((sum, part) => sum + Number(part), 0);
    return [{ pid: Number(pid), parent: Number(parent), cpu: ticks / TICKS_A_SECOND }];
  } catch {
    return [];
  }
}
