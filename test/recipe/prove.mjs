// Makes the examples of docs/adding-an-operation.md and docs/adding-a-feature.md in a copy of the tree, by the blocks of
// the pages, and runs the checks there. Then omits each file of a page in turn, as a developer might forget it, and
// expects a check to fail.
//   npm run recipe
//   npm run recipe -- --sample=N      leaves out N files, at random, or makes a long check in place of one
//   npm run recipe -- WORD            only what leaves out a file with this word in its path, or checks such files
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
// prettier-ignore
const COPIED = [
  'src', 'test', 'migrations', 'docs', 'scripts', 'packages', 'deploy', 'Dockerfile', 'docker-compose.yml', '.dockerignore',
  'knexfile.ts', 'package.json', 'jest.config.js', 'tsconfig.json', '.env.example', 'redocly.yaml', 'eslint.config.mjs',
  '.prettierrc.json', '.prettierignore',
];

const types = ['node_modules/typescript/bin/tsc', '--noEmit'];
const tests = (...words) => ['node_modules/jest/bin/jest.js', '--forceExit', ...words];

/** The pages, and the check that fails without a file or a command of theirs. NNNN is the number of a migration. */
const PAGES = {
  'docs/adding-an-operation.md': {
    'migrations/NNNN_gender.up.sql': tests('test/api/profile/profile', '-t', 'set_gender'),
    'migrations/NNNN_gender.down.sql': tests('test/unit/migrations'),
    'src/features/users/profile.ts': types,
    'src/features/profile/profile-schemas.ts': types,
    'src/features/profile/profile-router.ts': tests('test/api/profile/profile', '-t', 'set_gender'),
    'docs/api.md': tests('test/unit/api-docs'),
    'docs/sync.md': tests('test/unit/api-docs'),
    'docs/from-sealtalk.md': tests('test/unit/from-sealtalk'),
    'test/support/people.ts': tests('test/api/users/users', '-t', 'find'),
    'test/api/messages.test.ts': tests('test/api/messages', '-t', 'set_gender'),
    'test/api/profile/profile.test.ts': tests('test/unit/api-docs'),
    'test/api/http/openapi-examples.test.ts': tests('test/api/http/openapi-examples'),
    'npm run openapi': tests('test/unit/openapi'),
  },
  'docs/adding-a-feature.md': {
    'migrations/NNNN_reports.up.sql': tests('test/api/reports'),
    'migrations/NNNN_reports.down.sql': tests('test/unit/migrations'),
    'src/features/reports/reports-schemas.ts': types,
    'src/features/reports/reports-repository.ts': types,
    'src/features/reports/reports-service.ts': types,
    'src/features/reports/reports-router.ts': types,
    'src/features/reports/build-reports.ts': types,
    'src/composition/services.ts': types,
    'src/composition/operations.ts': tests('test/api/reports'),
    'src/config/sections/groups.ts': types,
    'docs/api.md': tests('test/unit/api-docs'),
    'docs/from-sealtalk.md': tests('test/unit/from-sealtalk'),
    'docs/webhooks.md': tests('test/api/webhooks', '-t', 'kinds'),
    'test/api/reports/reports.test.ts': tests('test/unit/api-docs'),
    'test/unit/config.test.ts': tests('test/unit/config'),
    'test/api/database/service-role.test.ts': tests('test/api/database/service-role'),
    'test/api/database/query-plans.test.ts': tests('test/api/database/query-plans', '-t', 'add-report'),
    'test/owners/owners.sql': tests('--config', 'test/owners/jest.config.js', 'test/api/reports'),
    'test/api/http/openapi-examples.test.ts': tests('test/api/http/openapi-examples'),
    'npm run tables': tests('test/unit/limits-docs'),
    'npm run openapi': tests('test/unit/openapi'),
  },
};

/** The lists outside of its folder that a new feature changes in src, and its other places. */
const LISTS = ['src/composition/services.ts', 'src/composition/operations.ts', 'src/config/sections/'];
const FEATURE = ['src/features/reports/', 'migrations/NNNN_', 'test/', 'docs/', 'npm run '];

const scripts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;
const blocks = Object.keys(PAGES).flatMap(blocksOf);
const elsewhere = blocks.filter(
  ({ page, file }) =>
    page === 'docs/adding-a-feature.md' && ![...LISTS, ...FEATURE].some((one) => file.startsWith(one)),
);
if (elsewhere.length > 0) throw new Error(`a feature changes ${elsewhere.map(({ file }) => file).join(', ')}`);
for (const [page, forgotten] of Object.entries(PAGES)) {
  const files = [...new Set(blocks.filter((block) => block.page === page).map(({ file }) => file))];
  if (files.sort().join() !== Object.keys(forgotten).sort().join())
    throw new Error(`${page} changes ${files.join(', ')}`);
}

const failures = [];
const sources = blocks.map(({ file }) => file).filter((file) => file.endsWith('.ts'));
/** Checks that pass with all examples. */
const WHOLE = [
  tests(
    'test/api/(.*/)?(profile|users|reports|sync.test|conventions|messages|openapi|service-role)',
    'test/unit/(api-docs|reasons|migr|openapi|config|deployment|from-sealtalk|limits-docs)',
  ),
  types,
  ['node_modules/prettier/bin/prettier.cjs', '--check', ...new Set(sources)],
];
/** Others that also pass then, and take a while. */
const LONG = [
  ['node_modules/eslint/bin/eslint.js', ...new Set(sources)],
  tests('test/api/database/query-plans', '-t', 'add-report'),
  tests('--config', 'test/owners/jest.config.js', 'test/api/reports'),
];
const byThePages = (check) => () => expect('by the pages', true, undefined, check);
const without = (leftOut, check) => () => expect(`without ${leftOut.file}`, false, leftOut, check);
const others = LONG.map((check) => ({ path: check.join(' '), prove: byThePages(check) }));
for (const [page, forgotten] of Object.entries(PAGES))
  for (const [file, check] of Object.entries(forgotten))
    others.push({ path: file, prove: without({ page, file }, check) });
const { values, positionals: words } = parseArgs({
  options: { sample: { type: 'string', default: String(others.length) } },
  allowPositionals: true,
});
const chosen = others.filter(({ path }) => words.every((word) => path.includes(word))).map(({ prove }) => prove);
const waiting = words.length > 0 ? [] : WHOLE.map(byThePages);
waiting.push(...chosen.sort(() => Math.random() - 0.5).slice(0, Number(values.sample)));
await Promise.all([work(), work()]);
process.exit(failures.length === 0 ? 0 : 1);

/** Returns the changes and commands of a page, in their order. */
function blocksOf(page) {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(?:(diff|sql|ts) (\S+)|sh)\n(.*?)^```$/gms)].map(([, kind, file, text]) => ({
    page,
    kind: kind ?? 'sh',
    file: file ?? text.trim(),
    text,
  }));
}

async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) await next();
}

async function expect(title, passes, leftOut, check) {
  const isTested = check[0].includes('jest');
  const tree = copied(leftOut, isTested);
  const { status, output } = await run(check, tree);
  const isRight = (status === 0) === passes;
  if (!isRight) failures.push(title);
  const [program, , ...words] = check;
  const name = isTested ? words.findLast((word) => word.startsWith('test/')) : program.split('/')[1];
  const outcome = `${isRight ? 'right' : 'WRONG'}  ${title}: ${name} ${status === 0 ? 'passes' : 'fails'}`;
  process.stdout.write(`${outcome}\n${isRight ? '' : output}`);
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

function copied(leftOut, isTested) {
  const tree = mkdtempSync(join(tmpdir(), 'accounts-recipe-'));
  for (const name of COPIED) cpSync(join(root, name), join(tree, name), { recursive: true, filter: isSource });
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  // Most of them are as they were, so that npm run openapi compiles only the others.
  const compiled = '.cache/compiled';
  if (existsSync(join(root, compiled))) cpSync(join(root, compiled), join(tree, compiled), { recursive: true });
  const { page, file } = leftOut ?? {};
  const kept = blocks.filter((block) => !leftOut || (block.page === page && block.file !== file));
  for (const one of Object.keys(PAGES)) {
    // The number after that of the newest migration, also where both pages add one.
    const number = String(readdirSync(join(tree, 'migrations')).filter(isWayUp).length + 1).padStart(4, '0');
    for (const block of kept) if (block.page === one && block.kind !== 'sh') apply(tree, block, number);
  }
  // Their output is for tests. With a missing file it may be wrong; a check fails then.
  const commands = kept.filter(({ kind }) => kind === 'sh').map(({ file }) => file);
  for (const command of isTested ? new Set(commands) : []) {
    const [script] = /scripts\/\S+\.ts$/.exec(scripts[command.replace('npm run ', '')]);
    spawnSync(process.execPath, ['--require', './scripts/launch/typescript.cjs', script], {
      cwd: tree,
      stdio: 'ignore',
    });
  }
  return tree;
}

function isWayUp(name) {
  return name.endsWith('.up.sql');
}

function apply(tree, { kind, file, text }, number) {
  const path = join(tree, file.replace('NNNN', number));
  if (kind !== 'diff') {
    mkdirSync(dirname(path), { recursive: true });
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
