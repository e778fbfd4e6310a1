import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { differences, type Guard } from '../support/claims';
import { ROOT } from '../support/service-process';

const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');
const guards = guardsOf(join(ROOT, 'test/guards/guards.mjs'));
const cited = [...page.matchAll(/`(test\/[a-z/-]+\.test\.ts)`: "([^"]+)"/g)].map(([, file = '', words = '']) => [
  file,
  words,
]);

/** Jest can't load an ES module. */
function guardsOf(file: string): Guard[] {
  const program = `import(${JSON.stringify(pathToFileURL(file).href)}).then(({ guards }) => console.log(JSON.stringify(guards)))`;
  return JSON.parse(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' })) as Guard[];
}

describe('docs/security.md', () => {
  it('cites tests', () => expect(cited.length).toBeGreaterThan(30));

  it.each(cited)('cites a test that there is: %s, "%s"', (file = '', words = '') => {
    expect(existsSync(join(ROOT, file))).toBe(true);
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(words);
  });

  it('claims what guards show, and guards show what it claims', () => {
    expect(differences(page, guards)).toEqual([]);
  });

  it('would not do with one claim, one citation or one guard less', () => {
    const less = (words: string) => differences(page.replace(words, ''), guards);
    expect(less('`test/unit/lint.test.ts`: "refuses Math.random in"')).toEqual([
      expect.stringContaining('6.5.3: not cited, "nothing in src') as string,
    ]);
    expect(less('by reading: nothing ever asks')).toEqual(['6.2.10: neither test nor reason']);
    expect(differences(page.replace('| 7.3.2 |', '| 7.3.9 |'), guards)).toContain('only a guard: 7.3.2');
    expect(differences(page.replace('| 7.3.2 |', '| 7.3.9 |'), guards)).toContain('7.3.9: no guard');
    expect(differences(page.replace('replay a cookie after', 'send a cookie after'), guards)).toEqual(
      expect.arrayContaining([
        'no guard: send a cookie after logout, a password change or a reset',
        'only a guard: replay a cookie after logout',
      ]),
    );
    const without = (guard: string) => guards.filter((other) => other.guard !== guard);
    const alone = guards.filter(({ guard, claims = [] }) =>
      claims.some((claim) => !without(guard).some((other) => other.claims?.includes(claim))),
    );
    expect(alone.length).toBeGreaterThan(30);
    for (const { guard } of alone) expect(differences(page, without(guard))).not.toEqual([]);
  });

  it('is shown by guards that npm run guards has seen fail', () => {
    const seen = JSON.parse(readFileSync(join(ROOT, 'test/guards/proved.json'), 'utf8')) as Record<string, string>;
    const unseen = guards.filter(({ claims, guard }) => claims && seen[guard] === undefined);
    expect(unseen.map(({ guard }) => guard)).toEqual([]);
  });

  it('counts the guards that are tried', () => {
    expect(page).toContain(`takes ${guards.length} of them out`);
  });

  it('lists every event of the audit trail', () => {
    const source = readFileSync(join(ROOT, 'src/features/audit/security-events-repository.ts'), 'utf8');
    const names = [...source.matchAll(/^ {2}\| '([a-z_]+)'/gm)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(page).toContain(name);
  });
});
