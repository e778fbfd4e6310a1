import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { root } from '../scripts/launch/dependencies.mjs';
import { chart } from './chart.mjs';
import { CONNECTIONS, hasWrk } from './load.mjs';
import { checkLine, markdown } from './markdown.mjs';
import { number, RULE, target } from './measure.mjs';
import { SCENARIOS } from './options.mjs';
import { SETTINGS } from './postgres.mjs';

/** File with every single measurement of this machine. */
const RESULTS = `${root}/.cache/benchmark.json`;
const [PAGE, CHART] = ['md', 'svg'].map((kind) => `${root}/docs/benchmark.${kind}`);
const RECORDED = `${root}/bench/recorded.json`;
/** Wide, because a shared machine measures badly: it finds what has broken, not what has slowed a little. */
const MARGIN = 0.6;
const MARKED = /(<!-- results:begin -->\n).*(\n<!-- results:end -->)/s;
const COMPARED = ['better-auth', 'parse-server', 'express', 'express-session', 'connect-pg-simple', 'knex', 'pg'];

/**
 * Prints the results, and stores them. Returns false when answers have failed, or the short run is worse than recorded.
 */
export async function report(bench, results) {
  for (const { title, checks } of Object.values(results))
    bench.say([`\n${title}`, ...checks.map((check) => `  ${checkLine(check)}`)].join('\n'));
  if (bench.failed > 0) bench.say(`\n${bench.failed} answers FAILED`);
  if (bench.options.short) return isAsRecorded(bench, results) && bench.failed === 0;
  if (bench.options.earlier) return bench.failed === 0;
  const around = await circumstances(bench);
  const all = { ...around, scenarios: { ...kept(around), ...stamped(bench, results) } };
  mkdirSync(dirname(RESULTS), { recursive: true });
  writeFileSync(RESULTS, `${JSON.stringify(all, null, 1)}\n`);
  const missing = SCENARIOS.filter((name) => !(name in all.scenarios));
  if (missing.length > 0) {
    bench.say(
      `\nWritten: ${RESULTS}. docs/benchmark.md follows once this machine has measured ${missing.join(', ')} too`,
    );
    return bench.failed === 0;
  }
  writeFileSync(PAGE, page(markdown(all)));
  writeFileSync(CHART, chart(all.scenarios.read));
  bench.say(`\nWritten: ${[RESULTS, PAGE, CHART].join(', ')}`);
  return bench.failed === 0;
}

function isAsRecorded(bench, results) {
  const recorded = JSON.parse(readFileSync(RECORDED, 'utf8'));
  if (bench.options.record) record(recorded, results);
  bench.say('\nCompared with bench/recorded.json');
  const verdicts = [];
  for (const [scenario, { checks }] of Object.entries(results))
    for (const [name, before] of Object.entries(recorded[scenario] ?? {})) {
      const verdict = besideRecorded(
        checks.find((one) => one.name === name),
        before,
      );
      bench.say(`  ${scenario}: ${name}: ${verdict.text}`);
      verdicts.push(verdict.isGood);
    }
  return verdicts.length > 0 && verdicts.every(Boolean);
}

function besideRecorded({ kind, value } = {}, recorded) {
  if (value === undefined) return { isGood: false, text: 'NOT MEASURED' };
  const bound = kind === 'at least' ? recorded * MARGIN : recorded / MARGIN;
  const { isMet: isGood } = target('', kind, bound, value);
  const limit = `must be ${kind} ${number(bound)}: ${isGood ? 'good' : 'WORSE'}`;
  return { isGood, text: `${number(value)}, recorded ${number(recorded)}, ${limit}` };
}

function record(recorded, results) {
  for (const [scenario, { checks }] of Object.entries(results)) {
    const known = checks.filter(({ value }) => value !== undefined);
    recorded[scenario] = Object.fromEntries(known.map(({ name, value }) => [name, Number(value.toPrecision(3))]));
  }
  writeFileSync(RECORDED, `${JSON.stringify(recorded, null, 2)}\n`);
}

async function circumstances(bench) {
  const { packages } = JSON.parse(readFileSync(`${root}/bench/package-lock.json`, 'utf8'));
  return {
    cpu: cpus()[0]?.model.trim(),
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 1_024 ** 3),
    system: `${platform()} ${release().replace(/-.*/, '')}`,
    node: process.versions.node,
    postgres: (await bench.postgres.run(undefined, ['SHOW server_version'])).server_version,
    postgresSettings: SETTINGS,
    load: hasWrk ? 'wrk' : 'autocannon',
    connections: CONNECTIONS,
    rule: RULE,
    versions: Object.fromEntries(COMPARED.map((name) => [name, packages[`node_modules/${name}`].version])),
  };
}

/**
 * Returns earlier results of scenarios that did not run this time, when the machine and all versions are unchanged:
 * each scenario is compared within itself.
 */
function kept(around) {
  if (!existsSync(RESULTS)) return {};
  const { scenarios, ...before } = JSON.parse(readFileSync(RESULTS, 'utf8'));
  return JSON.stringify(before) === JSON.stringify(around) ? scenarios : {};
}

function stamped({ options: { rounds, seconds, users } }, results) {
  const { stdout, status } = spawnSync('git', ['describe', '--always', '--dirty'], { cwd: root, encoding: 'utf8' });
  const commit = status === 0 ? stdout.trim() : undefined;
  const stamp = { date: new Date().toISOString(), rounds, seconds, users, commit };
  return Object.fromEntries(Object.entries(results).map(([name, result]) => [name, { ...stamp, ...result }]));
}

function page(tables) {
  const text = readFileSync(PAGE, 'utf8');
  if (!MARKED.test(text)) throw new Error(`${PAGE} has lost its markers: ${MARKED.source}`);
  return text.replace(MARKED, (_, begin, end) => `${begin}\n${tables}\n${end}`);
}
