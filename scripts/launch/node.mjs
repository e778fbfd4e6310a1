// Every command begins here. On a Node that is too old, it continues with the Node of scripts/node, which npm installs
// once. This file runs on Node 18, and uses nothing but Node.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmCi } from './npm-ci.mjs';

const OLDEST_NODE = [22, 18];
const FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../node');
const BINARY = join(FOLDER, 'node_modules', '.bin', 'node');

/** Returns if this Node is new enough. Otherwise it never returns: a newer Node runs the command, and this one waits. */
export async function ensureNode() {
  if (isNewEnough(process.versions.node)) return;
  await fetchNewer();
  await becomeParent();
}

async function fetchNewer() {
  const newer = newerVersion();
  if (isInstalled(newer)) return;
  process.stderr.write(
    `Node ${process.versions.node} is past its end of life. Fetching Node ${newer} (about 60 MB, once) …\n`,
  );
  await npmCi(FOLDER, ['--no-update-notifier'], 'ignore');
  if (isInstalled(newer)) return;
  stop(
    `Node ${OLDEST_NODE.join('.')} or newer is needed, and Node ${newer} could not be fetched from npm's registry: ` +
      'nvm install takes the version of .nvmrc, and https://nodejs.org has all of them',
  );
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
}

function newerVersion() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8'));
  return Object.values(optionalDependencies)[0];
}

/** Runs it to be sure: a package for this platform may still need another C library. */
function isInstalled(version) {
  return existsSync(BINARY) && spawnSync(BINARY, ['--version'], { encoding: 'utf8' }).stdout === `v${version}\n`;
}

/** Exits with the status of the newer Node. Ctrl-C reaches both processes; other signals are passed on. */
async function becomeParent() {
  const child = spawn(BINARY, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    // For programs that it starts by name, such as npm.
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

/** Prints the message, in production as a log line, and exits. */
export function stop(msg) {
  const isJson = process.env.NODE_ENV === 'production';
  process.stderr.write(`${isJson ? JSON.stringify({ level: 60, time: Date.now(), msg }) : msg}\n`);
  process.exit(1);
}

/** `node scripts/launch/node.mjs` prints what goes before PATH, so that `node` is new enough. */
if (process.argv[1] === fileURLToPath(import.meta.url) && !isNewEnough(process.versions.node)) {
  await fetchNewer();
  process.stdout.write(`${dirname(BINARY)}:`);
}
