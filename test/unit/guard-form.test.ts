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
  ...{ guard: 'five tries', claims: ['guess'], file: 'codes.ts', replace: 'tries < 5', by: 'true' },
  ...{ test: 'test/codes', named: 'codes are compared' },
};

describe("a guard's form", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'guard-form-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Jest cannot load the ES module, so Node does. */
  function formOf(source: string, test: string, changed: Partial<typeof guard> = {}): string {
    mkdirSync(join(folder, 'test'), { recursive: true });
    writeFileSync(join(folder, 'codes.ts'), source);
    writeFileSync(join(folder, 'test/codes.test.ts'), test);
    const values = [folder, { ...guard, ...changed }].map((value) => JSON.stringify(value)).join();
    const module = JSON.stringify(pathToFileURL(join(ROOT, 'test/guards/form.mjs')).href);
    const program = `import(${module}).then(({ formOf }) => console.log(formOf(${values})))`;
    return execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  }

  it('stays when another member, function or test changes, a claim, or the format', () => {
    const form = formOf(SOURCE, TEST);
    expect(formOf(SOURCE.replace('return true', 'return false').replace('return 1', 'return 2'), TEST)).toBe(form);
    expect(formOf(SOURCE, TEST.replace('check(1)', 'check(2)'))).toBe(form);
    expect(formOf(SOURCE.replaceAll('\n', '\n\n'), TEST, { claims: ['guess a code'] })).toBe(form);
  });

  it('changes with its own function, its own test or what it replaces', () => {
    const form = formOf(SOURCE, TEST);
    expect(formOf(SOURCE.replace('return tries', 'return isOpen && tries'), TEST)).not.toBe(form);
    expect(formOf(SOURCE, TEST.replace('check(5)', 'check(6)'))).not.toBe(form);
    expect(formOf(SOURCE, TEST, { by: 'tries < 50' })).not.toBe(form);
  });

  it('of a guard in a migration changes with each later migration, which may replace what it changes', () => {
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
