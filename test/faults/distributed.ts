import { CitusCluster, missingForCitus } from '../support/citus';
import { TestCluster } from '../support/clusters';
import { moveAll } from '../support/move';
import type { Fault } from './faults';
import type { Database } from './world';

/** The longest that a call may take, whatever happens to a server. */
const LONGEST_MS = 9_000;

let cluster: CitusCluster | undefined;
let alone: TestCluster | undefined;

function servers(): CitusCluster {
  if (!cluster) throw new Error('the servers have not been started');
  return cluster;
}

function severalServers(): Database {
  const { url, serviceUrl } = servers();
  return { url, ownerUrl: url, serviceUrl, isDistributed: true };
}

/** Plays a fault of a Citus with two workers, and two instances. */
function ofServers(fault: Pick<Fault, 'name' | 'title' | 'play'> & Partial<Fault>): Fault {
  return {
    group: 'distributed',
    missing: missingForCitus,
    setting: async () => {
      cluster = await CitusCluster.start();
      return { instances: 2, inTurn: true, database: severalServers() };
    },
    longestMs: LONGEST_MS,
    afterMs: 20_000,
    tidyUp: async () => {
      cluster?.remove();
      await alone?.remove();
      [cluster, alone] = [undefined, undefined];
    },
    ...fault,
  };
}

const killed = (server: number) => async () => {
  servers().kill(server);
  await servers().startAgain(server);
};

export const DISTRIBUTED: Fault[] = [
  ofServers({ name: 'servers-worker', title: 'kill -9 of a worker', play: killed(1) }),
  ofServers({ name: 'servers-coordinator', title: 'kill -9 of the coordinator', play: killed(0) }),
  ofServers({
    name: 'servers-move',
    title: 'a third worker joins, and shards are moved to it',
    play: async () => {
      const third = await servers().addServer();
      await servers().join(third);
      await servers().rebalance();
      if ((await servers().shardsOn(third)) === 0) throw new Error('no shard was moved');
    },
  }),
  ofServers({
    name: 'servers-arrive',
    title: 'one PostgreSQL is moved to a Citus, and the service restarted',
    setting: () => ({ instances: 2, inTurn: true, postgres: { wal_level: 'logical' } }),
    play: async (world) => {
      cluster = await CitusCluster.start();
      await moveAll(world.databaseUrl, cluster.url);
      await world.useDatabase(severalServers());
    },
  }),
  ofServers({
    name: 'servers-leave',
    title: 'a Citus is moved to one PostgreSQL, and the service restarted',
    play: async (world) => {
      alone = await TestCluster.start({ max_connections: '200' });
      await moveAll(world.databaseUrl, alone.url);
      await world.useDatabase({ url: alone.url, ownerUrl: alone.url, serviceUrl: alone.serviceUrl });
    },
  }),
];
