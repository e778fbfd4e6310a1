// Every command begins here. On a Node that is too old it goes on with the one of scripts/node, which npm installs once.
// It runs on Node 18, and uses nothing but Node.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = [22, 18];
const FOLDER = join(dirname(fileURLToPath(import.meta.url)), 'node');
const BINARY = join(FOLDER, 'node_modules', '.bin', 'node');

/** Returns on a Node that is new enough. On another the process becomes one that waits for the newer one to end. */
export async function ensureNode() {
  if (isNewEnough(process.versions.node) || isTheNewer()) return;
  fetchNewer();
  await becomeParent();
}

function fetchNewer() {
  const newer = newerVersion();
  process.stderr.write(`Node ${process.versions.node} is past its end of life: going on with Node ${newer}.\n`);
  if (!isInstalled(newer)) {
    process.stderr.write(`Fetching Node ${newer} (about 60 MB, once) …\n`);
    install();
  }
  if (!isInstalled(newer))
    stop(
      `Node ${OLDEST_NODE.join('.')} or newer is needed, and Node ${newer} could not be fetched from npm's registry: ` +
        'nvm install takes the version of .nvmrc, and https://nodejs.org has all of them',
    );
}

/** Never twice, whatever it says of itself. */
function isTheNewer() {
  return existsSync(BINARY) && realpathSync(BINARY) === realpathSync(process.execPath);
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
}

function newerVersion() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8'));
  return Object.values(optionalDependencies)[0];
}

/** By running it: a package for this platform may still need another C library. */
function isInstalled(version) {
  return existsSync(BINARY) && spawnSync(BINARY, ['--version'], { encoding: 'utf8' }).stdout === `v${version}\n`;
}

/** npm compares the package with the lock file's hash. */
function install() {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  const { error } = spawnSync('npm', ['ci', ...flags], { cwd: FOLDER, stdio: ['ignore', 'ignore', 'inherit'] });
  if (error) process.stderr.write(`npm cannot be run: ${error.message}\n`);
}

/** Ends as the newer one ends. Ctrl-C reaches both of them; other signals are passed on. */
async function becomeParent() {
  const child = spawn(BINARY, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    // For the programs that it starts by name, such as npm.
    env: { ...process.env, PATH: `${dirname(BINARY)}:${process.env.PATH}` },
  });
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const [status, signal] = await new Promise((resolve) => child.on('exit', (...end) => resolve(end)));
  if (signal === null) process.exit(status);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  await new Promise(() => {});
}

/** In production as a line of the log. */
export function stop(msg) {
  const isJson = process.env.NODE_ENV === 'production';
  process.stderr.write(`${isJson ? JSON.stringify({ level: 60, time: Date.now(), msg }) : msg}\n`);
  process.exit(1);
}

/** `node scripts/node.mjs` prints what goes before PATH, so that `node` is new enough. */
if (process.argv[1] === fileURLToPath(import.meta.url) && !isNewEnough(process.versions.node)) {
  fetchNewer();
  process.stdout.write(`${dirname(BINARY)}:`);
}
