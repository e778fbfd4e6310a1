import { subject } from '../load.mjs';
import { measure, tabulate, warmUp } from '../measure.mjs';
import { readRequests } from '../people.mjs';
import { startService } from '../processes.mjs';
import { floor } from '../readers.mjs';
import { loginSubject } from './login.mjs';

const READERS = 8;

export const title = 'Reading beside a storm of logins';

/** The floor's own reads beside the same logins show how much of the waiting is caused by the machine. */
export async function run(bench) {
  const server = await startService(bench);
  const requests = readRequests(bench);
  const readsOf = (one) => subject(bench, one, 'reads', requests, { connections: READERS });
  const [reads, floorReads] = [readsOf(server), readsOf(await floor.start(bench))];
  const logins = await loginSubject(bench, server);
  for (const one of [reads, floorReads, logins]) await warmUp(one);
  const inStorm = (readers) =>
    measure(bench, {
      ...logins,
      pids: [...new Set([...logins.pids, ...readers.pids])],
      run: async (seconds) => {
        const [ofReads, ofLogins] = await Promise.all([readers.run(seconds), logins.run(seconds)]);
        return { ...ofReads, logins: ofLogins };
      },
    });
  const once = async () => {
    const before = await measure(bench, reads);
    const quietLogins = await measure(bench, logins);
    const { logins: stormLogins, foreign, ...stormReads } = await inStorm(reads);
    const after = await measure(bench, reads);
    const beside = { quietLogins, floorQuiet: await measure(bench, floorReads), floorStorm: await inStorm(floorReads) };
    return { stormReads, stormLogins, foreign, beside, floors: [before, after] };
  };
  return tabulate(bench, once, rows, targets);
}

const quiet = (of) => (one) => one.floors.reduce((sum, floor) => sum + of(floor), 0) / 2;
const quietP99 = quiet(({ p99 }) => p99);
const quietLogins = ({ beside }) => beside.quietLogins.rate;
const besideFloor = ({ stormReads, beside }) => stormReads.p99 / beside.floorStorm.p99;

const rows = [
  ['p99 of reads, quiet', 'ms', quietP99],
  ['p99 of reads in the storm', 'ms', (one) => one.stormReads.p99],
  ['reads, quiet', '/s', quiet(({ rate }) => rate)],
  ['reads in the storm', '/s', (one) => one.stormReads.rate],
  ['logins, quiet', '/s', quietLogins],
  ['logins in the storm, beside the reads', '/s', (one) => one.stormLogins.rate],
  ["p99 of the floor's reads, quiet", 'ms', ({ beside }) => beside.floorQuiet.p99],
  ["p99 of the floor's reads in the same storm", 'ms', ({ beside }) => beside.floorStorm.p99],
];

const targets = [
  ['p99 of reads in the storm, ratio to quiet', 'at most', 2.5, (one) => one.stormReads.p99 / quietP99(one)],
  ["p99 of reads in the storm, ratio to the floor's", 'at most', 1.15, besideFloor],
  ['logins/s beside reads, ratio to quiet', 'at least', 0.7, (one) => one.stormLogins.rate / quietLogins(one)],
];
