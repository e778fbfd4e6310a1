import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { watched } from '../cpu.mjs';
import { subject } from '../load.mjs';
import { joined, measure, median, tabulate, warmUp } from '../measure.mjs';
import { person, post, readRequests, SQL } from '../people.mjs';
import { startService } from '../processes.mjs';

/** Members in each of the user's groups: twelve very large groups, and one of an ordinary large size. */
const GROUPS = [...Array(12).fill(20_000), 2_000];
const MEMBERS = GROUPS.reduce((sum, members) => sum + members, 0);
const MEMBER = '"memberId"';
const READERS = 8;
const SLOW_READERS = 2;
/** The first of the users who are in all groups. The service sends one user at most two large answers at once. */
const IN_ALL_GROUPS = 20;
const SLOW_BYTES_A_MS = 200;
const LIGHT_CONNECTIONS = 8;
const MIB = 1_024 ** 2;

export const title = `A full sync of ${MEMBERS} members`;

export async function run(bench) {
  bench.say(`  making groups of ${MEMBERS} members …`);
  await bench.postgres.fill('bench', GROUPS.flatMap(largeGroup));
  const server = await startService(bench, { isObserved: true });
  const light = subject(bench, server, 'light reads', readRequests(bench), { connections: LIGHT_CONNECTIONS });
  await warmUp(light);
  // Node keeps memory that it once had, so growth is measured from before the first of these answers.
  const { rss } = await server.ask('settle');
  await fullSync(bench, server, { isCompressed: true });
  return joined([
    await single(bench, server, rss, 'compressed'),
    await single(bench, server, rss, 'plain'),
    await crowd(bench, server, rss, light),
  ]);
}

/** The largest groups contain the seeded users, and ids that belong to nobody, which the table accepts. */
function largeGroup(size, place) {
  const group = `large-${place}`;
  const member = SQL.id(`CASE n WHEN 0 THEN 0 ELSE n + ${place} END`);
  return [
    `INSERT INTO groups (id, name, creator_id) VALUES ('${group}', '${group}', '${person(0).id}')`,
    `INSERT INTO group_members (group_id, member_id) SELECT '${group}', ${member} FROM generate_series(0, ${size - 1}) AS n`,
  ];
}

async function single(bench, server, rss, kind) {
  const once = async () => {
    const isCompressed = kind === 'compressed';
    await server.ask('settle');
    const { result, foreign } = await watched(bench, [server.pid], () => fullSync(bench, server, { isCompressed }));
    const { peak, loop } = await server.ask('look');
    return { ...result, isCompressed, loop, growth: (peak - rss) / MIB, foreign };
  };
  const rows = [
    [`one at a time, ${kind}: first byte`, 'ms', (one) => one.firstByteMs],
    [`one at a time, ${kind}: all of it`, 's', (one) => one.seconds],
    [`one at a time, ${kind}: event-loop delay, p99`, 'ms', (one) => one.loop.p99],
    [`one at a time, ${kind}: event-loop delay, greatest`, 'ms', (one) => one.loop.max],
    [`one at a time, ${kind}: growth of memory`, 'MiB', (one) => one.growth],
  ];
  const targets = [
    [`one at a time, ${kind}: first byte, ms`, 'at most', 100, (one) => one.firstByteMs],
    [`one at a time, ${kind}: event-loop delay p99, ms`, 'at most', 30, (one) => one.loop.p99],
    [`one at a time, ${kind}: growth of memory, MiB`, 'at most', 120, (one) => one.growth],
  ];
  return tabulate(bench, once, rows, targets);
}

async function crowd(bench, server, rss, light) {
  const once = async () => {
    const quiet = await measure(bench, light);
    await server.ask('settle');
    const { result: crowded, foreign } = await watched(bench, [server.pid], () => besideReaders(bench, server, light));
    const { peak, loop } = crowded.seen;
    return { quiet, crowded, loop, growth: (peak - rss) / MIB, foreign, beside: [quiet] };
  };
  const rows = [
    [`${READERS} at once: all of one`, 's', ({ crowded }) => crowded.took],
    [`${READERS} at once: growth of memory`, 'MiB', (one) => one.growth],
    [`${READERS} at once: event-loop delay, p99`, 'ms', (one) => one.loop.p99],
    ['p99 of light reads, quiet', 'ms', ({ quiet }) => quiet.p99],
    [`p99 of light reads beside the ${READERS}`, 'ms', ({ crowded }) => crowded.p99],
  ];
  const ratio = ({ quiet, crowded }) => crowded.p99 / quiet.p99;
  const targets = [
    [`${READERS} at once: growth of memory, MiB`, 'at most', 120, (one) => one.growth],
    [`${READERS} at once: p99 of light reads, ratio to quiet`, 'at most', 2, ratio],
  ];
  return tabulate(bench, once, rows, targets);
}

/** Runs syncs of eight users at once, over and over. Two of them read slowly, and are disconnected at the end. */
async function besideReaders(bench, server, light) {
  const hangUp = new globalThis.AbortController();
  const slowly = { isSlow: true, signal: hangUp.signal };
  const slow = Array.from({ length: SLOW_READERS }, (_, place) =>
    fullSync(bench, server, { ...slowly, user: IN_ALL_GROUPS + place }),
  );
  let goesOn = true;
  const took = [];
  const fast = Array.from({ length: READERS - SLOW_READERS }, async (_, place) => {
    const user = IN_ALL_GROUPS + SLOW_READERS + place;
    while (goesOn) took.push((await fullSync(bench, server, { isCompressed: place % 2 === 0, user })).seconds);
  });
  await sleep(500);
  const result = await light.run(bench.options.seconds);
  const seen = await server.ask('look');
  goesOn = false;
  await Promise.all(fast);
  hangUp.abort();
  await Promise.allSettled(slow);
  return { ...result, seen, took: median(took) };
}

async function fullSync(bench, { url }, { isCompressed = false, isSlow = false, signal, user = 0 }) {
  const { method, path, headers } = post(bench, user, '/user/sync/0');
  const lines = { ...headers, 'Accept-Encoding': isCompressed ? 'gzip' : 'identity' };
  const begun = performance.now();
  const { status, body } = await globalThis.fetch(`${url}${path}`, { method, headers: lines, signal });
  const firstByteMs = performance.now() - begun;
  let [members, rest] = [0, ''];
  for await (const chunk of body) {
    // A chunk may end in the middle of the text that is counted.
    const parts = (rest + Buffer.from(chunk).toString('latin1')).split(MEMBER);
    members += parts.length - 1;
    rest = parts.at(-1).slice(1 - MEMBER.length);
    if (isSlow) await sleep(chunk.length / SLOW_BYTES_A_MS);
  }
  if (status !== 200 || members < MEMBERS) throw new Error(`full sync: ${status}, ${members} members`);
  return { firstByteMs, seconds: (performance.now() - begun) / 1_000 };
}
