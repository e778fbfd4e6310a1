// npm run check: dependencies, then all checks of a change: format, lint, types, the document, tests. With -- --fast it
// checks what has changed since the last commit, or since -- --fast --since=REVISION: in less than a minute, and so not
// everything.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { root } from '../launch/dependencies.mjs';

const CACHE = '.cache';
const DOCUMENTS = ['docs/openapi.json', 'docs/admin-openapi.json'];
/** Maximum test files of the fast form. They take a few seconds each, and some half a minute. */
const FEW = 4;
const FAR = 3;
/** Tests that start processes or tools, or play attackers, for minutes. */
const SLOW = /^test\/(process|attacks|fuzz|tools)\//;

const PROGRAMS = {
  prettier: 'node_modules/prettier/bin/prettier.cjs',
  eslint: 'node_modules/eslint/bin/eslint.js',
  typescript: 'node_modules/typescript/bin/tsc',
  redocly: 'node_modules/@redocly/cli/bin/cli.js',
  knip: 'node_modules/knip/bin/knip.js',
  prose: 'scripts/check/prose.mjs',
};

const { values: options } = parseArgs({
  options: { fast: { type: 'boolean' }, lint: { type: 'boolean' }, since: { type: 'string' } },
});

async function checkAll() {
  const asked = [
    await tool('prettier', '--check', '.'),
    await types(),
    await lint(),
    await run('scripts/check/test.mjs', '--all'),
  ];
  return asked.every(Boolean);
}

async function lint() {
  const asked = [
    await tool('eslint', '.'),
    await tool('knip'),
    await tool('redocly', 'lint', ...DOCUMENTS, '--format=stylish'),
    await tool('prose'),
  ];
  return asked.every(Boolean);
}

async function checkFast(files) {
  if (files.length === 0) {
    say('Nothing has changed since: say --since=REVISION to look further back.');
    return true;
  }
  say(`Checking ${files.length} files, and then tests of them …`);
  const sources = files.filter((file) => /\.([cm]?js|ts)$/.test(file));
  const asked = await Promise.all([
    tool('prettier', '--check', '--ignore-unknown', ...files),
    tool('prose', ...files),
    sources.length === 0 ||
      tool('eslint', '--no-warn-ignored', '--cache', '--cache-location', join(CACHE, 'eslint'), ...sources),
    sources.length === 0 || types('--incremental', '--tsBuildInfoFile', join(CACHE, 'types.tsbuildinfo')),
    !DOCUMENTS.some((one) => files.includes(one)) || tool('redocly', 'lint', ...DOCUMENTS),
  ]);
  const { chosen, left } = testsOf(files, sources);
  const tested = chosen.length === 0 || (await run('scripts/check/test.mjs', '--runTestsByPath', ...chosen));
  if (left > 0) say(`${left} more files of tests have to do with it: npm run check runs them.`);
  return asked.every(Boolean) && tested;
}

function changedFiles() {
  const isClean = git('status', '--porcelain').length === 0;
  const since = options.since ?? (isClean ? 'HEAD~1' : 'HEAD');
  const tracked = git('diff', '--name-only', '--diff-filter=d', since, '--');
  const untracked = git('ls-files', '--others', '--exclude-standard');
  return [...new Set([...tracked, ...untracked])].filter((file) => existsSync(file) && file !== 'node_modules');
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.split('\n').filter(Boolean);
}

/** Returns the nearest tests first: changed tests, those named like a changed file or its folder, then units. */
function testsOf(files, sources) {
  const names = sources.flatMap((file) => file.split('/').map((word) => basename(word).replace(/\..*$/, '')));
  const distance = (test) => {
    if (files.includes(test)) return 0;
    if (names.includes(basename(test, '.test.ts'))) return 1;
    return test.startsWith('test/unit/') ? 2 : FAR;
  };
  const related = sources.length === 0 ? [] : relatedTests(sources);
  related.sort((one, other) => distance(one) - distance(other));
  const quick = related.filter((test) => !SLOW.test(test));
  const near = quick.filter((test) => distance(test) < FAR);
  const chosen = near.length > 0 ? near.slice(0, FEW) : quick.slice(0, 1);
  return { chosen, left: related.length - chosen.length };
}

function relatedTests(sources) {
  const args = ['node_modules/jest/bin/jest.js', '--listTests', '--findRelatedTests', ...sources];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((path) => relative(root, path));
}

function types(...flags) {
  return tool('typescript', '--noEmit', ...flags);
}

/** Prints its result at the end, since several run at once. */
function tool(name, ...args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [PROGRAMS[name], ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('close', (status) => {
      say(`${name}: ${status === 0 ? 'good' : `not good\n${output.trimEnd()}`}`);
      resolve(status === 0);
    });
  });
}

function run(...args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: 'inherit' });
    child.on('close', (status) => resolve(status === 0));
  });
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

process.chdir(root);
mkdirSync(CACHE, { recursive: true });
const begun = performance.now();
const isGood = await (options.lint ? lint() : options.fast ? checkFast(changedFiles()) : checkAll());
say(`${isGood ? 'Good' : 'NOT GOOD'}, after ${Math.round((performance.now() - begun) / 1_000)} s.`);
process.exit(isGood ? 0 : 1);
