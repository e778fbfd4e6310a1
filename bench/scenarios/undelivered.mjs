import { once } from 'node:events';
import { createServer } from 'node:net';
import { subject } from '../load.mjs';
import { compare, cpuRatio, joined, p50Ratio } from '../measure.mjs';
import { readRequests, syncRequests } from '../people.mjs';
import { startService } from '../processes.mjs';
import { horizon, seedAccounts, seedCircle } from '../seed.mjs';

const EVENTS = 1_000_000;
const MOST = 1.05;
const REQUESTS = 5_000;

export const title = 'A million events that a webhook was not told';

/** An installation without them takes the place of the floor. */
export async function run(bench) {
  const receiver = createServer().listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  try {
    const none = await installation(bench, 'undelivered_none');
    const million = await installation(bench, 'undelivered_million', async (database, version) => {
      await bench.postgres.fill(database, [
        `INSERT INTO events (version, number, subject, kind)
         SELECT ${version - EVENTS} + n, 1, 'user-' || n, 'user.updated' FROM generate_series(1, ${EVENTS}) AS n`,
        `INSERT INTO webhooks (id, url, kinds, secret, version, number, subject)
         VALUES ('wh_bench', 'http://127.0.0.1:${receiver.address().port}/', '{}', 'whsec_YmVuY2g=', ${version - EVENTS}, 0, '')`,
      ]);
    });
    const parts = [];
    for (const name of Object.keys(none.requests)) {
      const [without, beside] = [none, million].map((one) => subject(bench, one.server, name, one.requests[name]));
      parts.push(await compare(bench, without, [beside], targets(name)));
    }
    return joined(parts);
  } finally {
    receiver.close();
  }
}

const targets = (name) => [
  [name, `${name}: p50, ratio to that without undelivered events`, 'at most', MOST, p50Ratio],
  [name, `${name}: CPU, ratio to that without undelivered events`, 'at most', MOST, cpuRatio],
];

async function installation(bench, database, prepare = () => undefined) {
  const { users } = bench.options;
  await seedAccounts(bench.postgres, database, users);
  const version = await seedCircle(bench.postgres, database, users);
  await bench.postgres.fill(database, ['TRUNCATE events']);
  await prepare(database, version);
  const server = await startService(bench, { database, env: { WEBHOOK_NETWORKS: '127.0.0.0/8' } });
  const now = await horizon(bench.postgres, database);
  return {
    server,
    requests: { 'reading a user': readRequests(bench), 'a sync with nothing new': syncRequests(bench, now, REQUESTS) },
  };
}
