// Takes each guard out of a copy of the tree, one at a time, and sees its test fail. Arguments pick guards by their words.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { guards } from './guards.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const COPIED = ['src', 'test', 'migrations', 'docs', 'package.json', 'jest.config.js', 'tsconfig.json', '.env.example'];

const wanted = guards.filter(({ guard }) => process.argv.slice(2).every((word) => guard.includes(word)));
const waiting = [...wanted];
const unproved = [];
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
process.stdout.write(`${wanted.length - unproved.length} of ${wanted.length} guards are shown to matter.\n`);
process.exit(unproved.length === 0 && wanted.length > 0 ? 0 : 1);

async function work() {
  const tree = mkdtempSync(join(tmpdir(), 'accounts-guards-'));
  for (const name of COPIED) cpSync(join(root, name), join(tree, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  for (let guard = waiting.shift(); guard; guard = waiting.shift()) {
    const failure = await prove(tree, guard);
    if (failure) unproved.push(guard);
    process.stdout.write(`${failure ? 'NOT PROVED' : 'proved    '}  ${guard.guard}${failure ? `: ${failure}` : ''}\n`);
  }
  rmSync(tree, { recursive: true, force: true });
}

/** What is wrong with the proof; nothing when the test fails as it has to. `also` takes a second guard out that stands behind. */
async function prove(tree, { file, replace, by, also = [], test, named }) {
  const taken = [{ file, replace, by }, ...also].map((one) => ({ ...one, path: join(tree, one.file) }));
  const sources = taken.map(({ path }) => readFileSync(path, 'utf8'));
  for (const one of taken) {
    const source = readFileSync(one.path, 'utf8');
    if (source.split(one.replace).length !== 2) return `${one.file} does not have ${JSON.stringify(one.replace)} once`;
    writeFileSync(
      one.path,
      source.replace(one.replace, () => one.by),
    );
  }
  const { status, output } = await jest(tree, test, named);
  taken.forEach(({ path }, index) => writeFileSync(path, sources[index]));
  if (status === 0) return `the test "${named}" passes without it`;
  const itself = output.split('\n').some((line) => line.includes('●') && line.includes('›') && line.includes(named));
  if (itself || output.includes('secrets in the log')) return undefined;
  return `the test could not be run\n${output.slice(-2_000)}`;
}

function jest(tree, test, named) {
  return new Promise((resolve) => {
    const args = ['node_modules/jest/bin/jest.js', test, '--testNamePattern', named, '--bail', '--forceExit'];
    const child = spawn(process.execPath, args, { cwd: tree });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('close', (status) => resolve({ status, output }));
  });
}
