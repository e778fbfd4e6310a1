import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config';
import { limitTable, type Limit } from '../../src/features/limits/limits';
import { queueTable, type Row } from '../../src/load/queues';
import { productionEnv } from '../support/production';

const page = readFileSync(join(__dirname, '../../docs/limits.md'), 'utf8');
const [limits = '', atOnce = ''] = page.split('## At once');
const rows = limits
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

function queueRow({ what, per, atOnce, share, waiting, waitMs, refusal }: Row): string {
  const { code, reason } = refusal();
  const seconds = waitMs === undefined ? '' : `${waitMs / 1_000} s`;
  const most = waiting === Infinity ? '' : waiting.toLocaleString('en');
  return ['', what, per, atOnce ?? '', share ?? '', most, seconds, `${code} ${reason}`, '']
    .join(' | ')
    .replace(/ +/g, ' ')
    .trim();
}

describe('docs/limits.md', () => {
  it('has each limit with its amount, its window and its reason', () => {
    const shown = Object.entries(inProduction).filter(([name, { amount }]) => amount > 0 && !UNSEEN.test(name));
    expect([...rows].sort()).toEqual(shown.map(([name, limit]) => rowOf(name, limit)).sort());
  });

  it('has each queue, as it is with two processors', () => {
    const table = atOnce.split('\n').filter((line) => line.startsWith('| '));
    expect(table.slice(1)).toEqual(Object.values(queueTable(2)).map(queueRow));
  });
});
