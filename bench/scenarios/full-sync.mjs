import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { URL } from 'node:url';
import { createGunzip } from 'node:zlib';
import { figuresOf, mostOf } from '../checks.mjs';
import { measure, median, repeated, subject, warmUp, watched } from '../measure.mjs';
import { look, MIB, settle } from '../observed.mjs';
import { person, SQL } from '../people.mjs';
import { post, readRequests, startObservedService } from '../service.mjs';

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
    const light = subject(bench, server, 'light reads', readRequests(bench), { connections });
    await warmUp(light);
    // Node keeps what memory it has once had, so all growth is from before the first of these answers.
    const { rss } = await settle(server);
    await fullSync(bench, server, { isCompressed: true });
    const thrownOut = [];
    const alone = (isCompressed) =>
      repeated(bench, thrownOut, () => syncAlone(bench, server, rss, isCompressed), aloneLine);
    const [compressed, plain] = [await alone(true), await alone(false)];
    const crowds = await repeated(bench, thrownOut, () => crowd(bench, server, rss, light), crowdLine);
    return { ...results({ compressed, plain }, crowds), thrownOut };
  });
}

/** The members of the largest groups are whoever is there, and more: their ids need not belong to anybody. */
async function seedGroups(client) {
  for (const [place, size] of GROUPS.entries()) {
    const group = `large-${place}`;
    await client.query('INSERT INTO groups (id, name, creator_id) VALUES ($1, $1, $2)', [group, person(0).id]);
    await client.query(
      `INSERT INTO group_members (group_id, member_id)
       SELECT $1, ${SQL.id(`CASE n WHEN 0 THEN 0 ELSE n + ${place} END`)} FROM generate_series(0, ${size - 1}) AS n`,
      [group],
    );
  }
  await client.query('VACUUM ANALYZE');
}

async function syncAlone(bench, server, rss, isCompressed) {
  await settle(server);
  const { result, foreign } = await watched(bench, server.pid, () => fullSync(bench, server, { isCompressed }));
  const { peak, loop } = await look(server);
  return { ...result, isCompressed, loop, growth: (peak - rss) / MIB, foreign };
}

function aloneLine({ isCompressed, firstByteMs, seconds, ...rest }) {
  const how = isCompressed ? 'compressed' : 'plain';
  return `${how}: first byte ${firstByteMs.toFixed(0)} ms, all in ${seconds.toFixed(1)} s, ${loopAndMemory(rest)}`;
}

async function crowd(bench, server, rss, light) {
  const quiet = await measure(bench, light);
  await settle(server);
  const { result: crowded, foreign } = await watched(bench, server.pid, () =>
    besideReaders(bench, server, () => light.run(bench.options.seconds)),
  );
  const { peak, loop } = crowded.seen;
  return { quiet, crowded, loop, growth: (peak - rss) / MIB, foreign, beside: [quiet] };
}

function crowdLine({ quiet, crowded, ...rest }) {
  const p99 = `all of one in ${crowded.took.toFixed(1)} s, light reads p99 ${quiet.p99.toFixed(1)} → ${crowded.p99.toFixed(1)} ms`;
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
  const count = counter('"memberId"');
  const text = isCompressed ? response.pipe(createGunzip()) : response;
  const due = bytesASecond === undefined ? undefined : pace(bytesASecond, begun);
  for await (const chunk of text) {
    count(chunk);
    await due?.(chunk.length);
  }
  const { statusCode } = response;
  if (statusCode !== 200 || count() < MEMBERS) throw new Error(`full sync: ${statusCode}, ${count()} members`);
  return { firstByteMs, seconds: (globalThis.performance.now() - begun) / 1_000 };
}

/** Counts a text in chunks that may break it in two; without a chunk, tells how often it was there. */
function counter(text) {
  let found = 0;
  let rest = '';
  return (chunk = '') => {
    const parts = (rest + chunk.toString('latin1')).split(text);
    found += parts.length - 1;
    rest = parts.at(-1).slice(1 - text.length);
    return found;
  };
}

function pace(bytesASecond, begun) {
  let bytes = 0;
  return async (length) => {
    bytes += length;
    await sleep(Math.max(0, begun + (bytes / bytesASecond) * 1_000 - globalThis.performance.now()));
  };
}

function results(alone, crowds) {
  const kinds = Object.entries(alone).filter(([, runs]) => runs.length > 0);
  const figures = kinds.flatMap(([kind, runs]) =>
    figuresOf(runs, [
      [`alone, ${kind}: first byte`, 'ms', (one) => one.firstByteMs],
      [`alone, ${kind}: all of it`, 's', (one) => one.seconds],
      [`alone, ${kind}: event-loop delay, p99`, 'ms', (one) => one.loop.p99],
      [`alone, ${kind}: event-loop delay, greatest`, 'ms', (one) => one.loop.max],
      [`alone, ${kind}: growth of memory`, 'MiB', (one) => one.growth],
    ]),
  );
  const checks = kinds.flatMap(([kind, runs]) =>
    mostOf(runs, [
      [`alone, ${kind}: first byte, ms`, 100, (one) => one.firstByteMs],
      [`alone, ${kind}: event-loop delay p99, ms`, 30, (one) => one.loop.p99],
      [`alone, ${kind}: growth of memory, MiB`, 120, (one) => one.growth],
    ]),
  );
  const together = `${READERS} at once`;
  figures.push(
    ...figuresOf(crowds, [
      [`${together}: all of one`, 's', ({ crowded }) => crowded.took],
      [`${together}: growth of memory`, 'MiB', (one) => one.growth],
      [`${together}: event-loop delay, p99`, 'ms', (one) => one.loop.p99],
      ['p99 of light reads, quiet', 'ms', ({ quiet }) => quiet.p99],
      [`p99 of light reads beside the ${READERS}`, 'ms', ({ crowded }) => crowded.p99],
    ]),
  );
  checks.push(
    ...mostOf(crowds, [
      [`${together}: growth of memory, MiB`, 120, (one) => one.growth],
      [`${together}: p99 of light reads, ratio to quiet`, 2.5, ({ quiet, crowded }) => crowded.p99 / quiet.p99],
    ]),
  );
  return { figures, checks };
}
