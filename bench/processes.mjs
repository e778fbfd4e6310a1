import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../scripts/launch/dependencies.mjs';

const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 15_000;
const OBSERVED = ['--expose-gc', '--import', `${root}/bench/observe.mjs`];
const serviceIn = (folder) => `${folder}/dist/src/server.js`;

/** Variables of the run that turn traces on, so that their cost can be measured. */
const TRACES = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_')));

/**
 * Starts the compiled service, by default today's. `flags` are Node's own; `env` comes on top of the variables that
 * production requires.
 */
export function startService(bench, { folder = root, database = 'bench', env, flags = [], isObserved } = {}) {
  const { postgres } = bench;
  const addresses = { DATABASE_URL: postgres.serviceUrl(database), DATABASE_MIGRATION_URL: postgres.url(database) };
  const all = { ...productionEnv(bench), ...addresses, ...TRACES, ...env };
  return startServer(bench, { name: 'service', args: [...flags, serviceIn(folder)], env: all, isObserved });
}

/** Returns the builds of the service that a scenario compares, each with an ending for the names of its figures. */
export function builds({ options: { earlier } }) {
  const today = { folder: root, ending: '' };
  return earlier ? [today, { folder: earlier.folder, ending: ` at ${earlier.commit}` }] : [today];
}

export function startOwn(bench, name, { database = 'bench', env, args = [], flags = [], isObserved } = {}) {
  const all = { DATABASE_URL: bench.postgres.url(database), SESSION_SECRET: bench.secret, ...env };
  const file = `${root}/bench/servers/${name}.mjs`;
  return startServer(bench, { name, args: [...flags, file, ...args], env: all, isObserved });
}

/** Starts a process with this environment and no other. An observed one answers with the figures of observe.mjs. */
export async function startServer(bench, { name, args, env, cwd = bench.folder, isObserved = false }) {
  const port = await freePort();
  const log = `${bench.folder}/${name}-${port}.log`;
  const output = openSync(log, 'a');
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [...(isObserved ? OBSERVED : []), ...args], {
    cwd,
    env: { PATH, HOME, NODE_ENV: 'production', PORT: String(port), ...env },
    stdio: ['ignore', output, output, isObserved ? 'ipc' : 'ignore'],
  });
  closeSync(output);
  const url = `http://127.0.0.1:${port}`;
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await exited;
    clearTimeout(impatience);
  };
  const ask = async (wish) => {
    child.send(wish);
    return (await once(child, 'message'))[0];
  };
  const server = { name, url, pid: child.pid, stop, ask };
  bench.servers.push(server);
  if (await isReady(`${url}/readyz`, child)) return server;
  throw new Error(`${name} does not start: ${readFileSync(log, 'utf8').slice(-2_000)}`);
}

/** A server without this path answers 404, which is as good. */
async function isReady(url, child) {
  for (const until = Date.now() + READY_WITHIN_MS; Date.now() < until && child.exitCode === null; await sleep(10)) {
    const response = await globalThis.fetch(url).catch(() => undefined);
    await response?.arrayBuffer();
    if (response && response.status !== 503) return true;
  }
  return false;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

function productionEnv(bench) {
  const { generateSigningKey } = createRequire(serviceIn(root))('./integrations/messaging/signing-key');
  return {
    DATA_DIR: `${bench.folder}/service-data`,
    SESSION_SECRETS: bench.secret,
    SMS_PROVIDER: 'twilio',
    TWILIO_ACCOUNT_SID: 'AC00000000000000000000000000000000',
    TWILIO_AUTH_TOKEN: 'unused'.repeat(6),
    TWILIO_FROM: '+447400000000',
    MESSAGING_JWT_KEY: generateSigningKey(),
    STORAGE_PROVIDER: 'local',
    PUBLIC_URL: 'https://accounts.example.com',
    TRUST_PROXY: '1',
    SEND_CODE_PER_DAY: '0',
    METRICS_PORT: '0',
  };
}
