import { performance } from 'node:perf_hooks';
import { root } from '../../scripts/launch/dependencies.mjs';
import { subject } from '../load.mjs';
import { target } from '../measure.mjs';
import { readRequests } from '../people.mjs';
import { startServer, startService } from '../processes.mjs';

const FEW_REQUESTS = 10_000;

export const title = 'Starting, and memory';

export async function run(bench) {
  const starts = await warmStarts(bench);
  const [begun, few, many] = await memory(bench, [0, FEW_REQUESTS, bench.options.requests]);
  const more = `memory after ${bench.options.requests} more`;
  const figures = [
    { name: '`npm start` with existing data, until it answers', unit: 's', values: starts },
    { name: 'memory (RSS, all garbage collected) after the start', unit: 'MiB', values: [begun] },
    { name: `memory after ${FEW_REQUESTS} requests`, unit: 'MiB', values: [few] },
    { name: more, unit: 'MiB', values: [many] },
  ];
  const checks = [
    target('the slowest start, s', 'at most', 2.5, Math.max(...starts)),
    target(`${more}, ratio to that after ${FEW_REQUESTS}`, 'at most', 1.1, many / few),
  ];
  return { figures, checks };
}

/** Starts it as in a fresh clone on a developer's machine. The first start makes the database, and does not count. */
async function warmStarts(bench) {
  const env = { DATA_DIR: `${bench.folder}/start`, NODE_ENV: 'development' };
  const times = [];
  for (let start = 0; start <= bench.options.rounds; start += 1) {
    const begun = performance.now();
    const server = await startServer(bench, {
      name: 'npm-start',
      args: ['scripts/launch/run.mjs', 'src/server.ts'],
      cwd: root,
      env,
    });
    const seconds = (performance.now() - begun) / 1_000;
    await server.stop();
    if (start === 0) continue;
    bench.say(`  started in ${seconds.toFixed(2)} s`);
    times.push(seconds);
  }
  return times;
}

/** Returns the memory in MiB, each time after `counts` more requests. */
async function memory(bench, counts) {
  const server = await startService(bench, { isObserved: true });
  const reads = subject(bench, server, 'reads', readRequests(bench));
  const sizes = [];
  let sent = 0;
  for (const count of counts) {
    for (const until = sent + count; sent < until;) sent += (await reads.run(bench.options.seconds)).requests;
    const { rss } = await server.ask('settle');
    sizes.push(rss / 1_024 ** 2);
    bench.say(`  ${sizes.at(-1).toFixed(1)} MiB after ${sent} requests`);
  }
  return sizes;
}
