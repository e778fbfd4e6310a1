// Adds set_gender to a copy of the tree, by the blocks of docs/adding-an-operation.md, and runs the checks there. Then omits
// each file in turn, as a developer might forget it, and expects a check to fail.
//   npm run recipe
//   npm run recipe -- --sample=N      leaves out N files, at random
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const COPIED = ['src', 'test', 'migrations', 'docs', 'scripts', 'packages', 'knexfile.ts'];
const SETTINGS = ['package.json', 'jest.config.js', 'tsconfig.json', '.env.example', 'redocly.yaml'];

const page = readFileSync(join(root, 'docs/adding-an-operation.md'), 'utf8');
const blocks = [...page.matchAll(/^```(diff|sql) (\S+)\n(.*?)^```$/gms)].map(([, kind, file, text]) => ({
  kind,
  file,
  text,
}));

const types = ['node_modules/typescript/bin/tsc', '--noEmit'];
const tests = (...words) => ['node_modules/jest/bin/jest.js', '--forceExit', ...words];

/** The check that fails without a file. */
const FORGOTTEN = {
  'migrations/0034_gender.up.sql': tests('test/api/profile/profile', '-t', 'set_gender'),
  'migrations/0034_gender.down.sql': tests('test/unit/migrations'),
  'src/features/users/profile.ts': types,
  'src/features/profile/profile-schemas.ts': types,
  'src/features/profile/profile-router.ts': tests('test/api/profile/profile', '-t', 'set_gender'),
  'docs/api.md': tests('test/unit/api-docs'),
  'docs/sync.md': tests('test/unit/api-docs'),
  'test/support/people.ts': tests('test/api/users/users', '-t', 'find'),
  'test/api/messages.test.ts': tests('test/api/messages', '-t', 'set_gender'),
  'test/api/profile/profile.test.ts': tests('test/unit/api-docs'),
  'test/api/http/openapi-examples.test.ts': tests('test/api/http/openapi-examples'),
  'npm run openapi': tests('test/unit/openapi'),
};

const commands = [...page.matchAll(/^```sh\n(.*)\n```$/gm)].map(([, command]) => command);
const files = [...new Set([...blocks.map(({ file }) => file), ...commands])];
if (files.sort().join() !== Object.keys(FORGOTTEN).sort().join())
  throw new Error(`the page changes ${files.join(', ')}`);

const failures = [];
const whole = tests(
  'test/api/(.*/)?(profile|users|sync.test|conventions|messages|openapi)',
  'test/unit/(api-docs|reasons|migr|openapi)',
);
const waiting = [whole, types].map((check) => () => expect('by the page', true, undefined, check));
const { sample = String(files.length) } = parseArgs({ options: { sample: { type: 'string' } } }).values;
const forgotten = Object.entries(FORGOTTEN).sort(() => Math.random() - 0.5);
for (const [file, check] of forgotten.slice(0, Number(sample)))
  waiting.push(() => expect(`without ${file}`, false, file, check));
await Promise.all([work(), work()]);
process.exit(failures.length === 0 ? 0 : 1);

async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) await next();
}

async function expect(title, passes, leftOut, check) {
  const tree = copied(leftOut);
  const { status, output } = await run(check, tree);
  const isRight = (status === 0) === passes;
  if (!isRight) failures.push(title);
  const what = `${title}: ${check[0].includes('tsc') ? 'types' : check[2]} ${status === 0 ? 'pass' : 'fail'}`;
  process.stdout.write(`${isRight ? 'right' : 'WRONG'}  ${what}\n${isRight ? '' : output}`);
  rmSync(tree, { recursive: true, force: true });
}

/** Returns false for installed packages and build output. */
function isSource(path) {
  return !/(node_modules|dist)$/.test(path);
}

function run(args, cwd) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('close', (status) => resolve({ status, output }));
  });
}

function copied(leftOut) {
  const tree = mkdtempSync(join(tmpdir(), 'accounts-recipe-'));
  for (const name of [...COPIED, ...SETTINGS])
    cpSync(join(root, name), join(tree, name), { recursive: true, filter: isSource });
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  // Most of them are as they were, so that npm run openapi compiles only the others.
  const compiled = '.cache/compiled';
  if (existsSync(join(root, compiled))) cpSync(join(root, compiled), join(tree, compiled), { recursive: true });
  for (const block of blocks) if (block.file !== leftOut) apply(tree, block);
  // With a missing file its output may be wrong; a check fails then.
  if (leftOut !== 'npm run openapi')
    spawnSync(process.execPath, ['--require', './scripts/launch/typescript.cjs', 'scripts/describe/openapi.ts'], {
      cwd: tree,
      stdio: 'ignore',
    });
  return tree;
}

function apply(tree, { kind, file, text }) {
  const path = join(tree, file);
  if (kind === 'sql') {
    writeFileSync(path, text);
    return;
  }
  const lines = text.split('\n').slice(0, -1);
  const side = (sign) => lines.filter((line) => line[0] !== sign).map((line) => `${line.slice(1)}\n`);
  const [before, after] = [side('+').join(''), side('-').join('')];
  const source = readFileSync(path, 'utf8');
  if (source.split(before).length !== 2) throw new Error(`${file} does not have this once:\n${before}`);
  writeFileSync(
    path,
    source.replace(before, () => after),
  );
}
