import { subject } from '../load.mjs';
import { compare, middle, runsOf, target } from '../measure.mjs';
import { answerTo, readRequests, syncRequests } from '../people.mjs';
import { startService } from '../processes.mjs';
import { floor } from '../readers.mjs';
import { seedAccounts, seedCircle } from '../seed.mjs';
import { Standby } from '../standby.mjs';

const DATABASE = 'standby';

export const title = 'A standby that serves sync';

const titles = {
  floor: 'floor: reading a user',
  'without a standby': 'POST /user/sync/:version, nothing new, at the primary',
  'with a standby': 'the same with DATABASE_REPLICA_URL; the column of the server includes the standby',
};

/** How much of a sync's work a standby takes off the primary. */
export async function run(bench) {
  const { postgres } = bench;
  const { users } = bench.options;
  await seedAccounts(postgres, DATABASE, users);
  const now = await seedCircle(postgres, DATABASE, users);
  const bare = subject(bench, await floor.start(bench), 'floor', readRequests(bench));
  const requests = syncRequests(bench, now, users);
  const standby = await Standby.of(bench);
  try {
    const plain = await startService(bench, { database: DATABASE });
    const env = { DATABASE_REPLICA_URL: standby.serviceUrl(DATABASE) };
    const served = await startService(bench, { database: DATABASE, env });
    await untilServing(served);
    const without = subject(bench, plain, 'without a standby', requests);
    const withIt = subject(bench, served, 'with a standby', requests);
    withIt.pids.push(standby.pid);
    const result = await compare(bench, bare, [without, withIt], []);
    const atPrimary = (name) => middle(runsOf(result.measurements, name), ({ cpu }) => cpu?.postgres);
    const share = atPrimary('with a standby') / atPrimary('without a standby');
    const check = target("with a standby: the primary's CPU for a sync, of that without one", 'at most', 0.5, share);
    return { titles, ...result, checks: [...result.checks, check] };
  } finally {
    await bench.stopServers();
    await standby.stop();
  }
}

async function untilServing(server) {
  for (;;) {
    const { body } = await answerTo(server, { method: 'GET', path: '/readyz' });
    if (body.result?.standby === 'serving') return;
  }
}
