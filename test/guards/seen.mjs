// Forms of guards whose tests were seen to fail: on this machine, in .cache/guards.json, and on the base of a branch.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formOf } from './form.mjs';
import { guardsOf } from './read.mjs';

export function seenForms(root) {
  const path = join(root, '.cache', 'guards.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
}

export function addSeen(root, form) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  writeFileSync(join(root, '.cache', 'guards.json'), JSON.stringify([...new Set([...seenForms(root), form])], null, 1));
}

/** Returns the forms of a commit's guards. Default: where this branch left origin/main, or the last commit. */
export function formsAt(root, ref = mergeBase(root)) {
  const folder = mkdtempSync(join(tmpdir(), 'accounts-base-'));
  const tree = join(folder, 'tree');
  try {
    git(root, 'worktree', 'add', '--detach', tree, ref);
    return guardsOf(tree).map((guard) => formOf(tree, guard));
  } finally {
    rmSync(folder, { recursive: true, force: true });
    git(root, 'worktree', 'prune');
  }
}

function mergeBase(root) {
  try {
    const base = git(root, 'merge-base', 'HEAD', 'origin/main').trim();
    // An older base has its guards in tables. They moved to their tests as they were.
    git(root, 'cat-file', '-e', `${base}:test/guards/read.mjs`);
    return base;
  } catch {
    return 'HEAD';
  }
}

function git(root, ...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}
