// Counts the passwords that bcrypt compares in a number of seconds on libuv's threads, with all processors to itself.
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import { root } from '../../scripts/launch/dependencies.mjs';
import { PASSWORD } from '../people.mjs';

const AT_A_TIME = 32;
const { compare, hash } = createRequire(`${root}/package.json`)('bcrypt');
const seconds = Number(process.argv[2]);
const passwordHash = await hash(PASSWORD, 10);
const times = [];
const end = performance.now() + seconds * 1_000;

async function client() {
  for (let begun = performance.now(); begun < end; begun = performance.now()) {
    await compare(PASSWORD, passwordHash);
    const now = performance.now();
    if (now <= end) times.push(now - begun);
  }
}

await Promise.all(Array.from({ length: AT_A_TIME }, client));
times.sort((a, b) => a - b);
const at = (share) => times[Math.floor(times.length * share)];
const requests = times.length;
process.stdout.write(JSON.stringify({ requests, rate: requests / seconds, p50: at(0.5), p99: at(0.99) }));
