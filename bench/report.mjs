import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from '../scripts/dependencies.mjs';
import { chart } from './chart.mjs';
import { SETTINGS } from './database.mjs';
import { hasWrk } from './load.mjs';
import { checkLine, markdown } from './markdown.mjs';
import { CONNECTIONS, RULE } from './measure.mjs';
import { compareWithRecorded } from './recorded.mjs';

const RESULTS = join(root, 'docs', 'benchmark.json');
const PAGE = join(root, 'docs', 'benchmark.md');
const CHART = join(root, 'docs', 'benchmark.svg');
const BEGIN = '<!-- results:begin -->';
const END = '<!-- results:end -->';
const CONTESTANTS = ['better-auth', 'parse-server', 'express', 'express-session', 'connect-pg-simple', 'knex', 'pg'];

/** Prints what was found, and keeps it. False when something must not stay as it is. */
export async function report(bench, results) {
  for (const { title, checks } of Object.values(results)) {
    bench.say(`\n${title}`);
    for (const check of checks) bench.say(`  ${checkLine(check)}`);
  }
  const failed = Object.values(results).some(({ checks }) =>
    checks.some(({ target, isMet }) => target === 0 && !isMet),
  );
  if (bench.options.short) return compareWithRecorded(bench, results) && !failed;
  const all = { ...(await circumstances(bench)), scenarios: { ...kept(), ...dated(bench, results) } };
  writeFileSync(RESULTS, await format(JSON.stringify(all), { ...(await resolveConfig(RESULTS)), parser: 'json' }));
  writeFileSync(PAGE, page(markdown(all)));
  if (all.scenarios.read) writeFileSync(CHART, chart(all.scenarios.read));
  bench.say(`\nWritten: ${[RESULTS, PAGE, CHART].join(', ')}`);
  return !failed;
}

async function circumstances(bench) {
  return { ...machine(), postgres: await bench.postgres.version(), ...settings(), versions: versions() };
}

function machine() {
  return {
    cpu: cpus()[0]?.model.trim(),
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 1_024 ** 3),
    system: `${platform()} ${release().replace(/-.*/, '')}`,
    node: process.versions.node,
  };
}

function settings() {
  return { postgresSettings: SETTINGS, load: hasWrk ? 'wrk' : 'autocannon', connections: CONNECTIONS, rule: RULE };
}

function versions() {
  const require = createRequire(import.meta.url);
  const installed = CONTESTANTS.map((name) => [name, require.resolve.paths(name).map((path) => join(path, name))]);
  return Object.fromEntries(
    installed.map(([name, folders]) => {
      const folder = folders.find((one) => existsSync(join(one, 'package.json')));
      return [name, folder && JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version];
    }),
  );
}

/** Each scenario is compared within itself, so those that did not run this time stay, if they ran on such a machine. */
function kept() {
  if (!existsSync(RESULTS)) return {};
  const { scenarios, ...before } = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const isSame = Object.entries(machine()).every(([name, value]) => before[name] === value);
  return isSame ? scenarios : {};
}

function dated({ options: { rounds, seconds, users } }, results) {
  const at = { date: new Date().toISOString(), rounds, seconds, users };
  return Object.fromEntries(Object.entries(results).map(([name, result]) => [name, { ...at, ...result }]));
}

function page(table) {
  const text = readFileSync(PAGE, 'utf8');
  const [head] = text.split(BEGIN);
  const [, tail] = text.split(END);
  if (tail === undefined) throw new Error(`${PAGE} has lost its markers ${BEGIN} and ${END}`);
  return `${head}${BEGIN}\n\n${table}\n\n${END}${tail}`;
}
