import { CitusCluster, missingForCitus } from '../support/citus';
import type { Fault } from './faults';

/** The longest that a call may take, whatever happens to a server. */
const LONGEST_MS = 9_000;

let cluster: CitusCluster | undefined;

function servers(): CitusCluster {
  if (!cluster) throw new Error('the servers have not been started');
  return cluster;
}

/** Plays a fault of a Citus with two workers, and two instances. */
function ofServers(fault: Pick<Fault, 'name' | 'title' | 'play'> & Partial<Fault>): Fault {
  return {
    group: 'distributed',
    missing: missingForCitus,
    setting: async () => {
      cluster = await CitusCluster.start();
      const { url, serviceUrl } = cluster;
      return { instances: 2, inTurn: true, isDistributed: true, database: { url, ownerUrl: url, serviceUrl } };
    },
    longestMs: LONGEST_MS,
    afterMs: 20_000,
    tidyUp: () => {
      cluster?.remove();
      cluster = undefined;
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
];
