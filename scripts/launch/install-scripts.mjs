// npm does not run install scripts of packages here (.npmrc), in any version. The few that are needed are run by name:
// those of package.json's allowScripts. Run `node scripts/launch/install-scripts.mjs` after an npm ci by hand.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(import.meta.url);
const root = join(dirname(file), '../..');
/** Record of packages whose scripts have run, with their versions. npm ci removes it together with them. */
const RECORD = join(root, 'node_modules', '.install-scripts.json');

/** Returns allowed packages whose scripts have not run since they were installed. */
export function dueInstallScripts() {
  const done = existsSync(RECORD) ? json(RECORD) : {};
  return Object.entries(installed()).filter(([name, version]) => done[name] !== version);
}

/** Runs due scripts. Returns false if one fails; npm prints why. */
export function runInstallScripts() {
  const names = dueInstallScripts().map(([name]) => name);
  if (names.length === 0) return true;
  const { status } = spawnSync('npm', ['rebuild', '--ignore-scripts=false', '--loglevel=error', ...names], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status === 0) writeFileSync(RECORD, `${JSON.stringify(installed())}\n`);
  return status === 0;
}

/** Returns the allowed packages that are installed, with their versions. */
function installed() {
  const { allowScripts } = json(join(root, 'package.json'));
  const names = Object.keys(allowScripts).filter((name) => allowScripts[name] === true);
  const files = names.map((name) => [name, join(root, 'node_modules', name, 'package.json')]);
  return Object.fromEntries(
    files.filter(([, path]) => existsSync(path)).map(([name, path]) => [name, json(path).version]),
  );
}

function json(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

if (process.argv[1] === file && !runInstallScripts()) process.exit(1);
