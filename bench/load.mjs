import { spawn, spawnSync } from 'node:child_process';
import { Buffer } from 'node:buffer';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, URL } from 'node:url';

export const hasWrk = spawnSync('wrk', ['-v']).error === undefined;

export const CONNECTIONS = 32;

const SCRIPT = fileURLToPath(new URL('rotate.lua', import.meta.url));
const TIMEOUT_SECONDS = 30;
const END = '\x1e';
let files = 0;

/**
 * Kept-alive connections that send the same requests over and over, each as soon as its last one is answered. Every
 * request is { method, path, headers, body }. `expected` is a text that a good answer holds, where the status tells too little.
 */
export class Load {
  constructor(bench, { url, requests, connections = CONNECTIONS, expected }) {
    Object.assign(this, { bench, url, requests, connections, expected, sent: 0 });
    this.file = join(bench.folder, `requests-${(files += 1)}`);
    if (hasWrk) writeFileSync(this.file, requests.map((request) => asHttp(request, url) + END).join(''));
  }

  /** { requests, rate, p50, p99 }, times in milliseconds. Every answer but a good one fails the run of the benchmark. */
  async run(seconds) {
    const { requests, seconds: took, errors, ...times } = await (hasWrk ? this.wrk(seconds) : this.autocannon(seconds));
    this.bench.failed += errors;
    // Those that were under way at the end were sent too, and autocannon's connections do not keep in step.
    this.sent += Math.ceil(requests * (hasWrk ? 1 : 1.25)) + this.connections;
    return { requests, rate: requests / took, ...times };
  }

  get isUsedUp() {
    return this.sent > this.requests.length;
  }

  async wrk(seconds) {
    const limits = ['-t1', `-c${this.connections}`, `-d${seconds}s`, `--timeout=${TIMEOUT_SECONDS}s`];
    const script = [this.file, String(this.sent), ...(this.expected === undefined ? [] : [this.expected])];
    const output = await outputOf('wrk', [...limits, '-s', SCRIPT, this.url, '--', ...script]);
    return JSON.parse(output.trim().split('\n').pop());
  }

  async autocannon(seconds) {
    const { default: autocannon } = await import('autocannon');
    const from = this.sent % this.requests.length;
    const order = [...this.requests.slice(from), ...this.requests.slice(0, from)];
    let connection = 0;
    const setupClient = (client) => {
      const first = connection++;
      const share = order.filter((_, index) => index % this.connections === first);
      client.setRequests(share.map((request) => ({ ...request, body: request.body ?? '' })));
    };
    const verifyBody = this.expected && ((body) => body.includes(this.expected));
    const settings = { connections: this.connections, duration: seconds, timeout: TIMEOUT_SECONDS, verifyBody };
    const { requests, latency, ...result } = await autocannon({ url: this.url, ...settings, setupClient });
    const errors = result.non2xx + result.errors + result.mismatches;
    return { requests: requests.total, seconds: result.duration, p50: latency.p50, p99: latency.p99, errors };
  }
}

function asHttp({ method, path, headers = {}, body = '' }, url) {
  const lines = { Host: new URL(url).host, ...headers };
  if (method !== 'GET') lines['Content-Length'] = Buffer.byteLength(body);
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`;
}

export function outputOf(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.once('error', reject);
    child.once('close', (status) => (status === 0 ? resolve(output) : reject(new Error(`${command}: ${output}`))));
  });
}
