import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FriendStatus, GroupRole } from '../../packages/client/src/index.ts';
import { ASKED_ONCE, DONE_BEFORE } from '../../packages/client/src/repeating.ts';
import { OPERATIONS } from '../support/operations';
import { ROOT } from '../support/service-process';

interface Document {
  components: { schemas: Record<string, { enum?: number[]; 'x-enum-varnames'?: string[] }> };
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe("the client's description of the service", () => {
  it('has the types of docs/openapi.json (npm run types in packages/client writes them)', () => {
    const hash = createHash('sha256').update(read('docs/openapi.json')).digest('hex');
    expect(read('packages/client/src/document.ts')).toContain(`SHA-256 of the document: ${hash}`);
  });

  it('repeats the calls that docs/api.md allows to repeat after no answer', () => {
    const [, table = ''] = /^\| after \| do this \|\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(read('docs/api.md')) ?? [];
    const rows = table.split('\n').flatMap((row) => {
      const [, names = '', advice = ''] = /^\| (.*?) \| (.*) \|$/.exec(row) ?? [];
      return names.split(', ').map((name) => ({ path: pathOf(name), advice }));
    });
    const named = rows.filter(({ path }) => path !== undefined);
    expect(named.length).toBeGreaterThan(10);

    const repeated = ({ advice }: { advice: string }) => /^(ask|log in|verify the same code) again/.test(advice);
    const paths = (some: { path: string | undefined }[]) => some.map(({ path }) => path).sort();
    expect(paths(named.filter((row) => !repeated(row)))).toEqual([...ASKED_ONCE].sort());

    const done = named.flatMap(({ path, advice }) => {
      const [, status] = /a (\d{3}) says that it was done/.exec(advice) ?? [];
      return path !== undefined && status !== undefined ? [[path, Number(status)]] : [];
    });
    expect(new Map(done as [string, number][])).toEqual(DONE_BEFORE);
  });

  it.each(Object.entries({ FriendStatus, GroupRole }))('has the names of the numbers: %s', (schema, values) => {
    const { components } = JSON.parse(read('docs/openapi.json')) as Document;
    const { enum: numbers = [], 'x-enum-varnames': names = [] } = components.schemas[schema] ?? {};
    expect(Object.entries(values)).toEqual(names.map((name, index) => [name, numbers[index]]));
  });

  function pathOf(name: string): string | undefined {
    return OPERATIONS.find(({ path }) => path === `/user/${name}` || path === `/${name}`)?.path;
  }
});
