import { watched } from './cpu.mjs';

/** Set before anything was measured. A measurement that breaks it is thrown out, counted, and repeated. */
export const RULE = { floorsApart: 0.15, foreignCpu: 0.1, repeats: 2 };

/**
 * Measures each subject in each round, between two runs of the floor, and compares it with these: both feel what the
 * machine does at that time. Each round begins with another subject. `targets`: [subject, name, kind, bound, of a run].
 */
export async function compare(bench, floor, subjects, targets) {
  for (const one of [floor, ...subjects]) await warmUp(one);
  let before;
  const besideFloor = (one) => async () => {
    before ??= await measure(bench, floor);
    const figures = await measure(bench, one);
    const after = await measure(bench, floor);
    const result = { name: one.name, ...figures, ratio: ratioOf(figures, before, after), floors: [before, after] };
    before = after;
    return result;
  };
  const results = await repeated(bench, line, (round) => {
    before = undefined;
    const first = round % subjects.length;
    return [...subjects.slice(first), ...subjects.slice(0, first)].map(besideFloor);
  });
  const checks = targets.flatMap(([name, ...row]) => targetsOf(runsOf(results.measurements, name), [row]));
  return { ...results, checks };
}

/**
 * Runs `once` in each round, for rows of a table, [name, unit, of a run], and targets, [name, kind, bound, of a run].
 */
export async function tabulate(bench, once, rows, targets) {
  const text = (one) => rows.map(([name, unit, of]) => `${name} ${number(of(one))} ${unit}`).join('; ');
  const { measurements, thrownOut } = await repeated(bench, text, () => [once]);
  return { figures: figuresOf(measurements, rows), checks: targetsOf(measurements, targets), thrownOut };
}

/** Runs the work of each round. A disturbed measurement is repeated; it is missing when each attempt was disturbed. */
async function repeated(bench, textOf, worksOf) {
  const measurements = [];
  const thrownOut = [];
  const undisturbed = async (work) => {
    for (let attempt = 0; attempt <= RULE.repeats; attempt += 1) {
      const measured = await work();
      const why = disturbance(measured);
      bench.say(`  ${textOf(measured)}${why === undefined ? '' : `; thrown out: ${why}`}`);
      if (why === undefined) return measurements.push(measured);
      thrownOut.push({ ...measured, why });
    }
    return undefined;
  };
  for (let round = 0; round < bench.options.rounds; round += 1)
    for (const work of worksOf(round)) await undisturbed(work);
  return { measurements, thrownOut };
}

/** Measures one run, after a short one that does not count: it opens the connections to the database again. */
export async function measure(bench, one) {
  await warmUp(one, bench.options.warmUp);
  const watch = (work) => watched(bench, one.pids, work);
  const { result, cpu, foreign } = await runOnce(one, bench.options.seconds, watch);
  const perThousand = (used) => (used / result.requests) * 1_000;
  return { ...result, cpu: cpu && { server: perThousand(cpu.server), postgres: perThousand(cpu.postgres) }, foreign };
}

export async function warmUp(one, seconds = one.warmUpSeconds) {
  if (seconds > 0) await runOnce(one, seconds);
}

async function runOnce(one, seconds, watch = (work) => work()) {
  await one.before?.(seconds);
  const result = await watch(() => one.run(seconds));
  await one.settle?.();
  return result;
}

function ratioOf(figures, before, after) {
  const to = (of) => (2 * of(figures)) / (of(before) + of(after));
  const [rate, p50, p99] = [to((one) => one.rate), to((one) => one.p50), to((one) => one.p99)];
  if (![figures, before, after].every(({ cpu }) => cpu)) return { rate, p50, p99 };
  return { rate, p50, p99, cpu: to(bothCpu), cpuServer: to(({ cpu }) => cpu.server) };
}

export const bothCpu = ({ cpu }) => cpu && cpu.server + cpu.postgres;

function disturbance({ foreign, floors = [], beside = {} }) {
  const [before, after] = floors.map(({ rate }) => rate);
  if (Math.abs(before - after) > RULE.floorsApart * Math.min(before, after))
    return 'the floors before and after differ';
  const isForeign = [{ foreign }, ...floors, ...Object.values(beside)].some((one) => one.foreign > RULE.foreignCpu);
  return isForeign ? 'others used the machine' : undefined;
}

function line({ name, rate, ratio, p99, cpu, floors: [before, after] }) {
  const used = cpu ? `${bothCpu({ cpu }).toFixed(3)} CPU s per 1,000` : 'CPU not measured';
  const mean = ((before.rate + after.rate) / 2).toFixed(0);
  return `${name}: ${rate.toFixed(0)}/s, ${ratio.rate.toFixed(3)} of the floor's ${mean}/s, p99 ${p99.toFixed(1)} ms, ${used}`;
}

/** The rate, the median time, the slowest hundredth and the CPU, as multiples of the floor's. */
export const rateRatio = ({ ratio }) => ratio.rate;
export const p50Ratio = ({ ratio }) => ratio.p50;
export const p99Ratio = ({ ratio }) => ratio.p99;
export const cpuRatio = ({ ratio }) => ratio.cpu;

/** Returns rows of a table about some runs, each with its unit and its figure for each run. */
export function figuresOf(runs, rows) {
  return rows.map(([name, unit, of]) => ({ name, unit, values: runs.map(of) }));
}

function targetsOf(runs, rows) {
  return rows.map(([name, kind, bound, of]) => target(name, kind, bound, middle(runs, of)));
}

export const runsOf = (measurements, name) => measurements.filter((one) => one.name === name);

/** Returns a target: "at least" or "at most" a bound. A value that could not be measured is neither met nor missed. */
export function target(name, kind, bound, value) {
  if (!Number.isFinite(value)) return { name, kind, target: bound };
  return { name, kind, target: bound, value, isMet: kind === 'at least' ? value >= bound : value <= bound };
}

/** Returns the median of a figure over some runs; undefined without runs, or when it was not measured. */
export function middle(runs, of) {
  const values = runs.map(of);
  return values.length === 0 || values.includes(undefined) ? undefined : median(values);
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Concatenates the results of several parts of a scenario. */
export function joined(parts) {
  const names = Object.keys(parts[0]);
  return Object.fromEntries(names.map((name) => [name, parts.flatMap((part) => part[name])]));
}

export function number(value) {
  if (value === undefined) return 'not measured';
  if (value >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-GB');
  return String(Number(value.toPrecision(3)));
}
