import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changes } from '../../src/features/sync/sync-schemas';
import { fieldsOf, OPERATIONS } from '../support/operations';

const TEST = join(__dirname, '..');
const read = (page: string) => readFileSync(join(TEST, '../docs', page), 'utf8');
const page = read('api.md');
const syncPage = read('sync.md');
const tests = readdirSync(join(TEST, 'api'), { encoding: 'utf8', recursive: true })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(TEST, 'api', file), 'utf8'))
  .join('');

function rowOf(first: string, text = page): string[] {
  const row = text.split('\n').find((line) => line.startsWith(`| ${first} |`));
  return row?.split('|').map((cell) => cell.trim()) ?? [];
}

/** The fields of sync's result. It is the only result with a page of its own, which has a row for each field. */
const SYNC = [...syncPage.matchAll(/^\| (\w+) \|/gm)].map(([, field]) => field).join();

describe.each(OPERATIONS)('$path', ({ path, summary, body, options, result }) => {
  // guard api-docs-1: the documentation has each field
  // docs/api.md
  // - | `/user/verify_code` | region, phone, code |
  // + | `/user/verify_code` | region, phone |
  it('is documented, with each field of its body and its result', () => {
    const [, , bodyCell, resultCell = ''] = rowOf(`\`${path}\``);
    const documented = (bodyCell ?? '').split(', ').map((name) => name.replace('?', ''));
    const taken = body ?? options;
    expect(documented).toEqual(taken ? fieldsOf(taken, 'input') : ['–']);
    const shown = resultCell === 'see [sync.md](sync.md)' ? SYNC : resultCell;
    for (const field of fieldsOf(result, 'output')) expect(shown).toMatch(new RegExp(`\\b${field}\\b`));
  });

  it('has a summary of one sentence', () => {
    expect(summary).toMatch(/^[A-Z].*[^.]\.$/);
  });

  it('is called by a test in test/api', () => {
    const [fixed = ''] = path.split(':');
    expect(tests).toMatch(fixed.endsWith('/') ? new RegExp(`${fixed}(\\$\\{|\\w)`) : new RegExp(`${fixed}\\b`));
  });
});

describe('docs/sync.md', () => {
  /** With `names`, rows of these have one more field. */
  const NAMED = ['blacklist', 'friends'];
  const [names = ''] = /^\*\*Names\.\*\*.*?\n\n/ms.exec(syncPage) ?? [];

  // guard api-docs-2: the documentation has each field of sync
  // docs/sync.md
  // - [{ groupId, memberId, displayName, role,
  // + [{ groupId, memberId, role,
  it.each(Object.entries(changes.shape))('has a row for each field of %s', (name, schema) => {
    const [, , shown = ''] = rowOf(name, syncPage);
    const described = NAMED.includes(name) ? shown + names : shown;
    for (const field of fieldsOf(schema, 'output')) expect(described).toMatch(new RegExp(`\\b${field}\\b`));
  });
});
