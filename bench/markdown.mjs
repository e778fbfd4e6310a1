import { median } from './measure.mjs';
import { SCENARIOS } from './options.mjs';

/** All results as Markdown: a section a scenario, with what was measured, and what was aimed at. */
export function markdown({ scenarios, ...run }) {
  const sections = SCENARIOS.filter((name) => scenarios[name]).map((name) => section(scenarios[name]));
  return [circumstances(run), ...sections].join('\n\n');
}

function circumstances(run) {
  const settings = Object.entries(run.postgresSettings).map(([name, value]) => `\`${name}=${value}\``);
  const versions = Object.entries(run.versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${run.cpu}, ${run.cores} processors, ${run.memoryGiB} GiB; ${run.system}; Node ${run.node}; PostgreSQL ${run.postgres} with`,
    `${settings.join(', ')} and otherwise its defaults; load by ${run.load}, ${run.connections} connections unless it says otherwise;`,
    `${versions.join(', ')}.`,
  ].join(' ');
}

function section({ title, titles, measurements = [], figures = [], checks, ...stamp }) {
  return [
    `## ${title}`,
    ...(measurements.length > 0 ? [measurementsTable(measurements, titles)] : []),
    ...(figures.length > 0 ? [figuresTable(figures)] : []),
    ...(checks.length > 0 ? [checksTable(checks)] : []),
    footnote(stamp),
  ].join('\n\n');
}

function footnote({ date, commit, rounds, seconds, users, thrownOut = [], failed }) {
  const answers = failed === 0 ? 'no answer failed' : `${failed} answers FAILED`;
  const of = commit === undefined ? '' : ` of ${commit}`;
  return `${date.slice(0, 10)}${of}; ${rounds} rounds of ${seconds} s; ${users} users; ${answers}; ${discarded(thrownOut)}`;
}

function measurementsTable(measurements, titles) {
  const names = [...new Set(measurements.map(({ name }) => name))];
  const of = (name) => measurements.filter((one) => one.name === name);
  const floors = (name) => of(name).flatMap((one) => one.floors.map((floor) => ({ ...floor, ratio: undefined })));
  // Where each has a floor of its own, each has a row for it too.
  const ownFloor = names.flatMap((name) =>
    titles[`floor of ${name}`] ? [[titles[`floor of ${name}`], floors(name)]] : [],
  );
  const floorRows = ownFloor.length > 0 ? ownFloor : [[titles.floor, names.flatMap(floors)]];
  const rows = [...floorRows, ...names.map((name) => [titles[name], of(name)])];
  return table(
    [
      '',
      'requests/s',
      'of the floor',
      'p50 ms',
      'p99 ms',
      'CPU s per 1,000: server',
      'times the floor',
      'PostgreSQL',
      'both, times the floor',
    ],
    rows.map(([title, runs]) => [
      title,
      range(runs.map(({ rate }) => rate)),
      range(runs.map(({ ratio }) => ratio?.rate)),
      range(runs.map(({ p50 }) => p50)),
      range(runs.map(({ p99 }) => p99)),
      range(runs.map(({ cpu }) => cpu?.server)),
      range(runs.map(({ ratio }) => ratio?.cpuServer)),
      range(runs.map(({ cpu }) => cpu?.postgres)),
      range(runs.map(({ ratio }) => ratio?.cpu)),
    ]),
  );
}

function figuresTable(figures) {
  return table(
    ['', 'measured'],
    figures.map(({ name, unit, values }) => [name, values.length === 0 ? 'not measured' : `${range(values)} ${unit}`]),
  );
}

function checksTable(checks) {
  return table(
    ['target', 'aimed at', 'measured', ''],
    checks.map(({ name, kind, target, value, isMet }) => [
      name,
      `${kind} ${number(target)}`,
      number(value),
      verdict(isMet),
    ]),
  );
}

export function checkLine({ name, kind, target, value, isMet }) {
  return `${name}: ${number(value)} (${kind} ${number(target)}): ${verdict(isMet)}`;
}

function verdict(isMet) {
  if (isMet === undefined) return 'not measured';
  return isMet ? 'met' : 'missed';
}

function discarded(thrownOut) {
  const reasons = [...new Set(thrownOut.map(({ why }) => why))];
  const counted = reasons.map((reason) => `${thrownOut.filter(({ why }) => why === reason).length} since ${reason}`);
  return counted.length === 0 ? 'nothing thrown out.' : `thrown out: ${counted.join(', ')}.`;
}

/** The median, and in brackets the least and the greatest where there are several. */
function range(values) {
  const known = values.filter((value) => value !== undefined && value !== null);
  if (known.length === 0) return '';
  const [least, greatest] = [Math.min(...known), Math.max(...known)].map(number);
  return least === greatest ? least : `${number(median(known))} (${least}–${greatest})`;
}

export function number(value) {
  if (value === undefined) return 'not measured';
  if (value >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en-GB');
  return String(Number(value.toPrecision(3)));
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
