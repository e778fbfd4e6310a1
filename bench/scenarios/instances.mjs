import { CONNECTIONS, subject } from '../load.mjs';
import { compare } from '../measure.mjs';
import { readRequests } from '../people.mjs';
import { startService } from '../processes.mjs';
import { floor } from '../readers.mjs';

export const title = 'More than one instance';

const titles = {
  floor: 'floor: reading a user',
  'one instance': 'one instance',
  'two instances': 'two instances, with half of the connections each',
};

/** On a machine of two processors, which PostgreSQL and the load generator share with them. */
export async function run(bench) {
  const requests = readRequests(bench);
  const bare = subject(bench, await floor.start(bench), 'floor', requests);
  const servers = [await startService(bench), await startService(bench)];
  const one = subject(bench, servers[0], 'one instance', requests);
  const halves = servers.map((server) => subject(bench, server, 'half', requests, { connections: CONNECTIONS / 2 }));
  const two = {
    name: 'two instances',
    pids: servers.map(({ pid }) => pid),
    warmUpSeconds: one.warmUpSeconds,
    run: async (seconds) => sum(await Promise.all(halves.map((half) => half.run(seconds)))),
  };
  return { titles, ...(await compare(bench, bare, [one, two], [])) };
}

function sum(results) {
  const [p50, p99] = ['p50', 'p99'].map((name) => Math.max(...results.map((result) => result[name])));
  const [requests, rate] = ['requests', 'rate'].map((name) => results.reduce((all, result) => all + result[name], 0));
  return { requests, rate, p50, p99 };
}
