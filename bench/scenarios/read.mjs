import { subject } from '../load.mjs';
import { compare, cpuRatio, middle, p99Ratio, rateRatio, runsOf, target } from '../measure.mjs';
import { spread } from '../people.mjs';
import { checkAnswers, floor, limit, others, service } from '../readers.mjs';

/** Parse Server keeps what it has read for five seconds: in that time none of these comes again. */
const SESSIONS = 20_000;

export const title = 'Reading a user with a session';

const targets = [
  ['service', 'requests/s, ratio to the floor', 'at least', 1.2, rateRatio],
  ['service', 'CPU with PostgreSQL, ratio to the floor', 'at most', 1, cpuRatio],
  ['service', 'p99, ratio to the floor', 'at most', 1, p99Ratio],
];

export async function run(bench) {
  const readers = [floor, service, limit, ...(bench.options.short ? [] : others)];
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
  for (const { name, timesSlower } of others.filter((reader) => reader.timesSlower && readers.includes(reader))) {
    const times = rate('service') / rate(name);
    measured.checks.push(target(`requests/s, times those of ${name}`, 'at least', timesSlower, times));
  }
  return { titles: Object.fromEntries(readers.map((reader) => [reader.name, reader.title])), ...measured };
}
