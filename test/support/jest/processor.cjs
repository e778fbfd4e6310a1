const { existsSync, readFileSync } = require('node:fs');

const TICKS_PER_SECOND = 100;
/** Places after a process's name: its seconds in user mode and in the kernel, then those of its ended children. */
const [FIRST, END] = [11, 15];

let counted = 0;

/** Returns the seconds of processor of this process and, on Linux, of its ended children and what was counted. */
exports.processorSeconds = () => {
  const { user, system } = process.cpuUsage();
  return counted + (secondsOf('self') ?? (user + system) / 1_000_000);
};

/** Counts a process that this one did not start itself, such as a PostgreSQL, just before its end. */
exports.countProcess = (pid) => {
  counted += secondsOf(pid) ?? 0;
};

function secondsOf(pid) {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return undefined;
  const fields = readFileSync(path, 'utf8').replace(/.*\) /s, '').split(' ');
  return fields.slice(FIRST, END).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}
