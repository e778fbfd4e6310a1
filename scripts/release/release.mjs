// npm run release -- 0.2.0 (or patch, minor, major): version, changelog, commit and annotated tag. It pushes nothing.
// With --dry-run it only shows the version and its notes. With --rehearse it makes and tries what would be published.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../launch/dependencies.mjs';
import { rehearse } from './rehearse.mjs';

const PARTS = ['major', 'minor', 'patch'];
const UNRELEASED = '## [Unreleased]';
const DRY = '--dry-run';

class Refusal extends Error {}

function release(wanted, isDry) {
  const old = json('package.json').version;
  const version = nextVersion(old, wanted);
  const tag = `v${version}`;
  if (git('status', '--porcelain') !== '') throw new Refusal('commit or remove what has changed first: git status');
  if (git('tag', '--list', tag) !== '') throw new Refusal(`there is a tag ${tag} already`);
  const { notes, changelog } = datedChangelog(version);
  if (isDry) return say(`${tag} would be made, after npm run check, with these notes:\n\n${notes}`);
  say(`Checking what is to be ${tag} …`);
  if (!npm('run', 'check')) throw new Refusal('npm run check fails: see above');
  // A check must not change tracked files.
  if (git('status', '--porcelain') !== '') throw new Refusal('npm run check has changed files: git status');

  // The client is made from the service's own document, so it has the same version.
  for (const folder of ['', 'packages/client/'].filter((name) => existsSync(join(root, name, 'package.json')))) {
    setVersion(`${folder}package.json`, (file) => Object.assign(file, { version }));
    setVersion(`${folder}package-lock.json`, (file) => {
      file.version = version;
      file.packages[''].version = version;
    });
  }
  writeFileSync(join(root, 'CHANGELOG.md'), changelog);
  // The document names the version.
  run('describe');
  git('commit', '--all', '--quiet', '--message', `Release ${version}`);
  git('tag', '--annotate', tag, '--cleanup=verbatim', '--message', `${version}\n\n${notes}\n`);
  run('collection');
  return say(`${tag} is made. To publish it: git push --follow-tags, and attach .cache/postman.json to the release`);
}

function nextVersion(old, wanted = '') {
  const numbers = old.split('.').map(Number);
  const part = PARTS.indexOf(wanted);
  if (part >= 0)
    return numbers.map((number, index) => (index < part ? number : index === part ? number + 1 : 0)).join('.');
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(wanted))
    throw new Refusal(`name a version such as 1.2.3, or one of ${PARTS.join(', ')}: npm run release -- minor`);
  const next = wanted.split('.').map(Number);
  const at = next.findIndex((number, index) => number !== numbers[index]);
  if (at < 0 || next[at] < numbers[at]) throw new Refusal(`${wanted} does not come after ${old}`);
  return wanted;
}

/** Turns the section "Unreleased" into the section of this version. */
function datedChangelog(version) {
  const old = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const start = old.indexOf(UNRELEASED);
  if (start < 0) throw new Refusal(`CHANGELOG.md has no section "${UNRELEASED}"`);
  const begin = start + UNRELEASED.length;
  const next = old.indexOf('\n## [', begin);
  const notes = old.slice(begin, next < 0 ? undefined : next).trim();
  if (notes === '') throw new Refusal('CHANGELOG.md tells nothing under "Unreleased"');
  const today = new Date().toISOString().slice(0, 10);
  const rest = next < 0 ? '' : old.slice(next);
  return { notes, changelog: `${old.slice(0, begin)}\n\n## [${version}] - ${today}\n\n${notes}\n${rest}` };
}

function setVersion(name, change) {
  const file = json(name);
  change(file);
  writeFileSync(join(root, name), `${JSON.stringify(file, null, 2)}\n`);
}

/** Runs a script, if there is one of this name. */
function run(script) {
  if (script in json('package.json').scripts && !npm('run', script)) throw new Refusal(`npm run ${script} fails`);
}

function json(name) {
  return JSON.parse(readFileSync(join(root, name), 'utf8'));
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Refusal(`git ${args[0]}: ${stderr.trim()}`);
  return stdout.trim();
}

function npm(...args) {
  const shell = process.platform === 'win32';
  return spawnSync('npm', args, { cwd: root, stdio: 'inherit', shell }).status === 0;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

try {
  const words = process.argv.slice(2);
  if (words.includes('--rehearse')) await rehearse();
  else
    release(
      words.find((word) => word !== DRY),
      words.includes(DRY),
    );
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  process.stderr.write(`No release: ${error.message}\n`);
  process.exit(1);
}
