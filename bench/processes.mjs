import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const canMeasureCpu = process.platform === 'linux';

const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 15_000;
const TICKS_A_SECOND = 100;

/**
 * Starts a server in a process of its own, with this environment and no other, and waits until it answers. What it prints
 * goes to a file.
 */
export async function startServer({ name, args, env, folder, cwd = folder, readyPath = '/readyz' }) {
  const port = await freePort();
  const log = join(folder, `${name}-${port}.log`);
  const output = openSync(log, 'a');
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH, HOME, NODE_ENV: 'production', PORT: String(port), ...env },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const stop = () => stopChild(child, exited);
  const url = `http://127.0.0.1:${port}`;
  try {
    await ready(`${url}${readyPath}`, child);
  } catch (error) {
    await stop();
    throw new Error(`${name} does not start: ${readFileSync(log, 'utf8').slice(-2_000)}`, { cause: error });
  }
  return { name, url, pid: child.pid, stop };
}

async function ready(url, child) {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const status = await globalThis.fetch(url, { method: 'GET' }).then(
      async (response) => (await response.arrayBuffer(), response.status),
      () => undefined,
    );
    // Servers that know no such path say so, which is as good.
    if (status !== undefined && status !== 503) return;
    await sleep(10);
  }
  throw new Error(child.exitCode === null ? 'it does not answer' : 'it has ended');
}

async function stopChild(child, exited) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const patience = new globalThis.AbortController();
  const late = sleep(STOP_WITHIN_MS, 'late', { signal: patience.signal }).catch(() => undefined);
  if ((await Promise.race([exited, late])) === 'late') child.kill('SIGKILL');
  patience.abort();
  await exited;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/**
 * CPU seconds that a process, its threads and its children have used, with those that have ended and been waited for.
 * Undefined where the system does not tell.
 */
export function cpuOfTree(pid) {
  if (!canMeasureCpu) return undefined;
  const children = new Map();
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = statOf(entry);
    if (stat) children.set(stat.parent, [...(children.get(stat.parent) ?? []), Number(entry)]);
  }
  const sum = (one) => (children.get(one) ?? []).reduce((cpu, child) => cpu + sum(child), statOf(one)?.cpu ?? 0);
  return sum(pid);
}

/** CPU seconds of this process, and of the children that it has waited for: the load generator. */
export function ownCpu() {
  return canMeasureCpu ? statOf(process.pid).cpu : undefined;
}

/** CPU seconds that all processors have been busy, or were kept from us by the machine that ours is a guest of. */
export function machineBusy() {
  if (!canMeasureCpu) return undefined;
  const [first] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user, nice, system, , , irq, softirq, steal] = first.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq + steal) / TICKS_A_SECOND;
}

function statOf(pid) {
  let text;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name stands in brackets and may itself hold some.
  const [, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    parent: Number(parent),
    cpu: rest.slice(9, 13).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND,
  };
}
