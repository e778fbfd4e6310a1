import { readdirSync, readFileSync } from 'node:fs';
import { subject } from '../load.mjs';
import { warmUp } from '../measure.mjs';
import { readRequests } from '../people.mjs';
import { startService } from '../processes.mjs';

const SHOWN = 14;

export const title = 'Where the time of reading a user goes';

export async function run(bench) {
  const folder = `${bench.folder}/profile`;
  const seconds = 2 * bench.options.seconds;
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-interval=250'];
  const server = await startService(bench, { flags });
  const reads = subject(bench, server, 'reads', readRequests(bench));
  await warmUp(reads);
  await reads.run(seconds);
  await server.stop();
  // Each thread writes a file, when the process ends; the main thread is number 0.
  const file = readdirSync(folder).find((name) => /\.0\.\d+\.cpuprofile$/.test(name));
  const figures = sharesOf(JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')), seconds);
  for (const { name, values } of figures) bench.say(`  ${values[0].toFixed(1).padStart(5)} % ${name}`);
  return { figures, checks: [] };
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
  const sorted = [...times].sort(([, one], [, other]) => other - one);
  const sum = (some) => some.reduce((total, [, time]) => total + time, 0);
  const shown = [...sorted.slice(0, SHOWN), ['all else', sum(sorted.slice(SHOWN))]];
  return shown.map(([name, time]) => ({ name, unit: '%', values: [(100 * time) / sum(sorted)] }));
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
