// Makes the package of the service: what a clone compiles, without sources and tests.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../launch/dependencies.mjs';

/** Packages of this repository whose compiled code is in dist. */
const INSIDE = ['packages/embedded-database', 'packages/image-server'];
/** Packages that a setting needs, and that are not installed by themselves: qiniu brings 43 packages with 70 MB. */
const ON_REQUEST = ['qiniu'];
const COMMAND = 'scripts/operate/command.mjs';
const COPIED = ['README.md', 'CHANGELOG.md', 'LICENSE', COMMAND];
/** Files that the compiled code looks for beside itself. */
const BESIDE_CODE = ['.env.example', 'deploy/backup.sh'];

/** Makes the package in `folder`, from dist, and returns the path of its tarball there. */
export function packService(folder) {
  const content = join(folder, 'content');
  rmSync(content, { recursive: true, force: true });
  mkdirSync(content, { recursive: true });
  cpSync(join(root, 'dist'), join(content, 'dist'), { recursive: true });
  for (const path of COPIED) copy(path, join(content, path));
  for (const path of BESIDE_CODE) copy(path, join(content, 'dist', path));
  writeFileSync(join(content, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  const [{ filename }] = JSON.parse(npm(content, 'pack', '--json', '--pack-destination', folder));
  rmSync(content, { recursive: true });
  return join(folder, filename);
}

function manifest() {
  const { name, version, description, license, engines, dependencies } = json('package.json');
  const all = Object.assign({}, ...INSIDE.map((path) => json(join(path, 'package.json')).dependencies), dependencies);
  const { packages } = json('package-lock.json');
  // Exact versions, as tested. An npm-shrinkwrap.json would hold the packages of these too, but then npm installs the
  // binaries of all platforms, 1.1 GB in place of 0.2.
  const exact = Object.keys(all).map((one) => [one, packages[`node_modules/${one}`].version]);
  return {
    name,
    version,
    description,
    license,
    engines,
    bin: { [name.split('/').pop()]: COMMAND },
    dependencies: Object.fromEntries(exact.filter(([one]) => !ON_REQUEST.includes(one))),
    peerDependencies: Object.fromEntries(ON_REQUEST.map((one) => [one, all[one]])),
    peerDependenciesMeta: Object.fromEntries(ON_REQUEST.map((one) => [one, { optional: true }])),
  };
}

function copy(path, to) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(join(root, path), to);
}

function json(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

function npm(cwd, ...args) {
  const options = { cwd, encoding: 'utf8', shell: process.platform === 'win32', stdio: ['ignore', 'pipe', 'inherit'] };
  const { status, stdout } = spawnSync('npm', args, options);
  if (status !== 0) throw new Error(`npm ${args[0]} fails in ${cwd}`);
  return stdout;
}
