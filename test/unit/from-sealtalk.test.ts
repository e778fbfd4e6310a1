import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATIONS } from '../support/operations';

const page = readFileSync(join(__dirname, '..', '..', 'docs', 'from-sealtalk.md'), 'utf8');
const paths: string[] = OPERATIONS.map(({ path }) => path);
const rows = [...page.matchAll(/^\| `(?:GET|POST|DELETE) (\S+)` \| (?:`(\S+)`|–) \|/gm)].map(
  ([, there = '', here]) => ({ there, here }),
);
const [, added = ''] = /^These have no counterpart there:(.*?)\.$/ms.exec(page) ?? [];

describe('docs/from-sealtalk.md', () => {
  it('has a table of which this test reads every row', () => {
    expect(rows).toHaveLength(page.split('\n').filter((line) => line.startsWith('| `')).length);
  });

  it('names only operations that exist here, and lists as absent only those that do not', () => {
    const here = rows.flatMap((row) => row.here ?? []);
    const absent = rows.filter((row) => row.here === undefined).map(({ there }) => there);
    expect(here.filter((path) => !paths.includes(path))).toEqual([]);
    expect(absent.filter((path) => paths.includes(path))).toEqual([]);
  });

  it('leaves out no operation', () => {
    const named = [
      ...rows.flatMap((row) => row.here ?? []),
      ...[...added.matchAll(/`(\S+)`/g)].map(([, path]) => path),
    ];
    expect(named.sort()).toEqual([...paths].sort());
  });

  it('mentions only operations that exist', () => {
    const mentioned = [...page.matchAll(/`(\/(?:user|friendship|group)\/\S+?)`/g)].map(([, path = '']) => path);
    expect(mentioned.filter((path) => !paths.includes(path))).toEqual([]);
  });
});
