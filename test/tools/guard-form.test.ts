import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../support/service-process';

const SOURCE = `class Codes {
  compare() { return tries < 5; }
  send() { return true; }
}
function other() { return 1; }`;
const TEST = `describe('codes', () => {
  it('are compared five times', () => check(5));
  it('are sent', () => check(1));
});`;
const guard = {
  id: 'codes-1',
  guard: 'five tries',
  file: 'codes.ts',
  replace: 'tries < 5',
  by: 'true',
  test: 'test/codes',
  named: 'codes are compared',
};

describe("a guard's form", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'guard-form-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs Node, since Jest cannot load the ES module. */
  function formOf(source: string, test: string, changed: Partial<typeof guard> = {}): string {
    mkdirSync(join(folder, 'test'), { recursive: true });
    writeFileSync(join(folder, 'codes.ts'), source);
    writeFileSync(join(folder, 'test/codes.test.ts'), test);
    const values = [folder, { ...guard, ...changed }].map((value) => JSON.stringify(value)).join();
    const module = JSON.stringify(pathToFileURL(join(ROOT, 'test/guards/form.mjs')).href);
    const program = `import(${module}).then(({ formOf }) => console.log(formOf(${values})))`;
    return execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  }

  it("does not change with another member, function or test, the guard's sentence, or the format", () => {
    const form = formOf(SOURCE, TEST);
    expect(formOf(SOURCE.replace('return true', 'return false').replace('return 1', 'return 2'), TEST)).toBe(form);
    expect(formOf(SOURCE, TEST.replace('check(1)', 'check(2)'))).toBe(form);
    expect(formOf(SOURCE.replaceAll('\n', '\n\n'), TEST, { guard: 'no more than five tries' })).toBe(form);
  });

  it('changes with its own function, its own test or what it replaces', () => {
    const form = formOf(SOURCE, TEST);
    expect(formOf(SOURCE.replace('return tries', 'return isOpen && tries'), TEST)).not.toBe(form);
    expect(formOf(SOURCE, TEST.replace('check(5)', 'check(6)'))).not.toBe(form);
    expect(formOf(SOURCE, TEST, { by: 'tries < 50' })).not.toBe(form);
  });

  it('changes for a guard in a migration with each later migration, which may replace its code', () => {
    mkdirSync(join(folder, 'migrations'));
    const write = (name: string) => writeFileSync(join(folder, 'migrations', name), 'SELECT tries < 5;');
    write('0002_tries.up.sql');
    const inMigration = () => formOf(SOURCE, TEST, { file: 'migrations/0002_tries.up.sql' });
    const form = inMigration();
    write('0001_codes.up.sql');
    expect(inMigration()).toBe(form);
    write('0003_tries.up.sql');
    expect(inMigration()).not.toBe(form);
  });
});

describe('guards', () => {
  it('quote source lines that occur exactly once', () => {
    const program = `
      import { readFileSync } from 'node:fs';
      import { foundOf, placesOf } from './test/guards/form.mjs';
      import { guards } from './test/guards/guards.mjs';
      const places = guards.flatMap((guard) => [guard, ...(guard.also ?? [])].map((place) => ({ guard, place })));
      for (const { guard, place } of places) {
        const source = readFileSync(place.file, 'utf8');
        if (placesOf(place.replace, source).length !== 1) console.log(foundOf(guard, place, source));
      }`;
    const options = { encoding: 'utf8', cwd: ROOT } as const;
    expect(execFileSync(process.execPath, ['--input-type=module', '-e', program], options)).toBe('');
  });

  it.each([
    ['tries <= 5', 'codes.ts has no longer: tries <= 5'],
    ['return', 'codes.ts has 3 times: return'],
  ])('say what to do when "%s" is not found exactly once', (replace, what) => {
    const values = [{ ...guard, test: 'test/api/codes' }, { ...guard, replace }, SOURCE].map((value) =>
      JSON.stringify(value),
    );
    const module = JSON.stringify(pathToFileURL(join(ROOT, 'test/guards/form.mjs')).href);
    const program = `import(${module}).then(({ foundOf }) => console.log(foundOf(${values.join()})))`;
    const said = execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' });
    expect(said).toContain(what);
    expect(said).toContain('Quote the line in codes-1 in test/guards/api.mjs as it is now');
  });
});
