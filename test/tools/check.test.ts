import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withoutPackages } from '../support/paths';
import { ROOT } from '../support/service-process';

/** A small project with this project's check, whose output does not depend on the size of the tree. */
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'accounts-check-'));
  for (const name of ['scripts', 'package.json', 'package-lock.json', '.npmrc', '.prettierrc.json', 'redocly.yaml'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter: withoutPackages });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  cpSync(join(ROOT, 'test/support/jest/processor.cjs'), join(folder, 'test/support/jest/processor.cjs'));
  mkdirSync(join(folder, 'docs'));
  write('.gitignore', 'node_modules\n.cache/\nmarker\n');
  write('.prettierignore', 'package-lock.json\n.cache\nscripts\ndocs\n');
  write('eslint.config.mjs', `export default [{ ignores: ['scripts'] }, { rules: { 'no-debugger': 'error' } }];\n`);
  write('tsconfig.json', '{ "compilerOptions": { "types": [] }, "files": ["sum.ts"] }\n');
  write('jest.config.js', "module.exports = { transform: {}, testMatch: ['<rootDir>/test/*.test.js'] };\n");
  write('knip.json', '{ "entry": ["sum.ts"], "project": ["*.ts"], "include": ["exports"] }\n');
  for (const name of ['openapi', 'admin-openapi']) write(`docs/${name}.json`, documentOf({}));
  write('sum.ts', 'export const sum: number = 2;\n');
  write('product.js', 'module.exports = 4;\n');
  write('test/product.test.js', `test('it', () => expect(require('../product')).toBe(4));\n`);
  write('test/other.test.js', `test('it', () => {});\n`);
  git('init', '--quiet');
  git('config', 'user.name', 'A');
  git('config', 'user.email', 'a@example.invalid');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Begin');
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

function documentOf(paths: object): string {
  const info = { title: 'One', version: '1', license: { name: 'MIT', identifier: 'MIT' } };
  return `${JSON.stringify({ openapi: '3.1.1', info, servers: [{ url: '/' }], security: [], paths })}\n`;
}

function git(...args: string[]): void {
  expect(spawnSync('git', args, { cwd: folder }).status).toBe(0);
}

const check = (...words: string[]) => run('check', ...words);

function run(script: string, ...words: string[]) {
  const { JEST_WORKER_ID: _worker, TEST_REPORT: _ofThisRun, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [`scripts/check/${script}.mjs`, ...words], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { status, told: stdout + stderr };
}

describe('npm run check -- --fast', () => {
  it('checks format, lint, types and prose of changed files', () => {
    write('product.js', 'module.exports  =  4\n');
    write('other.js', 'debugger;\n');
    write('sum.ts', "export const sum: number = '2';\n");
    write('page.md', `${'word '.repeat(36)}.\n`);
    const { status, told } = check('--fast');
    expect(status).toBe(1);
    for (const tool of ['prettier', 'eslint', 'typescript', 'prose'])
      expect(told).toMatch(new RegExp(`^${tool}: not good`, 'm'));
  });

  it('runs only the tests that depend on changed files', () => {
    write('product.js', 'module.exports = 5;\n');
    const { status, told } = check('--fast');
    expect(status).toBe(1);
    expect(told).toContain('FAIL test/product.test.js');
    expect(told).not.toContain('other.test.js');
    // Nothing else is wrong, and the document has not changed.
    for (const tool of ['prettier', 'eslint', 'typescript']) expect(told).toMatch(new RegExp(`^${tool}: good`, 'm'));
    expect(told).not.toContain('redocly');
  });

  it('looks at the last commit if nothing has changed since, and lints its documents', () => {
    write('product.js', 'module.exports = 2 * 2;\n');
    write('docs/openapi.json', documentOf({ '/sum': { get: {} } }));
    git('commit', '--all', '--quiet', '--message', 'Change');
    const { status, told } = check('--fast');
    expect(told).toContain('PASS test/product.test.js');
    expect(told).toMatch(/^redocly: not good/m);
    expect(status).toBe(1);
  });
});

describe('npm run test:all', () => {
  it('repeats a test by itself that failed beside others, and says so', () => {
    write(
      'test/other.test.js',
      `test('it', () => {
  const [fs, marker] = [require('node:fs'), '${join(folder, 'marker')}'];
  const isFirst = !fs.existsSync(marker);
  fs.writeFileSync(marker, '');
  expect(isFirst).toBe(false);
});
`,
    );
    const { status, told } = run('test', '--all');
    expect(told).toContain('Again, by themselves: test/other.test.js');
    expect(told).toContain('Passed only by themselves: test/other.test.js');
    expect(told).toMatch(/^These tests took \d+ s of processor\.$/m);
    expect(status).toBe(0);
  });
});

describe('npm run check', () => {
  // guard check-1: a test that also fails by itself fails the check
  // scripts/check/test.mjs
  // - return second.isGood;
  // + return true;
  it('reports unused exports, wrong documents, and tests that also fail by themselves', () => {
    write('left.ts', 'export const left = 1;\n');
    write('sum.ts', "import './left';\n\nexport const sum: number = 2;\n");
    write('docs/openapi.json', documentOf({ '/sum': { get: {} } }));
    write('product.js', 'module.exports = 5;\n');
    const { status, told } = check();
    expect(told).toMatch(/^knip: not good[^]*left/m);
    expect(told).toMatch(/^redocly: not good/m);
    expect(told).toContain('Again, by themselves: test/product.test.js');
    expect(told).toMatch(/^NOT GOOD, after/m);
    expect(status).toBe(1);
  });
});
