import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { attacksOf, guardsCitedIn, faultsOfClaims, malformed, type Guard } from '../support/claims';
import { SECURITY_EVENTS } from '../../src/features/audit/security-events-repository';
import { ROOT } from '../support/service-process';

const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');
const guards = guardsOf(join(ROOT, 'test/guards/read.mjs'));

/** Runs Node, since Jest cannot load an ES module. */
function guardsOf(reader: string): Guard[] {
  const program = `
    import { guardsOf } from ${JSON.stringify(pathToFileURL(reader).href)};
    console.log(JSON.stringify(guardsOf('.').map(({ id }) => ({ id }))));`;
  const args = ['--input-type=module', '-e', program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', cwd: ROOT })) as Guard[];
}

describe('docs/security.md', () => {
  it('has a guard or a reason for each claim, and cites existing guards only', () => {
    expect(faultsOfClaims(page, guards)).toEqual([]);
  });

  it('fails this check with one citation or one guard less', () => {
    expect(faultsOfClaims(page.replace('by reading: nothing ever asks', 'nothing ever asks'), guards)).toEqual([
      'neither guard nor reason: 6.2.10',
    ]);
    const [{ line = '', cells: [attack = '', , proof = ''] = [] } = {}] = attacksOf(page);
    expect(faultsOfClaims(page.replace(line, line.replace(proof, '')), guards)).toEqual([
      `neither guard nor reason: ${attack}`,
    ]);
    const cited = new Set(guardsCitedIn(page));
    expect(cited.size).toBeGreaterThan(250);
    for (const id of cited) {
      const others = guards.filter((guard) => guard.id !== id);
      expect(faultsOfClaims(page, others)).toContain(`no such guard: ${id}`);
    }
  });

  it('has an attack, an answer of at most 25 words and a proof in each row of an attack table', () => {
    expect(malformed(page)).toEqual([]);
    const [{ line = '', cells: [attack = '', answer = ''] = [] } = {}] = attacksOf(page);
    const withAnswer = (words: string) => page.replace(line, line.replace(answer, words));
    expect(malformed(withAnswer('word '.repeat(25)))).toEqual([]);
    expect(malformed(withAnswer('word '.repeat(26)))).toEqual([`26 words: ${attack}`]);
    expect(malformed(withAnswer('one | two'))).toEqual([`4 cells: ${attack}`]);
  });

  it('lists every event of the audit trail', () => {
    for (const name of [...SECURITY_EVENTS, 'backed_up']) expect(page).toContain(name);
  });
});
