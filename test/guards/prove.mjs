// Removes each guard from a copy of the tree, one at a time, and checks that its test fails. A guard is due if its form
// (form.mjs) was neither proved on this machine nor part of the base: its function, its test or the guard itself has
// changed. The base is where this branch left origin/main, or else the last commit. Each night all guards are proved.
//   npm run guards                    proves all due guards
//   npm run guards -- WORD …          proves the guard with this id, or guards whose sentence has these words
//   npm run guards -- --all           proves all: an hour on two processors
//   npm run guards -- --base=REF      uses another base
//   npm run guards -- --sample=N      proves all due guards, and N others at random
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../scripts/launch/dependencies.mjs';
import { formOf, foundOf, madeOf } from './form.mjs';
import { guardsOf } from './read.mjs';
import { addSeen, formsAt, seenForms } from './seen.mjs';

const COPIED = [
  'src',
  'test',
  'migrations',
  'packages',
  'scripts',
  'deploy',
  'docs',
  'docker-compose.yml',
  'Dockerfile',
  '.dockerignore',
  'knexfile.ts',
  'package.json',
  'package-lock.json',
  'CHANGELOG.md',
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  '.gitignore',
  '.npmrc',
  '.prettierrc.json',
  'eslint.config.mjs',
  'jest.config.js',
  'tsconfig.json',
  '.env.example',
];
/** The result without a browser, or without a PostgreSQL with its programs. Proofs from elsewhere still count. */
const SKIPPED = 'its test is skipped on this machine';

const { values: options, positionals: words } = parseArgs({
  options: { all: { type: 'boolean' }, base: { type: 'string' }, sample: { type: 'string' } },
  allowPositionals: true,
});

/** Taken at the start, since a file may change while the proofs run. */
const guards = guardsOf(root);
const forms = new Map(guards.map((guard) => [guard, formOf(root, guard)]));
const seen = new Set([...seenForms(root), ...formsAt(root, options.base)]);
const wanted = chosen();
const waiting = [...wanted];
const unproved = [];
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
process.stdout.write(
  `${wanted.length - unproved.length} of ${wanted.length} guards are shown to matter; ${guards.length - wanted.length} others were, as they are.\n`,
);
process.exit(unproved.length === 0 && (wanted.length > 0 || words.length === 0) ? 0 : 1);

function chosen() {
  if (words.length > 0)
    return guards.filter(({ id, guard }) => words.includes(id) || words.every((word) => guard.includes(word)));
  if (options.all) return guards;
  const isDue = (guard) => !seen.has(forms.get(guard));
  const others = guards.filter((guard) => !isDue(guard)).sort(() => Math.random() - 0.5);
  return [...guards.filter(isDue), ...others.slice(0, Number(options.sample ?? 0))];
}

async function work() {
  const tree = mkdtempSync(join(tmpdir(), 'accounts-guards-'));
  for (const name of COPIED) cpSync(join(root, name), join(tree, name), { recursive: true, filter: isSource });
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  for (let guard = waiting.shift(); guard; guard = waiting.shift()) {
    const failure = await prove(tree, guard);
    const isKnown = failure === SKIPPED && seen.has(forms.get(guard));
    // After each proof, so that an interrupted run keeps its results.
    if (!failure) addSeen(root, forms.get(guard));
    else if (!isKnown) unproved.push(guard);
    const verdict = isKnown ? 'not tried ' : failure ? 'NOT PROVED' : 'proved    ';
    process.stdout.write(`${verdict}  ${guard.id}: ${guard.guard}${failure ? `: ${failure}` : ''}\n`);
  }
  rmSync(tree, { recursive: true, force: true });
}

/** Returns false for installed packages and build output. */
function isSource(path) {
  return !/(node_modules|dist)$/.test(path);
}

/** Returns what is wrong with the proof, or nothing if the test fails as required. */
async function prove(tree, guard) {
  const taken = guard.places.map((place) => ({ ...place, path: join(tree, place.file) }));
  const sources = taken.map(({ path }) => readFileSync(path, 'utf8'));
  try {
    for (const one of taken) {
      const source = readFileSync(one.path, 'utf8');
      const made = madeOf(one, source);
      if (made === undefined) return foundOf(guard, one, source);
      writeFileSync(one.path, made);
    }
    // Runs a passing test again: on a busy machine the fault that the guard prevents may not happen.
    return failureOf(await jest(tree, guard), guard) && failureOf(await jest(tree, guard), guard);
  } finally {
    // In reverse order: several changes may be in one file, and only the first has its original text.
    for (let index = taken.length - 1; index >= 0; index -= 1) writeFileSync(taken[index].path, sources[index]);
  }
}

function failureOf({ status, output }, { test, named }) {
  if (status === 0 && !/^Tests:.*\b\d+ passed/m.test(output)) return SKIPPED;
  if (status === 0) return `${test} passes without it`;
  const names = [...output.matchAll(/● (.*)/g)].map(([, name]) => name.replaceAll(' › ', ' '));
  if (names.some((name) => new RegExp(named).test(name)) || output.includes('secrets in the log')) return undefined;
  return `the test could not be run\n${output.slice(-2_000)}`;
}

function jest(tree, { test, named }) {
  return new Promise((resolve) => {
    const args = ['node_modules/jest/bin/jest.js', test, '--testNamePattern', named, '--bail', '--forceExit'];
    const child = spawn(process.execPath, args, { cwd: tree });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('close', (status) => resolve({ status, output }));
  });
}
