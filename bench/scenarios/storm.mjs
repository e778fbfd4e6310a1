import { atLeast, figuresOf, mostOf } from '../checks.mjs';
import { measure, middle, repeated, subject, warmUp } from '../measure.mjs';
import { floor } from '../readers.mjs';
import { readRequests, startService } from '../service.mjs';
import { loginSubject } from './login.mjs';

const READERS = 8;

export const title = 'Reading beside a storm of logins';

/**
 * In each round the quiet runs stand before and after the storm, as the floor does elsewhere. The floor's own reads beside
 * the same logins show how much of what reads wait for is the machine's doing.
 */
export async function run(bench) {
  return bench.withServers([() => startService(bench), () => floor.start(bench)], async (server, floorServer) => {
    const requests = readRequests(bench);
    const readsOf = (one) => subject(bench, one, 'reads', requests, { connections: READERS });
    const subjects = {
      reads: readsOf(server),
      floorReads: readsOf(floorServer),
      logins: await loginSubject(bench, server),
    };
    for (const one of Object.values(subjects)) await warmUp(one);
    const thrownOut = [];
    const kept = await repeated(bench, thrownOut, () => once(bench, subjects), line);
    return { ...results(kept), thrownOut };
  });
}

async function once(bench, { reads, floorReads, logins }) {
  const stormOver = (readers) =>
    measure(bench, {
      ...logins,
      pid: [...new Set([logins.pid, readers.pid])],
      run: (seconds) => both(readers, logins, seconds),
    });
  const before = await measure(bench, reads);
  const quietLogins = await measure(bench, logins);
  const { logins: stormLogins, foreign, ...stormReads } = await stormOver(reads);
  const after = await measure(bench, reads);
  const floorQuiet = await measure(bench, floorReads);
  const floorStorm = await stormOver(floorReads);
  const beside = { quietLogins, floorQuiet, floorStorm };
  return { stormReads, stormLogins, foreign, beside, floors: [before, after] };
}

async function both(reads, logins, seconds) {
  const [ofReads, ofLogins] = await Promise.all([reads.run(seconds), logins.run(seconds)]);
  return { ...ofReads, logins: ofLogins };
}

const quiet = (of) => (one) => one.floors.reduce((sum, floor) => sum + of(floor), 0) / 2;
const quietP99 = quiet(({ p99 }) => p99);
const quietLogins = ({ beside }) => beside.quietLogins.rate;

function results(kept) {
  const figures = figuresOf(kept, [
    ['p99 of reads, quiet', 'ms', quietP99],
    ['p99 of reads in the storm', 'ms', (one) => one.stormReads.p99],
    ['reads, quiet', '/s', quiet(({ rate }) => rate)],
    ['reads in the storm', '/s', (one) => one.stormReads.rate],
    ['logins, quiet', '/s', quietLogins],
    ['logins in the storm, beside the reads', '/s', (one) => one.stormLogins.rate],
    ["p99 of the floor's reads, quiet", 'ms', ({ beside }) => beside.floorQuiet.p99],
    ["p99 of the floor's reads in the same storm", 'ms', ({ beside }) => beside.floorStorm.p99],
  ]);
  const loginRatio = middle(kept, (one) => one.stormLogins.rate / quietLogins(one));
  const checks = [
    ...mostOf(kept, [['p99 of reads in the storm, ratio to quiet', 2.5, (one) => one.stormReads.p99 / quietP99(one)]]),
    atLeast('logins/s beside reads, ratio to quiet', 0.7, loginRatio),
  ];
  return { figures, checks };
}

function line(one) {
  const logins = `logins ${quietLogins(one).toFixed(1)} → ${one.stormLogins.rate.toFixed(1)}/s`;
  const { floorQuiet, floorStorm } = one.beside;
  const floors = `the floor's ${floorQuiet.p99.toFixed(1)} → ${floorStorm.p99.toFixed(1)} ms`;
  return `p99 of reads ${quietP99(one).toFixed(1)} → ${one.stormReads.p99.toFixed(1)} ms, ${floors}, ${logins}`;
}
