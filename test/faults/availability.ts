import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until';
import { AvailabilityCluster, missingForCluster } from './availability-cluster';
import type { Fault } from './faults';

/** The longest that a call may take, whatever happens to the database. */
const LONGEST_MS = 9_000;
/** Longer than Patroni's ttl: another node leads when the old leader goes on. */
const STALL_MS = 40_000;
/** Longer than Patroni's ttl of 30 s, a vote, and what HAProxy takes to notice. */
const AFTER_MS = 50_000;

let cluster: AvailabilityCluster | undefined;

function nodes(): AvailabilityCluster {
  if (!cluster) throw new Error('the nodes have not been started');
  return cluster;
}

/** Plays a fault of a cluster of three nodes with two instances, as in deploy/high-availability. */
function ofNodes(fault: Pick<Fault, 'name' | 'title' | 'play'> & Partial<Fault>): Fault {
  return {
    group: 'availability',
    missing: missingForCluster,
    setting: async () => {
      cluster = await AvailabilityCluster.start(dcs());
      const { url, ownerUrl, serviceUrl, replicaUrl } = cluster;
      return {
        instances: 2,
        inTurn: true,
        database: { url, ownerUrl, serviceUrl },
        env: { DATABASE_REPLICA_URL: replicaUrl },
      };
    },
    longestMs: LONGEST_MS,
    afterMs: AFTER_MS,
    tidyUp: async () => {
      await cluster?.remove();
      cluster = undefined;
    },
    ...fault,
  };
}

/** Settings of Patroni that differ from the configuration, such as PATRONI_DCS='{"ttl":20}'. */
function dcs(): Record<string, unknown> {
  return JSON.parse(process.env.PATRONI_DCS ?? '{}') as Record<string, unknown>;
}

/** Waits until another node leads. */
async function untilFollowed(before: number): Promise<void> {
  await until(
    async () =>
      (await nodes()
        .leader()
        .catch(() => before)) !== before,
    120_000,
    500,
  );
}

let hit = 0;

/** Does this to the leader. */
const toLeader = (what: (node: number) => void) => async () => {
  hit = await nodes().leader();
  what(hit);
};
const whole = () => nodes().untilWhole();
const startAgain = async () => {
  nodes().startNode(hit);
  await whole();
};
/** Repairs the old leader once another node leads. */
const afterwards = (repair: () => Promise<void>) => async () => {
  await untilFollowed(hit);
  await repair();
};

/** Stalls the leader, or only its PostgreSQL. */
const stalling = (set: 'setPostgres' | 'setMachine') => async () => {
  const leader = await nodes().leader();
  nodes()[set](leader, 'stalled');
  await sleep(STALL_MS);
  nodes()[set](leader, 'running');
};

export const AVAILABILITY: Fault[] = [
  ofNodes({
    name: 'nodes-postgres',
    title: "kill -9 of the primary's PostgreSQL",
    play: toLeader((node) => nodes().killPostgres(node)),
    heal: whole,
  }),
  ofNodes({
    name: 'nodes-switchover',
    title: 'a planned switchover',
    afterMs: 20_000,
    play: () => nodes().switchover(),
    heal: whole,
  }),
  ofNodes({
    name: 'nodes-manager',
    title: "kill -9 of the leader's Patroni, whose PostgreSQL runs on",
    play: toLeader((node) => nodes().killManager(node)),
    heal: afterwards(startAgain),
  }),
  ofNodes({
    name: 'nodes-both',
    title: 'kill -9 of both on the primary, as when its machine dies',
    play: toLeader((node) => nodes().killNode(node)),
    heal: afterwards(startAgain),
  }),
  ofNodes({
    name: 'nodes-postgres-stall',
    title: `the primary's PostgreSQL stalls for ${STALL_MS / 1_000} s, and goes on`,
    play: stalling('setPostgres'),
    heal: whole,
  }),
  ofNodes({
    name: 'nodes-machine-stall',
    title: `the primary's machine stalls for ${STALL_MS / 1_000} s, and goes on`,
    play: stalling('setMachine'),
    heal: whole,
  }),
  ofNodes({
    name: 'nodes-standby',
    title: 'kill -9 of both on the standby that commits wait for',
    play: async () => {
      hit = await nodes().synchronousStandby();
      nodes().killNode(hit);
    },
    heal: startAgain,
  }),
  ofNodes({
    name: 'nodes-etcd',
    title: 'two of three etcd are killed for a minute',
    play: async () => {
      for (const node of [1, 2]) nodes().killEtcd(node);
      await sleep(60_000);
      for (const node of [1, 2]) nodes().startEtcd(node);
    },
    heal: whole,
  }),
  ofNodes({
    name: 'nodes-network',
    title: "the primary's network is cut",
    play: toLeader((node) => nodes().setNetwork(node, 'down')),
    heal: afterwards(async () => {
      nodes().setNetwork(hit, 'up');
      await whole();
    }),
  }),
];
