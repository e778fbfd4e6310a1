import { subject } from '../load.mjs';
import { compare, cpuRatio, middle, p99Ratio, rateRatio, runsOf, target, warmUp } from '../measure.mjs';
import { readRequests, spread } from '../people.mjs';
import { checkAnswers, earlier, floor, limit, others, service } from '../readers.mjs';

/** Parse Server caches its reads for five seconds: in that time, no session comes again. */
const SESSIONS = 20_000;

export const title = 'Reading a user with a session';

const targets = [
  ['service', 'requests/s, ratio to the floor', 'at least', 1.2, rateRatio],
  ['service', 'CPU with PostgreSQL, ratio to the floor', 'at most', 1, cpuRatio],
  ['service', 'p99, ratio to the floor', 'at most', 1, p99Ratio],
];

export async function run(bench) {
  const { short, earlier: before } = bench.options;
  const beside = before ? [earlier(before.commit)] : short ? [] : others;
  const readers = [floor, service, limit, ...beside];
  const indexes = spread(bench.options.users, SESSIONS);
  const subjects = [];
  for (const reader of readers) {
    const server = await reader.start(bench);
    await checkAnswers(bench, reader, server, indexes.slice(0, 5));
    const requests = indexes.map((index) => reader.request(bench, index));
    subjects.push(subject(bench, server, reader.name, requests, { expected: reader.expected }));
  }
  const [first, ...rest] = subjects;
  const measured = await compare(bench, first, rest, targets);
  const rate = (name) => middle(runsOf(measured.measurements, name), rateRatio);
  measured.checks.push(target('requests/s, ratio to the limit', 'at least', 0.75, rate('service') / rate('limit')));
  measured.checks.push(target("mean scavenge, ratio to the limit's", 'at most', 1.3, await scavengeRatio(bench)));
  for (const { name, timesSlower } of others.filter((reader) => reader.timesSlower && readers.includes(reader))) {
    const times = rate('service') / rate(name);
    measured.checks.push(target(`requests/s, times those of ${name}`, 'at least', timesSlower, times));
  }
  return { titles: Object.fromEntries(readers.map((reader) => [reader.name, reader.title])), ...measured };
}

/**
 * Compares mean scavenges: a long-lived table that gets and loses an entry with each request makes them several times
 * longer.
 */
async function scavengeRatio(bench) {
  const means = [];
  for (const reader of [service, limit]) {
    const server = await reader.start(bench, { isObserved: true });
    const reads = subject(bench, server, reader.name, readRequests(bench));
    await warmUp(reads);
    await server.ask('settle');
    await reads.run(2 * bench.options.seconds);
    const { scavenges } = await server.ask('look');
    await server.stop();
    means.push(scavenges.ms / scavenges.count);
    bench.say(`  ${reader.name}: ${scavenges.count} scavenges of ${means.at(-1).toFixed(2)} ms`);
  }
  return means[0] / means[1];
}
