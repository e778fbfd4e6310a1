import { Buffer } from 'node:buffer';
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { URL } from 'node:url';
import { promisify } from 'node:util';
import { root } from '../scripts/launch/dependencies.mjs';

export const hasWrk = spawnSync('wrk', ['-v']).error === undefined;
export const CONNECTIONS = 32;
/** At thousands of requests a second, Node has then compiled the code that it uses. */
const WARM_UP_SECONDS = 3;
const TIMEOUT_SECONDS = 30;
const END = '\x1e';

/**
 * Returns a server under load: kept-alive connections send its requests over and over. Every answer that is not good
 * fails the run of the benchmark. `expected` is a text in each good answer, for cases where the status is not enough. A
 * caller may add `before` and `settle`, for work that must not be measured with it. With a `pauseMs` each connection makes
 * a pause of that length, on average, before its next request.
 */
export function subject(
  bench,
  { pid, url },
  name,
  requests,
  { connections = CONNECTIONS, expected, pauseMs = 0 } = {},
) {
  const file = `${bench.folder}/requests-${pid}-${name.replaceAll(' ', '-')}`;
  if (hasWrk) writeFileSync(file, requests.map((request) => asHttp(request, url) + END).join(''));
  const load = { url, requests, file, connections, expected, pauseMs, sent: 0 };
  const run = async (seconds) => {
    const { answers, took, errors, p50, p99 } = await (hasWrk ? wrk(load, seconds) : autocannon(load, seconds));
    bench.failed += errors;
    return { requests: answers, rate: answers / took, p50, p99 };
  };
  return { name, pids: [pid], run, warmUpSeconds: WARM_UP_SECONDS };
}

async function wrk(load, seconds) {
  const limits = ['-t1', `-c${load.connections}`, `-d${seconds}s`, `--timeout=${TIMEOUT_SECONDS}s`];
  const script = [`${root}/bench/rotate.lua`, load.url, '--', load.file, load.sent, load.expected ?? '', load.pauseMs];
  const result = JSON.parse((await outputOf('wrk', [...limits, '-s', ...script])).trim().split('\n').pop());
  // The requests in flight at the end were sent too.
  load.sent += result.answers + load.connections;
  return result;
}

async function autocannon(load, seconds) {
  const { default: cannon } = await import('autocannon');
  const { url, connections, expected, pauseMs } = load;
  const from = load.sent % load.requests.length;
  const order = [...load.requests.slice(from), ...load.requests.slice(0, from)];
  const withBodies = order.map((request) => ({ body: '', ...request }));
  let connection = 0;
  const setupClient = (client) => {
    const place = connection++;
    client.setRequests(withBodies.filter((_, index) => index % connections === place));
  };
  const verifyBody = expected && ((body) => body.includes(expected));
  const paced = pauseMs > 0 && { connectionRate: Math.ceil(1_000 / pauseMs) };
  const settings = { url, connections, duration: seconds, timeout: TIMEOUT_SECONDS, verifyBody, ...paced };
  const { requests, latency, ...result } = await cannon({ ...settings, setupClient });
  // Its connections advance at different speeds.
  load.sent += Math.ceil(requests.total * 1.25) + connections;
  const errors = result.non2xx + result.errors + result.mismatches;
  return { answers: requests.total, took: result.duration, p50: latency.p50, p99: latency.p99, errors };
}

function asHttp({ method, path, headers, body = '' }, url) {
  const lines = { Host: new URL(url).host, ...headers };
  if (method !== 'GET') lines['Content-Length'] = Buffer.byteLength(body);
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`;
}

export async function outputOf(command, args, options) {
  return (await promisify(execFile)(command, args.map(String), options)).stdout;
}
