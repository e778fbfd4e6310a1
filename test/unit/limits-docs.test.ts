import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config';
import { limitTable, type Limit } from '../../src/features/limits/limits';
import { productionEnv } from '../support/production';

const page = readFileSync(join(__dirname, '../../docs/limits.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| what'))
  .map((line) => line.slice(line.indexOf(' | ') + 1));

const WINDOWS = new Map([
  [60, 'a minute'],
  [15 * 60, '15 minutes'],
  [60 * 60, 'an hour'],
  [24 * 60 * 60, 'a day'],
]);

/** A notice is left out without a word; the spend guard sets the amount of its share. */
const UNSEEN = /notices|alarmShare/i;

const inProduction = limitTable(loadConfig(productionEnv()).limits);
const elsewhere = limitTable(loadConfig({}).limits);

function rowOf(name: string, { per, amount, seconds, refusal }: Limit): string {
  const ofDevelopment = elsewhere[name as keyof typeof elsewhere];
  const most = `${amount.toLocaleString('en')}${ofDevelopment.amount === amount ? '' : ' in production'}`;
  const of = per === 'address' ? 'an address' : per === 'service' ? 'all' : `a ${per}`;
  return `| ${of} | ${most} | ${WINDOWS.get(seconds)} | ${refusal(1, Infinity).reason} |`;
}

describe('docs/limits.md', () => {
  it('has each limit with its amount, its window and its reason', () => {
    const limits = Object.entries(inProduction).filter(([name, { amount }]) => amount > 0 && !UNSEEN.test(name));
    expect([...rows].sort()).toEqual(limits.map(([name, limit]) => rowOf(name, limit)).sort());
  });
});
