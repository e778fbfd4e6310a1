import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { URL } from 'node:url';
import { root } from '../scripts/dependencies.mjs';
import { chart } from './chart.mjs';
import { SETTINGS } from './database.mjs';
import { CONNECTIONS, hasWrk } from './load.mjs';
import { checkLine, markdown } from './markdown.mjs';
import { RULE } from './measure.mjs';
import { compareWithRecorded } from './recorded.mjs';

const RESULTS = join(root, 'docs', 'benchmark.json');
const PAGE = join(root, 'docs', 'benchmark.md');
const CHART = join(root, 'docs', 'benchmark.svg');
const BEGIN = '<!-- results:begin -->';
const END = '<!-- results:end -->';
const COMPARED = ['better-auth', 'parse-server', 'express', 'express-session', 'connect-pg-simple', 'knex', 'pg'];

/** Prints what was found, and keeps it. False when answers have failed, or the short run is worse than it was. */
export async function report(bench, results) {
  for (const { title, checks } of Object.values(results)) {
    bench.say(`\n${title}`);
    for (const check of checks) bench.say(`  ${checkLine(check)}`);
  }
  if (bench.failed > 0) bench.say(`\n${bench.failed} answers FAILED`);
  if (bench.options.short) return compareWithRecorded(bench, results) && bench.failed === 0;
  const around = await circumstances(bench);
  const all = { ...around, scenarios: { ...kept(around), ...stamped(bench, results) } };
  writeFileSync(RESULTS, `${JSON.stringify(all, null, 1)}\n`);
  writeFileSync(PAGE, page(markdown(all)));
  if (all.scenarios.read) writeFileSync(CHART, chart(all.scenarios.read));
  bench.say(`\nWritten: ${[RESULTS, PAGE, CHART].join(', ')}`);
  return bench.failed === 0;
}

async function circumstances(bench) {
  return {
    cpu: cpus()[0]?.model.trim(),
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 1_024 ** 3),
    system: `${platform()} ${release().replace(/-.*/, '')}`,
    node: process.versions.node,
    postgres: await bench.postgres.version(),
    postgresSettings: SETTINGS,
    load: hasWrk ? 'wrk' : 'autocannon',
    connections: CONNECTIONS,
    rule: RULE,
    versions: versions(),
  };
}

function versions() {
  const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', import.meta.url), 'utf8'));
  return Object.fromEntries(COMPARED.map((name) => [name, packages[`node_modules/${name}`].version]));
}

/** Each scenario is compared within itself, so those that did not run this time stay, if all was the same around them. */
function kept(around) {
  if (!existsSync(RESULTS)) return {};
  const { scenarios, ...before } = JSON.parse(readFileSync(RESULTS, 'utf8'));
  return JSON.stringify(before) === JSON.stringify(around) ? scenarios : {};
}

function stamped({ options: { rounds, seconds, users } }, results) {
  const { stdout, status } = spawnSync('git', ['describe', '--always', '--dirty'], { cwd: root, encoding: 'utf8' });
  const stamp = {
    date: new Date().toISOString(),
    rounds,
    seconds,
    users,
    ...(status === 0 && { commit: stdout.trim() }),
  };
  return Object.fromEntries(Object.entries(results).map(([name, result]) => [name, { ...stamp, ...result }]));
}

function page(table) {
  const text = readFileSync(PAGE, 'utf8');
  const [head] = text.split(BEGIN);
  const [, tail] = text.split(END);
  if (tail === undefined) throw new Error(`${PAGE} has lost its markers ${BEGIN} and ${END}`);
  return `${head}${BEGIN}\n\n${table}\n\n${END}${tail}`;
}
