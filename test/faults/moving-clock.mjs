// For `node --import`: adds the milliseconds in the file CLOCK_FILE to the time that this process takes from its machine.
// Timers and performance.now() go on as they do when a clock jumps.
import { readFileSync } from 'node:fs';
import { setInterval } from 'node:timers';

const READ_MS = 50;
const { CLOCK_FILE } = process.env;
const { now } = Date;
let shift = 0;

function read() {
  try {
    shift = Number(readFileSync(CLOCK_FILE, 'utf8'));
  } catch {
    // Not moved yet.
  }
}

Date.now = () => now() + shift;
globalThis.Date = new Proxy(Date, {
  construct: (target, given) => (given.length === 0 ? new target(target.now()) : new target(...given)),
  apply: (target) => new target(target.now()).toString(),
});
setInterval(read, READ_MS).unref();
