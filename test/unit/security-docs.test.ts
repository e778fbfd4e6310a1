import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { limitTable, type LimitAmounts } from '../../src/features/limits/limits';
import { ROOT } from '../support/service-process';

const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');
const cited = [...page.matchAll(/`(test\/[a-z/-]+\.test\.ts)`: "([^"]+)"/g)].map(([, file = '', words = '']) => [
  file,
  words,
]);

describe('docs/security.md', () => {
  it('cites tests', () => expect(cited.length).toBeGreaterThan(30));

  it.each(cited)('cites a test that there is: %s, "%s"', (file = '', words = '') => {
    expect(existsSync(join(ROOT, file))).toBe(true);
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(words);
  });

  it('counts the guards that are tried', () => {
    const guards = readFileSync(join(ROOT, 'test/guards/guards.mjs'), 'utf8').match(/^ {4}guard: /gm) ?? [];
    expect(page).toContain(`takes ${guards.length} of them out`);
  });

  it('lists every event of the audit trail', () => {
    const source = readFileSync(join(ROOT, 'src/features/audit/security-events-repository.ts'), 'utf8');
    const names = [...source.matchAll(/^ {2}\| '([a-z_]+)'/gm)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(page).toContain(name);
  });
});

describe('the table of limits', () => {
  it('has an answer for every limit when nothing can be counted: money and accounts closed, reading open', () => {
    const limits = Object.entries(limitTable({} as LimitAmounts));
    const open = limits.filter(([, { whenUncounted }]) => whenUncounted === 'allow').map(([name]) => name);
    expect(open.sort()).toEqual([
      ...['checksPerDay', 'checksPerMinute', 'findsPerDay', 'findsPerMinute'],
      ...['verifiesPerDay', 'verifiesPerMinute'],
    ]);
  });
});
