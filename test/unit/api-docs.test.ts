import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { OPERATIONS } from '../support/operations';

const TEST = join(__dirname, '..');
const page = readFileSync(join(TEST, '../docs/api.md'), 'utf8');
const tests = readdirSync(join(TEST, 'api'))
  .map((file) => readFileSync(join(TEST, 'api', file), 'utf8'))
  .join('');

/** The names of the fields of an object, or of the objects in an array. */
function fieldsOf(schema: z.ZodType | undefined, io: 'input' | 'output'): string[] {
  if (!schema) return [];
  const json = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  const [object] = [json.items ?? json] as z.core.JSONSchema.JSONSchema[];
  return [object, ...(object?.allOf ?? [])].flatMap((part) =>
    typeof part === 'object' ? Object.keys(part.properties ?? {}) : [],
  );
}

function rowOf(path: string): string[] {
  const row = page.split('\n').find((line) => line.startsWith(`| \`/user${path}\` |`));
  return row?.split('|').map((cell) => cell.trim()) ?? [];
}

/** The only one whose result has a section of its own. */
const SYNC = page.slice(page.indexOf('## Sync'), page.indexOf('## Tokens'));

describe.each(OPERATIONS)('$path', ({ path, summary, body, result }) => {
  it('is documented, with each field of its body and its result', () => {
    const [, , bodyCell, resultCell = ''] = rowOf(path);
    const documented = (bodyCell ?? '').split(', ').map((name) => name.replace('?', ''));
    expect(documented).toEqual(body ? fieldsOf(body, 'input') : ['–']);
    const shown = resultCell === 'see below' ? SYNC : resultCell;
    for (const field of fieldsOf(result, 'output')) expect(shown).toMatch(new RegExp(`\\b${field}\\b`));
  });

  it('has a summary of one sentence', () => {
    expect(summary).toMatch(/^[A-Z].*[^.]\.$/);
  });

  it('is called in the tests of the API', () => {
    const [word = ''] = path.slice(1).split(/\/?:/);
    expect(tests).toMatch(word === '' ? /\/user\/\$\{/ : new RegExp(`/user/${word}\\b`));
  });
});
