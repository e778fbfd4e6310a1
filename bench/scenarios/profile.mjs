import { readdirSync, readFileSync } from 'node:fs';
import { subject } from '../load.mjs';
import { warmUp } from '../measure.mjs';
import { readRequests } from '../people.mjs';
import { limit, service } from '../readers.mjs';

const SHOWN = 14;

export const title = 'Where the time of reading a user goes';

/** Profiles the service and the limit: their difference is the service's other work. */
export async function run(bench) {
  const figures = [];
  for (const reader of [service, limit]) {
    const shares = await profiled(bench, reader);
    bench.say(`  ${reader.name}`);
    for (const { name, values } of shares) bench.say(`  ${values[0].toFixed(1).padStart(5)} µs ${name}`);
    figures.push(...shares.map((share) => ({ ...share, name: `${reader.name}: ${share.name}` })));
  }
  return { figures, checks: [] };
}

async function profiled(bench, reader) {
  const folder = `${bench.folder}/profile-${reader.name}`;
  const seconds = 2 * bench.options.seconds;
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-interval=250'];
  const server = await reader.start(bench, { flags });
  const reads = subject(bench, server, reader.name, readRequests(bench));
  await warmUp(reads);
  const begun = microseconds();
  const { requests } = await reads.run(seconds);
  const ended = microseconds();
  await server.stop();
  // Each thread writes a file when the process ends; the main thread is number 0.
  const file = readdirSync(folder).find((name) => /\.0\.\d+\.cpuprofile$/.test(name));
  return sharesOf(JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')), [begun, ended], requests);
}

/** Reads the clock that profiles use. */
function microseconds() {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** Returns the microseconds of one request between two moments, by package. */
function sharesOf({ nodes, samples, timeDeltas, startTime }, [begun, ended], requests) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const times = new Map();
  let at = startTime;
  for (const [index, sample] of samples.entries()) {
    at += timeDeltas[index];
    const frame = frames.get(sample);
    if (at < begun || at > ended || frame.functionName === '(idle)') continue;
    const part = partOf(frame);
    times.set(part, (times.get(part) ?? 0) + timeDeltas[index]);
  }
  const sorted = [...times].sort(([, one], [, other]) => other - one);
  const sum = (some) => some.reduce((total, [, time]) => total + time, 0);
  const shown = [...sorted.slice(0, SHOWN), ['all else', sum(sorted.slice(SHOWN))]];
  const rows = [['all of it', sum(sorted)], ...shown];
  return rows.map(([name, time]) => ({ name, unit: 'µs', values: [time / requests] }));
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
