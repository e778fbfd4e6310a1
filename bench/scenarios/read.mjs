import { atLeast, atMost } from '../checks.mjs';
import { measureRounds, medianOf, subject } from '../measure.mjs';
import { spread } from '../people.mjs';
import { checkAnswers, floor, others, service } from '../readers.mjs';

/** Parse Server keeps what it has read for five seconds: in that time none of these comes again. */
const SESSIONS = 20_000;

export const title = 'Reading a user with a session';

export async function run(bench) {
  const readers = [floor, service, ...(bench.options.short ? [] : others)];
  const indexes = spread(bench.options.users, SESSIONS);
  for (const { beforeStart } of readers) await beforeStart?.(bench);
  return bench.withServers(
    readers.map((reader) => () => reader.start(bench)),
    async (...servers) => {
      for (const [place, reader] of readers.entries()) {
        await reader.prepare(bench, servers[place]);
        await checkAnswers(bench, reader, servers[place], indexes.slice(0, 5));
      }
      const [first, ...rest] = readers.map((reader, place) =>
        subject(
          bench,
          servers[place],
          reader.name,
          indexes.map((index) => reader.request(bench, index)),
          { expected: reader.expected },
        ),
      );
      const measured = await measureRounds(bench, first, rest);
      return { titles: titlesOf(readers), ...measured, checks: checks(measured, readers) };
    },
  );
}

function checks({ measurements }, readers) {
  const rate = (name) => medianOf(measurements, name, ({ ratio }) => ratio.rate);
  const cpu = medianOf(measurements, 'service', ({ ratio }) => ratio.cpu);
  const times = (name, target) =>
    readers.some((reader) => reader.name === name)
      ? [atLeast(`requests/s, times those of ${name}`, target, rate('service') / rate(name))]
      : [];
  return [
    atLeast('requests/s, ratio to the floor', 0.6, rate('service')),
    atMost('CPU with PostgreSQL, ratio to the floor', 1.9, cpu),
    ...times('better-auth', 8),
    ...times('parse-server', 10),
  ];
}

function titlesOf(readers) {
  return Object.fromEntries(readers.map(({ name, title: text }) => [name, text]));
}
