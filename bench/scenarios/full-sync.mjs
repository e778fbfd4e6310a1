import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { URL } from 'node:url';
import { createGunzip } from 'node:zlib';
import { atMost, noErrors } from '../checks.mjs';
import { measure, median, middle, subject, undisturbed, warmUp, watched } from '../measure.mjs';
import { look, MIB, settle } from '../observed.mjs';
import { person, spread } from '../people.mjs';
import { columns } from '../seed.mjs';
import { post, readRequest, startObservedService } from '../service.mjs';

/** Members in the user's groups: a few very large ones, and one of an ordinary large size. */
const GROUPS = [...Array(12).fill(20_000), 2_000];
const MEMBERS = GROUPS.reduce((sum, members) => sum + members, 0);
const READERS = 8;
const SLOW_READERS = 2;
const SLOW_BYTES_A_SECOND = 200_000;
const LIGHT_CONNECTIONS = 8;

export const title = `A full sync of ${MEMBERS} members`;

export async function run(bench) {
  bench.say(`  making groups of ${MEMBERS} members …`);
  await bench.postgres.connected('bench', (client) => seedGroups(client));
  return bench.withServers([() => startObservedService(bench)], async (server) => {
    const connections = LIGHT_CONNECTIONS;
    const light = subject(bench, server, 'light reads', lightRequests(bench), { connections });
    await warmUp(light);
    // Node keeps what memory it has once had, so all growth is from before the first of these answers.
    const { rss } = await settle(server);
    await fullSync(bench, server, { isCompressed: true });
    const thrownOut = [];
    const rounds = async (once, describe) => {
      const kept = [];
      for (let round = 0; round < bench.options.rounds; round += 1)
        kept.push(...(await undisturbed(bench, thrownOut, async () => [await once(round)], describe)));
      return kept;
    };
    const alone = await rounds((round) => syncAlone(bench, server, rss, round % 2 === 0), aloneLine);
    const crowds = await rounds(() => crowd(bench, server, rss, light), crowdLine);
    return { title, ...results(alone, crowds, thrownOut), thrownOut };
  });
}

/** The members of the largest groups are whoever is there, and more: their ids need not belong to anybody. */
async function seedGroups(client) {
  const reader = person(0).id;
  for (const [place, size] of GROUPS.entries()) {
    const group = `large-${place}`;
    const others = Array.from({ length: size - 1 }, (_, index) => person(1 + place + index).id);
    await client.query('INSERT INTO groups (id, name, creator_id) VALUES ($1, $1, $2)', [group, reader]);
    await client.query(
      `INSERT INTO group_members (group_id, member_id)
       SELECT * FROM unnest($1::text[], $2::text[]) AS one (group_id, member_id) ORDER BY member_id`,
      columns([reader, ...others].map((id) => [group, id])),
    );
  }
  await client.query('VACUUM ANALYZE');
}

/** Those of other users, so that what is read beside the large answers is small. */
function lightRequests(bench) {
  return spread(bench.options.users, 5_000).map((index) => readRequest(bench, index));
}

async function syncAlone(bench, server, rss, isCompressed) {
  await settle(server);
  const { result, foreign } = await watched(bench, server.pid, () => fullSync(bench, server, { isCompressed }));
  const { peak, loop } = await look(server);
  return { ...result, isCompressed, loop, growth: (peak - rss) / MIB, foreign, errors: 0 };
}

function aloneLine({ isCompressed, firstByteMs, seconds, ...rest }) {
  const how = isCompressed ? 'compressed' : 'plain';
  return `${how}: first byte ${firstByteMs.toFixed(0)} ms, all in ${seconds.toFixed(1)} s, ${loopAndMemory(rest)}`;
}

async function crowd(bench, server, rss, light) {
  const quiet = await measure(bench, light);
  await settle(server);
  const { result: beside, foreign } = await watched(bench, server.pid, () =>
    besideReaders(bench, server, () => light.run(bench.options.seconds)),
  );
  const { peak, loop } = beside.seen;
  const errors = quiet.errors + beside.errors;
  return { quiet, beside, loop, growth: (peak - rss) / MIB, foreign, errors };
}

function crowdLine({ quiet, beside, ...rest }) {
  const p99 = `all of one in ${beside.took.toFixed(1)} s, light reads p99 ${quiet.p99.toFixed(1)} → ${beside.p99.toFixed(1)} ms`;
  return `${READERS} at once: ${p99}, ${loopAndMemory(rest)}`;
}

function loopAndMemory({ loop, growth }) {
  return `event-loop delay p99 ${loop.p99.toFixed(1)} ms, memory +${growth.toFixed(0)} MiB`;
}

/** Eight at once, over and over; two of them on slow lines, on whom is hung up when `work` is done. */
async function besideReaders(bench, server, work) {
  const hangUp = new globalThis.AbortController();
  const slow = Array.from({ length: SLOW_READERS }, () =>
    fullSync(bench, server, { bytesASecond: SLOW_BYTES_A_SECOND, signal: hangUp.signal }),
  );
  let goesOn = true;
  const took = [];
  const fast = Array.from({ length: READERS - SLOW_READERS }, async (_, place) => {
    while (goesOn) took.push((await fullSync(bench, server, { isCompressed: place % 2 === 0 })).seconds);
  });
  await sleep(500);
  const result = await work();
  const seen = await look(server);
  goesOn = false;
  await Promise.all(fast);
  hangUp.abort();
  await Promise.allSettled(slow);
  return { ...result, seen, took: median(took) };
}

/** Reads all of it, and counts the members as the text goes by. */
async function fullSync(bench, server, { isCompressed = false, bytesASecond, signal }) {
  const { method, path, headers } = post(bench, 0, '/user/sync/0');
  const encoding = isCompressed ? 'gzip' : 'identity';
  const begun = globalThis.performance.now();
  const lines = { ...headers, 'Accept-Encoding': encoding, 'Content-Length': 0 };
  const response = await new Promise((resolve, reject) => {
    httpRequest(new URL(path, server.url), { method, headers: lines, agent: false, signal }, resolve)
      .once('error', reject)
      .end();
  });
  const firstByteMs = globalThis.performance.now() - begun;
  let members = 0;
  const text = isCompressed ? response.pipe(createGunzip()) : response;
  const due = bytesASecond === undefined ? undefined : pace(bytesASecond, begun);
  for await (const chunk of text) {
    members += occurrences(chunk);
    await due?.(chunk.length);
  }
  const isWhole = Math.abs(members - MEMBERS) < MEMBERS / 100;
  if (response.statusCode !== 200 || !isWhole) throw new Error(`full sync: ${response.statusCode}, ${members} members`);
  return { firstByteMs, seconds: (globalThis.performance.now() - begun) / 1_000 };
}

/** Good enough to see that nothing large is missing; one that two chunks share is not counted. */
function occurrences(chunk) {
  let found = 0;
  for (let at = chunk.indexOf('"memberId"'); at >= 0; at = chunk.indexOf('"memberId"', at + 1)) found += 1;
  return found;
}

function pace(bytesASecond, begun) {
  let bytes = 0;
  return async (length) => {
    bytes += length;
    await sleep(Math.max(0, begun + (bytes / bytesASecond) * 1_000 - globalThis.performance.now()));
  };
}

function results(alone, crowds, thrownOut) {
  const figure = (name, unit, runs, of) => ({ name, unit, values: runs.map(of) });
  const figures = [
    figure('alone: first byte', 'ms', alone, (one) => one.firstByteMs),
    figure('alone: all of it', 's', alone, (one) => one.seconds),
    figure('alone: event-loop delay, p99', 'ms', alone, (one) => one.loop.p99),
    figure('alone: event-loop delay, greatest', 'ms', alone, (one) => one.loop.max),
    figure('alone: growth of memory', 'MiB', alone, (one) => one.growth),
    figure(`${READERS} at once: all of one`, 's', crowds, (one) => one.beside.took),
    figure(`${READERS} at once: growth of memory`, 'MiB', crowds, (one) => one.growth),
    figure(`${READERS} at once: event-loop delay, p99`, 'ms', crowds, (one) => one.loop.p99),
    figure('p99 of light reads, quiet', 'ms', crowds, (one) => one.quiet.p99),
    figure(`p99 of light reads beside the ${READERS}`, 'ms', crowds, (one) => one.beside.p99),
  ];
  const checks = [
    atMost(
      'first byte, ms',
      100,
      middle(alone, (one) => one.firstByteMs),
    ),
    atMost(
      'event-loop delay p99, ms',
      30,
      middle(alone, (one) => one.loop.p99),
    ),
    atMost(
      'growth of memory, MiB',
      120,
      middle(alone, (one) => one.growth),
    ),
    atMost(
      `${READERS} at once: growth of memory, MiB`,
      120,
      middle(crowds, (one) => one.growth),
    ),
    atMost(
      `p99 of light reads beside the ${READERS}, ratio to quiet`,
      2.5,
      middle(crowds, ({ quiet, beside }) => beside.p99 / quiet.p99),
    ),
    noErrors([...crowds, ...thrownOut]),
  ];
  return { figures, checks };
}
