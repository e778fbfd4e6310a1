import { atLeast, atMost, noErrors } from '../checks.mjs';
import { measure, middle, subject, undisturbed, warmUp } from '../measure.mjs';
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
    const kept = [];
    const thrownOut = [];
    for (let round = 0; round < bench.options.rounds; round += 1)
      kept.push(...(await undisturbed(bench, thrownOut, async () => [await once(bench, reads, logins)], line)));
    return { title, ...results(kept, thrownOut), thrownOut };
  });
}

async function once(bench, reads, logins) {
  const before = await measure(bench, reads);
  const quietLogins = await measure(bench, logins);
  const storm = { ...logins, run: (seconds) => both(reads, logins, seconds) };
  const { logins: stormLogins, foreign, errors, ...stormReads } = await measure(bench, storm);
  const after = await measure(bench, reads);
  return { stormReads, stormLogins, quietLogins, foreign, errors, floors: [before, after] };
}

async function both(reads, logins, seconds) {
  const [ofReads, ofLogins] = await Promise.all([reads.run(seconds), logins.run(seconds)]);
  return { ...ofReads, errors: ofReads.errors + ofLogins.errors, logins: ofLogins };
}

const quietP99 = ({ floors: [before, after] }) => (before.p99 + after.p99) / 2;

function results(kept, thrownOut) {
  const figure = (name, unit, of) => ({ name, unit, values: kept.map(of) });
  const figures = [
    figure('p99 of reads, quiet', 'ms', quietP99),
    figure('p99 of reads in the storm', 'ms', (one) => one.stormReads.p99),
    figure('reads, quiet', '/s', ({ floors: [before, after] }) => (before.rate + after.rate) / 2),
    figure('reads in the storm', '/s', (one) => one.stormReads.rate),
    figure('logins, quiet', '/s', (one) => one.quietLogins.rate),
    figure('logins in the storm, beside the reads', '/s', (one) => one.stormLogins.rate),
  ];
  const p99Ratio = (one) => one.stormReads.p99 / quietP99(one);
  const loginRatio = (one) => one.stormLogins.rate / one.quietLogins.rate;
  const checks = [
    atMost('p99 of reads in the storm, ratio to quiet', 2.5, middle(kept, p99Ratio)),
    atLeast('logins/s beside reads, ratio to quiet', 0.7, middle(kept, loginRatio)),
    noErrors([...kept, ...thrownOut]),
  ];
  return { figures, checks };
}

function line(one) {
  const logins = `logins ${one.quietLogins.rate.toFixed(1)} → ${one.stormLogins.rate.toFixed(1)}/s`;
  return `p99 of reads ${quietP99(one).toFixed(1)} → ${one.stormReads.p99.toFixed(1)} ms, ${logins}`;
}
