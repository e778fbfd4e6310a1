import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../support/service-process';
import type { Call, Kind } from './calls';
import { playAlerts } from './alerts';
import { FAULTS, type Fault, type Row } from './faults';
import { isFailure, judge, recoveryOf, type Verdict } from './judge';
import { tellingAtRandom } from './telling';
import { World } from './world';

/**
 * npm run faults: plays each fault while people use the service, and checks what they were promised.
 *   --short       plays only the faults of every push
 *   --only=a,b    plays only these faults
 *   --only=availability plays those of three PostgreSQL under Patroni, as in deploy/high-availability
 *   --only=distributed plays those of a Citus with two workers, whose programs are in the folder CITUS_BIN
 *   --only=alerts makes the fault of each alert of deploy/observe, and waits until a real Prometheus fires it
 *   --only=telling plays those of two instances that tell webhooks and RongCloud of events
 *   --only=telling --minutes=10 plays these in a random order for so long, with one set of people
 *   --write       writes the table into docs/outages.md or the page of the group
 */
const { values } = parseArgs({
  options: {
    short: { type: 'boolean' },
    only: { type: 'string' },
    minutes: { type: 'string' },
    write: { type: 'boolean' },
  },
});

const BEFORE_MS = 2_000;
const AFTER_MS = 6_000;
const HEAD = ['fault', 'answered a second', 'failed', 'longest', 'good again after', 'lost', 'half done', 'diverged'];

/** Kinds of ends that are allowed: refused for the moment, or cut off with the process or its connection. */
const MAY_BE = new Set<Kind>(['200', '503', 'cut off']);

/** Pages with the tables of groups of faults. */
const PAGES = new Map([
  ['availability', 'high-availability.md'],
  ['distributed', 'distributed.md'],
  ['telling', 'webhooks.md'],
]);

async function main(): Promise<void> {
  if (values.only === 'alerts') return alerts();
  const only = values.only?.split(',');
  const faults = values.minutes === undefined ? chosen(only) : [tellingAtRandom(Number(values.minutes))];
  const names = [...FAULTS.map(({ name }) => name), 'alerts'];
  if (faults.length === 0) throw new Error(`no such fault; there are: ${names.join(', ')}`);
  const rows: Row[] = [];
  for (const fault of faults) {
    const row = await play(fault);
    rows.push(row);
    process.stdout.write(`${row.isGood ? 'held' : 'BROKEN'}  ${row.cells.join(' | ')}\n`);
  }
  const table = tableOf(headOf(faults[0]), rows);
  process.stdout.write(`\n${table}\n`);
  if (values.write && values.minutes === undefined) write(table, PAGES.get(values.only ?? '') ?? 'outages.md');
  process.exitCode = rows.every(({ isGood }) => isGood) ? 0 : 1;
}

function chosen(only: string[] | undefined): Fault[] {
  return FAULTS.filter(({ name, group = name, short }) =>
    only ? only.includes(name) || only.includes(group) : group === name && (!values.short || short),
  );
}

async function alerts(): Promise<void> {
  const { head, rows, isGood } = await playAlerts((line) => process.stdout.write(`${line}\n`));
  const table = tableOf(head, rows);
  if (rows.length > 0) process.stdout.write(`\n${table}\n`);
  if (values.write && isGood) write(table, 'alerts.md');
  process.exitCode = isGood ? 0 : 1;
}

function headOf(fault?: Fault): string[] {
  return fault?.table?.head ?? HEAD;
}

function tableOf(head: string[], rows: Pick<Row, 'cells'>[]): string {
  return [head, head.map(() => '---'), ...rows.map(({ cells }) => cells)]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

async function play(fault: Fault): Promise<Row> {
  const missing = fault.missing?.();
  if (missing !== undefined)
    return {
      cells: [
        fault.title,
        `not tried: ${missing}`,
        ...headOf(fault)
          .slice(2)
          .map(() => ''),
      ],
      isGood: true,
    };
  const world = await World.start(await fault.setting?.());
  try {
    world.calls.made.length = 0;
    const begun = performance.now();
    world.startPeople();
    await sleep(BEFORE_MS);
    await fault.play(world);
    const faultEnded = performance.now();
    await sleep(fault.afterMs ?? AFTER_MS);
    await fault.heal?.();
    await world.stop();
    if (fault.table) return await fault.table.judge(world, fault.title);
    const calls = [...world.calls.made];
    const seconds = (performance.now() - begun) / 1_000;
    const verdict = await judge(world);
    for (const problem of Object.values(verdict).flat()) process.stderr.write(`  ${problem}\n`);
    return rowOf(fault, calls, seconds, faultEnded, verdict);
  } finally {
    await world.close();
    await fault.tidyUp?.();
  }
}

function rowOf(
  { title, unnoticed, longestMs = Infinity }: Fault,
  calls: Call[],
  seconds: number,
  faultEnded: number,
  verdict: Verdict,
): Row {
  const answered = calls.filter(({ kind }) => !isFailure(kind)).length / seconds;
  const longest = Math.max(...calls.map(({ ms }) => ms)) / 1_000;
  const counts = [verdict.lost, verdict.halfDone, verdict.diverged].map(({ length }) => length);
  return {
    cells: [
      title,
      answered.toFixed(0),
      failures(calls),
      `${longest.toFixed(1)} s`,
      `${(recoveryOf(calls, faultEnded) / 1_000).toFixed(1)} s`,
      ...counts.map(String),
    ],
    isGood:
      counts.every((count) => count === 0) &&
      longest * 1_000 <= longestMs &&
      calls.every(({ kind }) => (unnoticed ? !isFailure(kind) : MAY_BE.has(kind))),
  };
}

/** Formats failures, such as `503 × 12, cut off × 3`. */
function failures(calls: Call[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of calls) if (isFailure(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${kind} × ${count}`).join(', ') || 'none';
}

/** Writes the table between its two marks. */
function write(table: string, page: string): void {
  const path = join(ROOT, 'docs', page);
  const [begin, end] = ['<!-- npm run faults -->', '<!-- end -->'];
  const text = readFileSync(path, 'utf8');
  const [before = '', rest = ''] = text.split(begin);
  const after = rest.split(end).slice(1).join(end);
  writeFileSync(path, `${before}${begin}\n\n${table}\n\n${end}${after}`);
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
