// Loaded into a server before its own code (node --expose-gc --import): tells of its memory and of how long its event loop
// is held up. It writes to OBSERVE_FILE ten times a second; SIGUSR2 lets the memory settle and begins anew.
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setInterval, setTimeout } from 'node:timers';

const RESOLUTION_MS = 10;
const file = process.env.OBSERVE_FILE;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let resets = 0;
let peak = 0;

delay.enable();
setInterval(write, 100).unref();
process.on('SIGUSR2', () => {
  globalThis.gc();
  // What the first collection has only marked as free, the second one returns.
  setTimeout(() => {
    globalThis.gc();
    delay.reset();
    peak = 0;
    resets += 1;
  }, 500);
});

function write() {
  const { rss } = process.memoryUsage();
  peak = Math.max(peak, rss);
  // The time between two looks, without the time that was meant to be between them.
  const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  const loop = { p99: late(delay.percentile(99)), max: late(delay.max) };
  writeFileSync(`${file}.new`, JSON.stringify({ resets, rss, peak, loop }));
  renameSync(`${file}.new`, file);
}
