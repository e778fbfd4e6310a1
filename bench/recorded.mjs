import { readFileSync, writeFileSync } from 'node:fs';
import { URL } from 'node:url';
import { number } from './markdown.mjs';

const FILE = new URL('recorded.json', import.meta.url);
/** Wide, since a shared machine under test measures badly: it is for what has broken, not for what has slowed a little. */
const MARGIN = 0.6;

/** False when a ratio is far worse than the one that was recorded for the short run, or is missing. */
export function compareWithRecorded(bench, results) {
  if (bench.options.record) record(results);
  const recorded = JSON.parse(readFileSync(FILE, 'utf8'));
  bench.say('\nBeside what was recorded');
  const verdicts = Object.entries(results).flatMap(([scenario, { checks }]) =>
    Object.entries(recorded[scenario] ?? {}).map(([name, value]) => {
      const found = checks.find((one) => one.name === name);
      return isStillAsGood(bench, `${scenario}: ${name}`, found, value);
    }),
  );
  return verdicts.length > 0 && verdicts.every(Boolean);
}

function isStillAsGood(bench, name, found, recorded) {
  if (found?.value === undefined) {
    bench.say(`  ${name}: NOT MEASURED`);
    return false;
  }
  const { kind, value } = found;
  const bound = kind === 'at least' ? recorded * MARGIN : recorded / MARGIN;
  const isGood = kind === 'at least' ? value >= bound : value <= bound;
  const verdict = isGood ? 'good' : 'WORSE';
  bench.say(`  ${name}: ${number(value)}, recorded ${number(recorded)}, must be ${kind} ${number(bound)}: ${verdict}`);
  return isGood;
}

function record(results) {
  const before = JSON.parse(readFileSync(FILE, 'utf8'));
  const found = Object.entries(results).map(([scenario, { checks }]) => [
    scenario,
    Object.fromEntries(checks.map(({ name, value }) => [name, value && Number(value.toPrecision(3))])),
  ]);
  writeFileSync(FILE, `${JSON.stringify({ ...before, ...Object.fromEntries(found) }, null, 2)}\n`);
}
