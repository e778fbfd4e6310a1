import { availableParallelism } from 'node:os';
import { Load } from './load.mjs';
import { cpuOfTree, machineBusy, ownCpu } from './processes.mjs';

/** Until Node has compiled what it is going to use, when it answers thousands of requests a second. */
export const WARM_UP_SECONDS = 3;

/** Set before anything was measured. What breaks it is thrown out, counted, and measured again. */
export const RULE = { floorsApart: 0.15, foreignCpu: 0.1, repeats: 2 };

/** Something to be measured: a server under a load. `before` and `settle` may be added, for what must not be measured with it. */
export function subject(bench, server, name, requests, { connections, expected } = {}) {
  const load = new Load(bench, { url: server.url, requests, connections, expected });
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
        return result;
      });
      measurements.push(...measured);
    }
  }
  return { measurements, thrownOut };
}

/** What `once` measures in so many rounds, where the floor is no server's. */
export async function repeated(bench, thrownOut, once, describe) {
  const kept = [];
  for (let round = 0; round < bench.options.rounds; round += 1)
    kept.push(...(await undisturbed(bench, thrownOut, once, describe)));
  return kept;
}

/** What `once` measures, or measures again when it was disturbed; nothing when it was each time. */
async function undisturbed(bench, thrownOut, once, describe = line) {
  for (let attempt = 0; attempt <= RULE.repeats; attempt += 1) {
    const measured = await once();
    const why = disturbance(measured);
    bench.say(`  ${describe(measured)}${why === undefined ? '' : `; thrown out: ${why}`}`);
    if (why === undefined) return [measured];
    thrownOut.push({ ...measured, why });
  }
  return [];
}

/** One run, after a short one that does not count: by then the connections to the database are there again. */
export async function measure(bench, one) {
  const { warmUp: warmUpSeconds, seconds } = bench.options;
  await warmUp(one, warmUpSeconds);
  await one.before?.(seconds);
  const { result, cpu, foreign } = await watched(bench, one.pid, () => one.run(seconds));
  await one.settle?.();
  const perThousand = (used) => (used / result.requests) * 1_000;
  const { server, postgres } = cpu ?? {};
  return { ...result, cpu: cpu && { server: perThousand(server), postgres: perThousand(postgres) }, foreign };
}

export async function warmUp(one, seconds = one.warmUpSeconds) {
  if (seconds === 0) return;
  await one.before?.(seconds);
  await one.run(seconds);
  await one.settle?.();
}

/** What `work` returns, with the CPU seconds that a server, or several, and PostgreSQL used meanwhile, and what others did. */
export async function watched(bench, pid, work) {
  const before = usage(bench, pid);
  const result = await work();
  const after = usage(bench, pid);
  if (before.busy === undefined) return { result, cpu: undefined, foreign: undefined };
  const used = (part) => after[part] - before[part];
  const cpu = pid === undefined ? undefined : { server: used('server'), postgres: used('postgres') };
  return { result, cpu, foreign: foreignShare(used) };
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
    server: [pid ?? []].flat().reduce((cpu, one) => cpu + cpuOfTree(one), 0),
  };
}

function compared(name, figures, before, after) {
  const to = (of) => (2 * of(figures)) / (of(before) + of(after));
  const isKnown = [figures, before, after].every(({ cpu }) => cpu);
  const ratio = {
    rate: to(({ rate }) => rate),
    cpu: isKnown ? to(({ cpu }) => cpu.server + cpu.postgres) : undefined,
    cpuServer: isKnown ? to(({ cpu }) => cpu.server) : undefined,
  };
  return { name, ...figures, ratio, floors: [before, after] };
}

/** Why a measurement does not count, or undefined when it does. */
function disturbance({ foreign, floors = [], beside = {} }) {
  if (floors.length > 0 && apart(floors) > RULE.floorsApart) return 'the floors before and after differ';
  if ([{ foreign }, ...floors, ...Object.values(beside)].some((one) => one.foreign > RULE.foreignCpu))
    return 'others used the machine';
  return undefined;
}

function apart([before, after]) {
  return Math.abs(before.rate - after.rate) / Math.min(before.rate, after.rate);
}

function line({ name, rate, ratio, p99, cpu, floors }) {
  const used = cpu ? `${(cpu.server + cpu.postgres).toFixed(3)} CPU s per 1,000` : 'CPU not measured';
  const mean = ((floors[0].rate + floors[1].rate) / 2).toFixed(0);
  return `${name}: ${rate.toFixed(0)}/s, ${ratio.rate.toFixed(3)} of the floor's ${mean}/s, p99 ${p99.toFixed(1)} ms, ${used}`;
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
