import { totalmem } from 'node:os';
import { subject } from '../load.mjs';
import { bothCpu, compare, cpuRatio, figuresOf, joined } from '../measure.mjs';
import { person, postPhone, readRequests, spread, syncRequests } from '../people.mjs';
import { startService } from '../processes.mjs';
import { seedAccounts, seedCircle } from '../seed.mjs';

/** More than one run sends, so that the large tables are really read. */
const REQUESTS = 100_000;
/**
 * A quarter of memory, as PostgreSQL's manual advises. Its default would fetch most pages of the large tables
 * repeatedly.
 */
const BUFFERS = { shared_buffers: `${Math.floor(totalmem() / 4 / 2 ** 20)}MB` };

export const title = 'A hundred times the users';

/** The small installation takes the place of the floor. The CPU of the service and PostgreSQL together is compared. */
export async function run(bench) {
  await bench.postgres.restart(BUFFERS);
  try {
    const small = await installation(bench, 'growth_small', bench.options.users / 10);
    const large = await installation(bench, 'growth_large', bench.options.users * 10);
    const parts = [];
    for (const name of Object.keys(small.requests)) parts.push(await compareSizes(bench, name, small, large));
    return joined(parts);
  } finally {
    await bench.stopServers();
    await bench.postgres.restart();
  }
}

async function compareSizes(bench, name, small, large) {
  const [floor, ours] = [small, large].map((one) => subject(bench, one.server, name, one.requests[name]));
  const target = [name, `${name}: CPU, ratio to a hundredth of the users`, 'at most', 1.15, cpuRatio];
  const { measurements, thrownOut, checks } = await compare(bench, floor, [ours], [target]);
  const rows = (runs, { users }) => figuresOf(runs, [[`${name}, ${users} users: CPU per 1,000`, 's', bothCpu]]);
  const floors = measurements.flatMap((one) => one.floors);
  const figures = [...rows(floors, small), ...rows(measurements, large)];
  return { figures, checks, runs: measurements, thrownOut };
}

async function installation(bench, database, users) {
  bench.say(`  seeding ${users} users …`);
  await seedAccounts(bench.postgres, database, users);
  const version = await seedCircle(bench.postgres, database, users);
  bench.say(`  its size on the disk: ${await bench.postgres.size(database)}`);
  // Only the look-up is measured, without the statement that counts it against its address.
  const env = { CHECKS_PER_IP_MINUTE: '0', CHECKS_PER_IP_DAY: '0' };
  const server = await startService(bench, { database, env });
  const lookUp = (index) => postPhone(index, '/user/check_phone_available', person(index).phone);
  const requests = {
    'reading a user': readRequests(bench, REQUESTS, users),
    'looking up a phone': spread(users, REQUESTS).map(lookUp),
    'a sync with nothing new': syncRequests(bench, version, REQUESTS, users),
  };
  return { users, server, requests };
}
