import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsOf, OPERATIONS } from '../support/operations';

const TEST = join(__dirname, '..');
const page = readFileSync(join(TEST, '../docs/api.md'), 'utf8');
const tests = readdirSync(join(TEST, 'api'))
  .map((file) => readFileSync(join(TEST, 'api', file), 'utf8'))
  .join('');

function rowOf(path: string): string[] {
  const row = page.split('\n').find((line) => line.startsWith(`| \`${path}\` |`));
  return row?.split('|').map((cell) => cell.trim()) ?? [];
}

/** The only one whose result has a section of its own. */
const SYNC = page.slice(page.indexOf('## Sync'), page.indexOf('## Tokens'));

describe.each(OPERATIONS)('$path', ({ path, summary, body, options, result }) => {
  it('is documented, with each field of its body and its result', () => {
    const [, , bodyCell, resultCell = ''] = rowOf(path);
    const documented = (bodyCell ?? '').split(', ').map((name) => name.replace('?', ''));
    const taken = body ?? options;
    expect(documented).toEqual(taken ? fieldsOf(taken, 'input') : ['–']);
    const shown = resultCell === 'see below' ? SYNC : resultCell;
    for (const field of fieldsOf(result, 'output')) expect(shown).toMatch(new RegExp(`\\b${field}\\b`));
  });

  it('has a summary of one sentence', () => {
    expect(summary).toMatch(/^[A-Z].*[^.]\.$/);
  });

  it('is called in the tests of the API', () => {
    const [fixed = ''] = path.split(':');
    expect(tests).toMatch(fixed.endsWith('/') ? new RegExp(`${fixed}(\\$\\{|\\w)`) : new RegExp(`${fixed}\\b`));
  });
});
