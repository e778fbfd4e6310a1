import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../support/service-process';

const SOURCE = `class Codes {
  compare() { return tries < 5; }
  send() { return true; }
}
function other() { return 1; }`;
const GUARD = ['// guard codes-1: five tries', '// codes.ts', '// - tries < 5', '// + true'].join('\n');
const TEST = `describe('codes', () => {
${GUARD}
  it('are compared five times', () => check(5));
  it('are sent', () => check(1));
});`;

/** A part of what the reader returns. */
interface Read {
  named: string;
  code: string;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guard-form-'));
  mkdirSync(join(folder, 'packages'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Runs Node, since Jest cannot load ES modules. */
function run(program: string): string {
  const url = (name: string) => JSON.stringify(pathToFileURL(join(ROOT, 'test/guards', name)).href);
  const imports = `
    import { readFileSync } from 'node:fs';
    import { formOf, foundOf, madeOf, placesOf } from ${url('form.mjs')};
    import { guardsOf } from ${url('read.mjs')};`;
  const args = ['--input-type=module', '-e', `${imports}${program}`, folder];
  return execFileSync(process.execPath, args, { encoding: 'utf8', cwd: ROOT });
}

describe("a guard's form", () => {
  function formOf(source: string, test: string): string {
    write({ 'codes.ts': source, 'test/codes.test.ts': test });
    return run('console.log(formOf(process.argv[1], guardsOf(process.argv[1])[0]))');
  }

  it("does not change with another member, function, test or suite, the guard's sentence, or the format", () => {
    const form = formOf(SOURCE, TEST);
    expect(formOf(SOURCE.replace('return true', 'return false').replace('return 1', 'return 2'), TEST)).toBe(form);
    expect(formOf(SOURCE, TEST.replace('check(1)', 'check(2)'))).toBe(form);
    expect(formOf(SOURCE.replaceAll('\n', '\n\n'), TEST.replace('five tries', 'at most').replace('codes', 'all'))).toBe(
      form,
    );
  });

  it('changes with its own function, its own test or what it replaces', () => {
    const form = formOf(SOURCE, TEST);
    expect(formOf(SOURCE.replace('return tries', 'return isOpen && tries'), TEST)).not.toBe(form);
    expect(formOf(SOURCE, TEST.replace('check(5)', 'check(6)'))).not.toBe(form);
    expect(formOf(SOURCE, TEST.replace('+ true', '+ tries < 50'))).not.toBe(form);
  });

  it('changes for a guard in a migration with each later migration, which may replace its code', () => {
    const add = (name: string) => write({ [`migrations/${name}`]: 'SELECT tries < 5;' });
    add('0002_tries.up.sql');
    const inMigration = () => formOf(SOURCE, TEST.replace('codes.ts', 'migrations/0002_tries.up.sql'));
    const form = inMigration();
    add('0001_codes.up.sql');
    expect(inMigration()).toBe(form);
    add('0003_tries.up.sql');
    expect(inMigration()).not.toBe(form);
  });
});

describe('the reader of guards', () => {
  const reading = `
    try { console.log(JSON.stringify(guardsOf(process.argv[1]))); }
    catch (error) { console.log(JSON.stringify(error.message.split('\\n'))); }`;
  const read = (files: Record<string, string>): unknown => {
    write(files);
    return JSON.parse(run(reading));
  };
  const block = (id: string) => GUARD.replace('codes-1', id);

  it('reads each place of a guard, and several guards of a test', () => {
    const two = ['guard codes-2: both', 'a.ts', '- a(', '-   b,', '- )', 'b.sh', '- c', '+ d', '+', '+   e'];
    const comments = two.map((line) => `  // ${line}`).join('\n');
    expect(
      read({ 'packages/p/test/a.test.ts': `// Of a.\n${GUARD}\n${comments}\n  it('works', () => check(5));` }),
    ).toEqual([
      expect.objectContaining({ id: 'codes-1', guard: 'five tries', test: 'packages/p/test/a.test.ts', line: 2 }),
      expect.objectContaining({
        places: [
          { file: 'a.ts', replace: 'a(\n  b,\n)', by: '' },
          { file: 'b.sh', replace: 'c', by: 'd\n\n  e' },
        ],
      }),
    ]);
  });

  it('selects the test by its full name, with any value in place of a variable, or all tests of a suite', () => {
    const tests = {
      "it('costs $1.50 (%s)', () => check(5));": '^all costs \\$1\\.50 \\(%s\\)$',
      "it.each(TABLE)('is %s, as $name.first says', () => check(5));": '^all is .*, as .* says$',
      'it(`is ${one} here`, () => check(5), 5_000);': '^all is .* here$',
      "(isHere ? it : it.skip)('is here', () => check(5));": '^all is here$',
      "itOnOneServer('is one', () => check(5));": '^all is one$',
      "describe.each(TABLE)('of %s', () => {\n it('a', () => check(1));\n it('b', () => check(2));\n});": '^all of .* ',
    };
    const guarded = Object.keys(tests).map((test, index) => `${block(`codes-${index}`)}\n${test}`);
    const guards = read({ 'test/a.test.ts': `describe('all', () => {\n${guarded.join('\n')}\n});` }) as Read[];
    expect(guards.map(({ named }) => named)).toEqual(Object.values(tests));
    expect(guards.at(-1)?.code).toBe("it('a', () => check(1));\nit('b', () => check(2));");
  });

  it('refuses a block that is not directly above a test, is malformed, or has the id of another', () => {
    const test = "it('works', () => check(5));";
    const lines = GUARD.split('\n');
    const without = (index: number) => lines.toSpliced(index, 1).join('\n');
    const malformed = expect.stringMatching(
      /:1: a guard is "guard name-1: sentence", a file, its lines with -/,
    ) as string;
    expect(
      read({
        'test/a.test.ts': `${block('a-1')}\n\n${test}`,
        'test/b.test.ts': `${block('b-1')}\nconst one = 1;`,
        'test/c.test.ts': `${block('c-1')}\n`,
        'test/d.test.ts': `${block('codes')}\n${test}`,
        'test/e.test.ts': `${without(1)}\n${test}`,
        'test/f.test.ts': `${without(2)}\n${test}`,
        'test/g.test.ts': `${GUARD}\n// Works.\n${test}`,
        'test/h.test.ts': `${block('h-1')}\n${test}`,
        'test/i.test.ts': `// A test.\n${block('h-1')}\n${test}`,
        'test/support/j.ts': `${block('j-1')}\n${test}`,
      }),
    ).toEqual([
      'test/a.test.ts:1: a-1 is not directly above a test',
      'test/b.test.ts:1: b-1 is not directly above a test',
      'test/c.test.ts:1: c-1 is not directly above a test',
      ...['d', 'e', 'f', 'g'].map(() => malformed),
      'test/support/j.ts:1: j-1 is not directly above a test',
      'test/i.test.ts:2: h-1 is also at test/h.test.ts:1',
    ]);
  });
});

describe('guards', () => {
  it('quote source lines that occur exactly once', () => {
    const program = `
      for (const guard of guardsOf('.'))
        for (const place of guard.places) {
          const source = readFileSync(place.file, 'utf8');
          if (placesOf(place.replace, source).length !== 1) console.log(foundOf(guard, place, source));
        }`;
    expect(run(program)).toBe('');
  });

  it('replace lines in another format, and keep their indentation', () => {
    const source = 'one:\n  two: [1]\n  three:\n    - a\n';
    const place = { replace: 'two: [ 1 ]\nthree:\n  - a', by: 'two: [2]\nthree:\n  - b' };
    const made = run(`console.log(madeOf(${JSON.stringify(place)}, ${JSON.stringify(source)}))`);
    expect(made).toBe('one:\n  two: [2]\n  three:\n    - b\n\n');
  });

  it.each([
    ['tries <= 5', 'codes.ts has no longer: tries <= 5'],
    ['return', 'codes.ts has 3 times: return'],
  ])('say what to do when "%s" is not found exactly once', (replace, what) => {
    const guard = { id: 'codes-1', test: 'test/codes.test.ts', line: 2 };
    const given = [guard, { file: 'codes.ts', replace }, SOURCE].map((value) => JSON.stringify(value));
    const said = run(`console.log(foundOf(${given.join()}))`);
    expect(said).toContain(what);
    expect(said).toContain('Quote the line in codes-1 at test/codes.test.ts:2 as it is now');
  });
});
