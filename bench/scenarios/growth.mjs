import { atMost, noErrors } from '../checks.mjs';
import { measureRounds, medianOf, subject } from '../measure.mjs';
import { person, REGION, spread } from '../people.mjs';
import { circleOf, seedCircle } from '../seed.mjs';
import { post, proxied, readRequest, startService } from '../service.mjs';
import { horizon } from './sync.mjs';

/** A tenth and ten times of the users that the other scenarios have. */
const SIZES = { small: 0.1, large: 10 };
const REQUESTS = 20_000;

export const title = 'A hundred times the users';

/** The small installation takes the place of the floor, and what is compared is CPU: the service's with PostgreSQL's. */
export async function run(bench) {
  const small = await installation(bench, 'small');
  const large = await installation(bench, 'large');
  return bench.withServers([small.start, large.start], async (one, other) => {
    const measurements = [];
    const thrownOut = [];
    for (const name of Object.keys(small.requests)) {
      const measured = await measureRounds(bench, subject(bench, one, 'small', small.requests[name]), [
        subject(bench, other, name, large.requests[name]),
      ]);
      measurements.push(...measured.measurements);
      thrownOut.push(...measured.thrownOut);
    }
    return { title, ...results(measurements, thrownOut, { small, large }), runs: measurements, thrownOut };
  });
}

async function installation(bench, name) {
  const database = `growth_${name}`;
  const users = Math.max(100, Math.round(bench.options.users * SIZES[name]));
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

function results(measurements, thrownOut, { small, large }) {
  const cpuOf = ({ cpu }) => cpu && cpu.server + cpu.postgres;
  const names = Object.keys(small.requests);
  const figure = (name, users, runs) => ({
    name: `${name}, ${users} users: CPU per 1,000`,
    unit: 's',
    values: runs.map(cpuOf),
  });
  const of = (name) => measurements.filter((one) => one.name === name);
  const figures = names.flatMap((name) => [
    figure(
      name,
      small.users,
      of(name).flatMap(({ floors }) => floors),
    ),
    figure(name, large.users, of(name)),
  ]);
  const growth = (name) => medianOf(measurements, name, ({ ratio }) => ratio.cpu);
  const checks = [
    ...names.map((name) => atMost(`${name}: CPU, ratio to a hundredth of the users`, 1.15, growth(name))),
    noErrors([...measurements, ...thrownOut]),
  ];
  return { figures, checks };
}
