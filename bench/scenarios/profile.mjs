import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { subject, warmUp } from '../measure.mjs';
import { readRequests, startService } from '../service.mjs';

const SHOWN = 14;

export const title = 'Where the time of reading a user goes';

/** By what Node's own profiler has seen on the main thread, without the start and the warming up. */
export async function run(bench) {
  const folder = bench.temporaryFolder('accounts-bench-profile-');
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-interval=250'];
  await bench.withServers([() => startService(bench, { flags })], async (server) => {
    const requests = readRequests(bench);
    const reads = subject(bench, server, 'reads', requests);
    await warmUp(reads);
    await reads.run(2 * bench.options.seconds);
  });
  const shares = sharesOf(mainThread(folder), 2 * bench.options.seconds);
  for (const { name, values } of shares) bench.say(`  ${values[0].toFixed(1).padStart(5)} % ${name}`);
  return { figures: shares, checks: [] };
}

/** Each thread writes a file, when the process ends; the main thread is number 0. */
function mainThread(folder) {
  const file = readdirSync(folder).find((name) => /\.0\.\d+\.cpuprofile$/.test(name));
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}

/** Of the last seconds in which it was busy, by package. */
function sharesOf({ nodes, samples, timeDeltas }, seconds) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map();
  let left = seconds * 1_000_000;
  for (let index = samples.length - 1; index >= 0 && left > 0; index -= 1) {
    const frame = frames.get(samples[index]);
    if (frame.functionName === '(idle)') continue;
    const part = partOf(frame);
    times.set(part, (times.get(part) ?? 0) + timeDeltas[index]);
    left -= timeDeltas[index];
  }
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  const sorted = [...times].sort(([, one], [, other]) => other - one);
  const share = (name, time) => ({ name, unit: '%', values: [(100 * time) / total] });
  const rest = sorted.slice(SHOWN).reduce((sum, [, time]) => sum + time, 0);
  return [...sorted.slice(0, SHOWN).map(([name, time]) => share(name, time)), share('all else', rest)];
}

function partOf({ functionName, url }) {
  const [, dependency] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (dependency) return dependency;
  if (url.includes('/dist/src/')) return 'this service itself';
  if (/^node:_http|^node:internal\/http/.test(url)) return "Node's HTTP";
  if (/^node:(net|buffer|internal\/(streams|stream_base))/.test(url)) return "Node's streams and buffers";
  if (url.startsWith('node:')) return 'Node, all else';
  if (functionName === '(garbage collector)') return 'collecting garbage';
  return functionName.startsWith('write') ? 'writing to sockets, to clients and PostgreSQL' : 'native code, all else';
}
