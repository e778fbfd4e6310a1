import { median, number, runsOf } from './measure.mjs';
import { SCENARIOS } from './options.mjs';

const COLUMNS = [
  ['requests/s', ({ rate }) => rate],
  ['of the floor', ({ ratio }) => ratio?.rate],
  ['p50 ms', ({ p50 }) => p50],
  ['p99 ms', ({ p99 }) => p99],
  ['CPU s per 1,000: server', ({ cpu }) => cpu?.server],
  ['times the floor', ({ ratio }) => ratio?.cpuServer],
  ['PostgreSQL', ({ cpu }) => cpu?.postgres],
  ['both, times the floor', ({ ratio }) => ratio?.cpu],
];

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
  const shown = figures.map(({ name, unit, values }) => [
    name,
    values.length === 0 ? 'not measured' : `${range(values)} ${unit}`,
  ]);
  const aimed = checks.map((one) => [one.name, `${one.kind} ${number(one.target)}`, number(one.value), verdict(one)]);
  const tables = [
    table(['', ...COLUMNS.map(([head]) => head)], measurementRows(measurements, titles)),
    table(['', 'measured'], shown),
    table(['target', 'aimed at', 'measured', ''], aimed),
  ];
  return [`## ${title}`, ...tables.filter(Boolean), footnote(stamp)].join('\n\n');
}

function footnote({ date, commit, rounds, seconds, users, thrownOut = [], failed }) {
  const answers = failed === 0 ? 'no answer failed' : `${failed} answers FAILED`;
  const of = commit === undefined ? '' : `, commit ${commit}`;
  return `${date.slice(0, 10)}${of}; ${rounds} rounds of ${seconds} s; ${users} users; ${answers}; ${discarded(thrownOut)}`;
}

function discarded(thrownOut) {
  const reasons = [...new Set(thrownOut.map(({ why }) => why))];
  const counted = reasons.map((reason) => `${thrownOut.filter(({ why }) => why === reason).length} because ${reason}`);
  return counted.length === 0 ? 'nothing thrown out.' : `thrown out: ${counted.join(', ')}.`;
}

function measurementRows(measurements, titles) {
  const names = [...new Set(measurements.map(({ name }) => name))];
  const row = (title, runs) => [title, ...COLUMNS.map(([, of]) => range(runs.map(of)))];
  const floors = (runs) => runs.flatMap((one) => one.floors);
  const ownFloors = names.filter((name) => titles[`floor of ${name}`]);
  return [
    ...ownFloors.map((name) => row(titles[`floor of ${name}`], floors(runsOf(measurements, name)))),
    ...(names.length > 0 && ownFloors.length === 0 ? [row(titles.floor, floors(measurements))] : []),
    ...names.map((name) => row(titles[name], runsOf(measurements, name))),
  ];
}

export function checkLine(one) {
  return `${one.name}: ${number(one.value)} (${one.kind} ${number(one.target)}): ${verdict(one)}`;
}

function verdict({ isMet }) {
  if (isMet === undefined) return 'not measured';
  return isMet ? 'met' : 'missed';
}

function range(values) {
  const known = values.filter((value) => value !== undefined && value !== null);
  if (known.length === 0) return '';
  const [least, greatest] = [Math.min(...known), Math.max(...known)].map(number);
  return least === greatest ? least : `${number(median(known))} (${least}–${greatest})`;
}

function table(head, rows) {
  if (rows.length === 0) return '';
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
