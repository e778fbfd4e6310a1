// Loaded into a server before its own code (node --expose-gc --import). Reports its memory, its garbage collections and
// the delays of its event loop to the process that started it. 'settle' first lets the memory settle, and resets the
// figures.
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 10;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let peak = 0;
let scavenges = { count: 0, ms: 0 };

if (isMainThread) {
  delay.enable();
  new PerformanceObserver((list) => list.getEntries().forEach(noteCollection)).observe({ entryTypes: ['gc'] });
  setInterval(look, 100).unref();
  process.on('message', (wish) => void answer(wish));
  process.channel.unref();
}

async function answer(wish) {
  if (wish === 'settle') {
    globalThis.gc();
    await sleep(500);
    // The first collection only marks memory as free, the second one returns it.
    globalThis.gc();
    await sleep(200);
    delay.reset();
    peak = 0;
    scavenges = { count: 0, ms: 0 };
  }
  process.send(look());
}

function noteCollection({ duration, detail }) {
  if (detail.kind !== constants.NODE_PERFORMANCE_GC_MINOR) return;
  scavenges.count += 1;
  scavenges.ms += duration;
}

function look() {
  const { rss } = process.memoryUsage();
  peak = Math.max(peak, rss);
  // The time between two looks, minus the planned interval.
  const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  return { rss, peak, scavenges, loop: { p99: late(delay.percentile(99)), max: late(delay.max) } };
}
