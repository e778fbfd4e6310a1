// Installs missing dependencies before a command begins. It uses nothing but Node.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInstallScripts } from './install-scripts.mjs';
import { ensureNode, stop } from './node.mjs';
import { npmCi } from './npm-ci.mjs';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** Installs the packages of the lock file, unless installed already. `dev` adds those for developers. */
export async function ensureDependencies({ dev }) {
  await ensureNode();
  await installMissing(dev);
  if (!runInstallScripts()) stop('A package could not be set up: see what npm says above, then try again.');
}

async function installMissing(dev) {
  const missing = missingPackages(dev);
  if (missing.length === 0) return;
  process.stdout.write('Installing dependencies (the first time takes a minute or two) …\n');
  const status = await npmCi(root, dev ? ['--include=dev', '--include=optional'] : ['--include=optional']);
  if (status !== 0) stop('The dependencies could not be installed: see what npm says above, then try again.');
}

/** Returns packages of the lock file that are missing, or have another version. */
function missingPackages(dev) {
  const wanted = packages(join(root, 'package-lock.json'));
  const installed = packages(join(root, 'node_modules', '.package-lock.json'));
  const ours = Object.keys(wanted['']?.optionalDependencies ?? {}).map((name) => `node_modules/${name}`);
  return Object.entries(wanted)
    .filter(([path, entry]) => path.includes('node_modules/') && (dev || !entry.dev))
    .filter(([path, entry]) => !entry.optional || ours.includes(path) || isForThisPlatform(entry))
    .filter(([path, { version }]) => installed[path]?.version !== version || !existsSync(join(root, path)))
    .map(([path]) => path);
}

/**
 * Returns whether npm is sure to install an optional package here, as the embedded database. It may never install
 * others, which depend on the C library or on a package further up.
 */
function isForThisPlatform({ os, cpu, libc }) {
  return !libc && Boolean(os?.includes(process.platform)) && Boolean(cpu?.includes(process.arch));
}

function packages(lockFile) {
  return existsSync(lockFile) ? JSON.parse(readFileSync(lockFile, 'utf8')).packages : {};
}
