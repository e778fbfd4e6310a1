import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { URL } from 'node:url';
import { number } from './markdown.mjs';

const FILE = new URL('recorded.json', import.meta.url);
/** Wide, since a shared machine under test measures badly: it is for what has broken, not for what has slowed a little. */
const MARGIN = 0.6;

/** False when a ratio is far worse than the one that was recorded for the short run. */
export function compareWithRecorded(bench, results) {
  const found = Object.entries(results).flatMap(([scenario, { checks }]) =>
    checks.filter(({ target }) => target !== 0).map((check) => ({ ...check, name: `${scenario}: ${check.name}` })),
  );
  if (bench.options.record) record(found);
  const recorded = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
  bench.say('\nBeside what was recorded');
  return found.map((check) => isStillAsGood(bench, check, recorded[check.name])).every(Boolean);
}

function isStillAsGood(bench, { name, kind, value }, recorded) {
  if (recorded === undefined || value === undefined) {
    bench.say(`  ${name}: ${number(value)}, ${recorded === undefined ? 'nothing recorded' : 'nothing to compare'}`);
    return true;
  }
  const bound = kind === 'at least' ? recorded * MARGIN : recorded / MARGIN;
  const isGood = kind === 'at least' ? value >= bound : value <= bound;
  const verdict = isGood ? 'good' : 'WORSE';
  bench.say(`  ${name}: ${number(value)}, recorded ${number(recorded)}, must be ${kind} ${number(bound)}: ${verdict}`);
  return isGood;
}

function record(found) {
  const measured = found.filter(({ value }) => value !== undefined);
  const rounded = measured.map(({ name, value }) => [name, Number(value.toPrecision(3))]);
  const before = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
  writeFileSync(FILE, `${JSON.stringify({ ...before, ...Object.fromEntries(rounded) }, null, 2)}\n`);
}
