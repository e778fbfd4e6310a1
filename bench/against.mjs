// The build of an earlier commit, for --against: it runs beside today's, on the same database.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/launch/dependencies.mjs';
import { npmCi } from '../scripts/launch/npm-ci.mjs';

/** Builds a commit in .cache, unless it is there. Returns its short name and its folder. */
export async function earlierBuild(commit) {
  const name = command('git', ['rev-parse', '--short', '--verify', `${commit}^{commit}`], root, 'pipe').trim();
  const folder = join(root, '.cache', 'against', name);
  if (!existsSync(folder)) {
    const unfinished = `${folder}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true });
    command('git', ['archive', '--output', `${unfinished}.tar`, name], root);
    command('tar', ['-xf', `${unfinished}.tar`, '-C', unfinished], root);
    rmSync(`${unfinished}.tar`);
    await install(unfinished);
    command('npm', ['run', '--silent', 'build'], unfinished);
    renameSync(unfinished, folder);
  }
  return { commit: name, folder };
}

async function install(folder) {
  const lock = (of) => readFileSync(join(of, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock(root)) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  else if ((await npmCi(folder, [])) !== 0) process.exit(1);
}

function command(name, args, cwd, stdout = 'inherit') {
  const stdio = ['ignore', stdout, 'inherit'];
  const done = spawnSync(name, args, { cwd, stdio, encoding: 'utf8', shell: process.platform === 'win32' });
  if (done.status !== 0) process.exit(1);
  return done.stdout;
}
