import type { Foundation } from '../foundation/foundation';
import { counter, gauge, type Figure, type Values } from '../foundation/part';
import type { QueueState } from '../load/queue';
import { withTimeout } from '../load/timeout';

export type Shared = Pick<Foundation, 'queues' | 'connections'>;

/** Shorter than the longest wait for a figure, so that it has its value when the database is away. */
const READY_MS = 2_000;

/** Returns the figures of what all features are built on. */
export function ownFigures({ queues, connections: { pools, reads, syncReads, probe, reading } }: Shared): Figure[] {
  const named = (name: string, help: string, ...labels: string[]) => ({ name, help, labels });
  const ofQueues = (state: keyof QueueState) => () =>
    Object.entries(queues).map(([name, queue]): Values[number] => [[name], queue.state[state]]);
  const busyOrIdle = () =>
    Object.entries(pools).flatMap(([name, { totalCount, idleCount }]): Values => [
      [[name, 'busy'], totalCount - idleCount],
      [[name, 'idle'], idleCount],
    ]);
  const waiting = (): Values => [
    ...Object.entries(pools).map(([name, { waitingCount }]): Values[number] => [[name], waitingCount]),
    [['reads'], reads.waiting],
    [['sync'], syncReads.waiting],
  ];
  const isReady = async (): Promise<Values> => {
    const state = await withTimeout(probe.state(), READY_MS).catch(() => 'away');
    return [[[], state === 'ready' ? 1 : 0]];
  };
  const standby = (): Values => (reading.replica ? [[[], reading.replica.present === 'serving' ? 1 : 0]] : []);
  return [
    gauge(named('queue_running_jobs', 'Jobs that run now.', 'queue'), ofQueues('running')),
    gauge(named('queue_waiting_jobs', 'Jobs that wait.', 'queue'), ofQueues('waiting')),
    counter(named('queue_refused_jobs_total', 'Jobs that a queue has refused.', 'queue'), ofQueues('refused')),
    gauge(named('database_connections', 'Connections to PostgreSQL.', 'pool', 'state'), busyOrIdle),
    gauge(
      named(
        'database_waiting_statements',
        'Statements that wait for a connection or, on shared ones, for their answer.',
        'pool',
      ),
      waiting,
    ),
    gauge(
      named('database_ready', 'Whether the database answers, has all migrations and takes writes: 1 or 0.'),
      isReady,
    ),
    gauge(named('standby_ready', 'Whether the standby of DATABASE_REPLICA_URL serves reads: 1 or 0.'), standby),
  ];
}
