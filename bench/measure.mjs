import { availableParallelism } from 'node:os';
import { Load } from './load.mjs';
import { cpuOfTree, machineBusy, ownCpu } from './processes.mjs';

export const CONNECTIONS = 32;
/** Until Node has compiled what it is going to use, when it answers thousands of requests a second. */
const WARM_UP_SECONDS = 3;

/** Set before anything was measured. What breaks it is thrown out, counted, and measured again. */
export const RULE = { floorsApart: 0.15, foreignCpu: 0.1, repeats: 2 };

/** Something to be measured: a server under a load. */
export function subject(bench, server, name, requests, { connections = CONNECTIONS, expected } = {}) {
  const load = new Load({ folder: bench.folder, url: server.url, requests, connections, expected });
  return { name, pid: server.pid, run: (seconds) => load.run(seconds), warmUpSeconds: WARM_UP_SECONDS };
}

/**
 * Measures each subject so many rounds, every time between two runs of the floor, with which it is then compared: what
 * the machine does at that time befalls both. Who begins changes from round to round.
 */
export async function measureRounds(bench, floor, subjects) {
  const measurements = [];
  const thrownOut = [];
  for (const one of [floor, ...subjects]) await warmUp(one);
  for (let round = 0; round < bench.options.rounds; round += 1) {
    let before = await measure(bench, floor);
    for (const one of rotated(subjects, round)) {
      const measured = await undisturbed(bench, thrownOut, async () => {
        const figures = await measure(bench, one);
        const after = await measure(bench, floor);
        const result = compared(one.name, figures, before, after);
        before = after;
        return [result];
      });
      measurements.push(...measured);
    }
  }
  return { measurements, thrownOut };
}

/** What `once` measures, and again what of it was disturbed; without what was disturbed each time. */
export async function undisturbed(bench, thrownOut, once, describe = line) {
  const kept = new Map();
  for (let attempt = 0; attempt <= RULE.repeats; attempt += 1) {
    const measured = await once();
    for (const one of measured.filter(({ name }) => !kept.has(name))) {
      const why = disturbance(one);
      bench.say(`  ${describe(one)}${why === undefined ? '' : `; thrown out: ${why}`}`);
      if (why === undefined) kept.set(one.name, one);
      else thrownOut.push({ ...one, why });
    }
    if (kept.size === measured.length) break;
  }
  return [...kept.values()];
}

/** One run, after a short one that does not count: by then the connections to the database are there again. */
export async function measure(bench, one, seconds = bench.options.seconds) {
  await warmUp(one, bench.options.warmUp);
  const { result, cpu, foreign } = await watched(bench, one.pid, () => one.run(seconds));
  await one.settle?.();
  const perThousand = (used) => (used / result.requests) * 1_000;
  const { server, postgres } = cpu ?? {};
  return { ...result, cpu: cpu && { server: perThousand(server), postgres: perThousand(postgres) }, foreign };
}

export async function warmUp(one, seconds = one.warmUpSeconds) {
  if (seconds === 0) return;
  await one.run(seconds);
  await one.settle?.();
}

/** What `work` returns, with the CPU seconds that a server and PostgreSQL used meanwhile, and what others did. */
export async function watched(bench, pid, work) {
  const before = usage(bench, pid);
  const result = await work();
  const after = usage(bench, pid);
  if (before.busy === undefined) return { result, cpu: undefined, foreign: undefined };
  const used = (part) => after[part] - before[part];
  return { result, cpu: { server: used('server'), postgres: used('postgres') }, foreign: foreignShare(used) };
}

/** What of the machine somebody else has used. */
function foreignShare(used) {
  const ours = used('server') + used('postgres') + used('own');
  return Math.max(0, used('busy') - ours) / (used('at') * availableParallelism());
}

function usage(bench, pid) {
  return {
    at: globalThis.performance.now() / 1_000,
    busy: machineBusy(),
    own: ownCpu(),
    postgres: cpuOfTree(bench.postgres.pid),
    server: pid === undefined ? 0 : cpuOfTree(pid),
  };
}

export function compared(name, figures, before, after) {
  const mean = (of) => (of(before) + of(after)) / 2;
  const cpu = (of) => of.cpu && of.cpu.server + of.cpu.postgres;
  const ratio = {
    rate: figures.rate / mean((of) => of.rate),
    p99: figures.p99 / mean((of) => of.p99),
    cpu: figures.cpu && cpu(figures) / mean(cpu),
    cpuServer: figures.cpu && figures.cpu.server / mean((of) => of.cpu.server),
  };
  return { name, ...figures, ratio, floors: [before, after] };
}

/** Why a measurement does not count, or undefined when it does. */
function disturbance({ foreign, floors, ...figures }) {
  if ([figures, ...(floors ?? [])].some(({ isUsedUp }) => isUsedUp)) return 'there were too few requests to send';
  if (floors && apart(floors) > RULE.floorsApart) return 'the floors before and after differ';
  if (foreign > RULE.foreignCpu) return 'others used the machine';
  return undefined;
}

function apart([before, after]) {
  return Math.abs(before.rate - after.rate) / Math.min(before.rate, after.rate);
}

function line({ name, rate, ratio, p99, cpu, errors, floors }) {
  const used = cpu ? `${(cpu.server + cpu.postgres).toFixed(3)} CPU s per 1,000` : 'CPU not measured';
  const failed = errors > 0 ? `, ${errors} FAILED` : '';
  const mean = ((floors[0].rate + floors[1].rate) / 2).toFixed(0);
  return `${name}: ${rate.toFixed(0)}/s, ${ratio.rate.toFixed(3)} of the floor's ${mean}/s, p99 ${p99.toFixed(1)} ms, ${used}${failed}`;
}

function rotated(list, by) {
  const from = by % list.length;
  return [...list.slice(from), ...list.slice(0, from)];
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The median of something over some runs; undefined where there are none, or where it was not measured. */
export function middle(runs, of) {
  const values = runs.map(of);
  return values.length === 0 || values.includes(undefined) ? undefined : median(values);
}

/** The same of one subject's runs among all. */
export function medianOf(measurements, name, of) {
  return middle(
    measurements.filter((one) => one.name === name),
    of,
  );
}
