import { atLeast, figuresOf, mostOf } from '../checks.mjs';
import { measure, middle, repeated, subject, warmUp } from '../measure.mjs';
import { spread } from '../people.mjs';
import { readRequest, startService } from '../service.mjs';
import { loginSubject } from './login.mjs';

const READERS = 8;

export const title = 'Reading beside a storm of logins';

/** In each round the quiet runs stand before and after the storm, as the floor does elsewhere. */
export async function run(bench) {
  return bench.withServers([() => startService(bench)], async (server) => {
    const requests = spread(bench.options.users, 5_000).map((index) => readRequest(bench, index));
    const reads = subject(bench, server, 'reads', requests, { connections: READERS });
    const logins = await loginSubject(bench, server);
    for (const one of [reads, logins]) await warmUp(one);
    const thrownOut = [];
    const kept = await repeated(bench, thrownOut, () => once(bench, reads, logins), line);
    return { ...results(kept), thrownOut };
  });
}

async function once(bench, reads, logins) {
  const before = await measure(bench, reads);
  const quietLogins = await measure(bench, logins);
  const storm = { ...logins, run: (seconds) => both(reads, logins, seconds) };
  const { logins: stormLogins, foreign, ...stormReads } = await measure(bench, storm);
  const after = await measure(bench, reads);
  return { stormReads, stormLogins, foreign, beside: [quietLogins], floors: [before, after] };
}

async function both(reads, logins, seconds) {
  const [ofReads, ofLogins] = await Promise.all([reads.run(seconds), logins.run(seconds)]);
  return { ...ofReads, logins: ofLogins };
}

const quiet = (of) => (one) => one.floors.reduce((sum, floor) => sum + of(floor), 0) / 2;
const quietP99 = quiet(({ p99 }) => p99);
const quietLogins = ({ beside: [logins] }) => logins.rate;

function results(kept) {
  const figures = figuresOf(kept, [
    ['p99 of reads, quiet', 'ms', quietP99],
    ['p99 of reads in the storm', 'ms', (one) => one.stormReads.p99],
    ['reads, quiet', '/s', quiet(({ rate }) => rate)],
    ['reads in the storm', '/s', (one) => one.stormReads.rate],
    ['logins, quiet', '/s', quietLogins],
    ['logins in the storm, beside the reads', '/s', (one) => one.stormLogins.rate],
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
  return `p99 of reads ${quietP99(one).toFixed(1)} → ${one.stormReads.p99.toFixed(1)} ms, ${logins}`;
}
