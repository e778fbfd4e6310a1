import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { atMost } from '../checks.mjs';
import { Load } from '../load.mjs';
import { look, MIB, settle } from '../observed.mjs';
import { startServer } from '../processes.mjs';
import { readRequests, startObservedService } from '../service.mjs';
import { root } from '../../scripts/dependencies.mjs';

const FEW_REQUESTS = 10_000;

export const title = 'Starting, and memory';

export async function run(bench) {
  const starts = await warmStarts(bench);
  const memory = await bench.withServers([() => startObservedService(bench)], (server) => memoryOf(bench, server));
  const { requests } = bench.options;
  const figures = [
    { name: '`npm start` with data that are there, until it answers', unit: 's', values: starts },
    { name: 'memory (RSS, all garbage collected) after the start', unit: 'MiB', values: [memory.begun / MIB] },
    { name: `memory after ${FEW_REQUESTS} requests`, unit: 'MiB', values: [memory.few / MIB] },
    { name: `memory after ${requests} more`, unit: 'MiB', values: [memory.many / MIB] },
  ];
  const checks = [
    atMost('the slowest start, s', 2.5, Math.max(...starts)),
    atMost(`memory after ${requests} more, ratio to that after ${FEW_REQUESTS}`, 1.1, memory.many / memory.few),
  ];
  return { figures, checks };
}

/** As in a fresh copy of the project on a developer's machine; the first start makes the database and does not count. */
async function warmStarts(bench) {
  const DATA_DIR = join(mkdtempSync(join(bench.folder, 'start-')), 'data');
  const times = [];
  for (let start = 0; start <= bench.options.rounds; start += 1) {
    const begun = globalThis.performance.now();
    const server = await startServer({
      name: 'npm-start',
      args: ['scripts/start.mjs'],
      cwd: root,
      folder: bench.folder,
      env: { DATA_DIR, NODE_ENV: 'development' },
    });
    const seconds = (globalThis.performance.now() - begun) / 1_000;
    await server.stop();
    if (start === 0) continue;
    bench.say(`  started in ${seconds.toFixed(2)} s`);
    times.push(seconds);
  }
  return times;
}

async function memoryOf(bench, server) {
  const load = new Load(bench, { url: server.url, requests: readRequests(bench) });
  let sent = 0;
  const settledAfter = async (number) => {
    for (const until = sent + number; sent < until;) {
      const result = await load.run(bench.options.seconds);
      sent += result.requests;
    }
    await settle(server);
    const { rss } = await look(server);
    bench.say(`  ${(rss / MIB).toFixed(1)} MiB after ${sent} requests`);
    return rss;
  };
  const begun = await settledAfter(0);
  const few = await settledAfter(FEW_REQUESTS);
  return { begun, few, many: await settledAfter(bench.options.requests) };
}
