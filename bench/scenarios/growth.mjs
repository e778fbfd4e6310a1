import { totalmem } from 'node:os';
import { figuresOf, mostOf } from '../checks.mjs';
import { measureRounds, subject } from '../measure.mjs';
import { person, REGION, spread } from '../people.mjs';
import { circleOf, seedCircle } from '../seed.mjs';
import { post, proxied, readRequest, startService } from '../service.mjs';
import { horizon } from './sync.mjs';

/** A tenth and ten times of the users that the other scenarios have. */
const SIZES = { small: 0.1, large: 10 };
/** More than are answered in one run, so that the large tables are really read. */
const REQUESTS = 100_000;

export const title = 'A hundred times the users';

/** As PostgreSQL's manual advises. By default it would fetch most pages of the large tables from the system, over and over. */
const BUFFERS = { shared_buffers: `${Math.floor(totalmem() / 4 / 2 ** 20)}MB` };

export async function run(bench) {
  await bench.postgres.restart(BUFFERS);
  try {
    return await compareSizes(bench);
  } finally {
    await bench.postgres.restart();
  }
}

/** The small installation takes the place of the floor, and what is compared is CPU: the service's with PostgreSQL's. */
async function compareSizes(bench) {
  const small = await installation(bench, 'small');
  const large = await installation(bench, 'large');
  return bench.withServers([small.start, large.start], async (one, other) => {
    const results = [];
    for (const name of Object.keys(small.requests)) {
      const floor = subject(bench, one, 'small', small.requests[name]);
      const measured = await measureRounds(bench, floor, [subject(bench, other, name, large.requests[name])]);
      results.push({ ...measured, ...tablesOf(name, measured.measurements, small, large) });
    }
    const all = (part) => results.flatMap((result) => result[part]);
    return { figures: all('figures'), checks: all('checks'), runs: all('measurements'), thrownOut: all('thrownOut') };
  });
}

async function installation(bench, name) {
  const database = `growth_${name}`;
  const users = bench.options.users * SIZES[name];
  bench.say(`  seeding ${users} users …`);
  await bench.createAccounts(database, users);
  const version = await bench.postgres.connected(database, async (client) => {
    await seedCircle(client, users);
    return horizon(client);
  });
  // The lookup alone is wanted, without the statement that counts it against its address.
  const env = { CHECKS_PER_IP_MINUTE: '0', CHECKS_PER_IP_DAY: '0' };
  return { users, start: () => startService(bench, { database, env }), requests: requests(bench, users, version) };
}

function requests({ secret }, users, version) {
  const everywhere = spread(users, REQUESTS);
  return {
    'reading a user': everywhere.map((index) => readRequest({ secret, options: { users } }, index)),
    'looking up a phone': everywhere.map(lookup),
    'a sync with nothing new': spread(circleOf(users), REQUESTS).map((index) =>
      post({ secret }, index, `/user/sync/${version}`),
    ),
  };
}

function lookup(index) {
  const body = JSON.stringify({ region: REGION, phone: person(index).digits });
  return { method: 'POST', path: '/user/check_phone_available', headers: proxied(index), body };
}

function tablesOf(name, measurements, small, large) {
  const floors = measurements.flatMap((one) => one.floors);
  const cpuOf = ({ cpu }) => cpu && cpu.server + cpu.postgres;
  const rows = (runs, users) => figuresOf(runs, [[`${name}, ${users} users: CPU per 1,000`, 's', cpuOf]]);
  return {
    figures: [...rows(floors, small.users), ...rows(measurements, large.users)],
    checks: mostOf(measurements, [[`${name}: CPU, ratio to a hundredth of the users`, 1.15, ({ ratio }) => ratio.cpu]]),
  };
}
