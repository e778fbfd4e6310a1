import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from '@prometheus-io/client';
import type { StatementObserver } from '../database/pool';
import type { Shown } from '../http/metrics-server';
import type { EndedRequest } from '../http/request-log';
import { withTimeout } from '../load/timeout';
import type { Services } from './services';

type Values = [labels: string[], value: number][];

/** A figure that is read when the metrics are asked for: its values, each with its labels. */
interface Figure {
  kind: 'counter' | 'gauge';
  name: string;
  help: string;
  labels: string[];
  read: (services: Services) => Values | Promise<Values>;
}

export interface Described {
  name: string;
  type: string;
  help: string;
  labels: string[];
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const CHARACTERS = [250, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
const DATABASE_MS = 2_000;

const FIGURES: Figure[] = [
  gauge('queue_running', 'Jobs that run now.', ['queue'], ofQueues('running')),
  gauge('queue_waiting', 'Jobs that wait for their turn.', ['queue'], ofQueues('waiting')),
  counter('queue_refused_total', 'Jobs that a queue has refused.', ['queue'], ofQueues('refused')),
  counter('limits_met_total', 'Requests that a limit has refused.', ['limit'], listed('limits')),
  counter('sms_total', 'Messages given to the SMS provider.', ['provider', 'outcome'], listed('sms')),
  gauge(
    'codes_last_day',
    'Codes that were sent in the last day and are judged by now, and those of them that were verified.',
    ['regions', 'result'],
    codes,
  ),
  counter(
    'spend_alarms_total',
    'Codes that the spend guard has judged in an alarm.',
    ['window', 'decision'],
    listed('alarms'),
  ),
  counter('captchas_total', 'Captchas that were made, and verdicts on answers.', ['result'], listed('captchas')),
  counter('uploads_total', 'Images that were stored, and uploads that were refused.', ['result'], listed('uploads')),
  counter('audit_missing_total', 'Security events that could not be written.', ['event'], listed('missingEvents')),
  counter('sweeps_total', 'Rounds of the clean-ups.', ['sweep', 'outcome'], listed('sweeps')),
  counter(
    'told_total',
    'Events that webhooks were told, and turns of users and groups that the messaging provider was told.',
    ['to', 'outcome'],
    listed('told'),
  ),
  gauge(
    'untold_seconds',
    'Age of the oldest change that is still to be told, or event that is still to be read for it.',
    ['to'],
    untold,
  ),
  gauge('webhooks', 'Webhooks that are told, fail, or are paused.', ['state'], webhooks),
  gauge('connections', 'Connections to PostgreSQL.', ['pool', 'state'], connections),
  gauge(
    'connections_waited_for',
    'Statements that wait for a connection or, on shared ones, for their answer.',
    ['pool'],
    waiting,
  ),
  gauge(
    'database_ready',
    'Whether the database answers, has all migrations and takes writes: 1 or 0.',
    [],
    databaseReady,
  ),
  gauge('standby_serves', 'Whether the standby of DATABASE_REPLICA_URL serves reads: 1 or 0.', [], standbyServes),
  gauge(
    'sync_horizon_age_seconds',
    'Time since this instance first saw the oldest transaction that is writing. Syncs deliver nothing newer.',
    [],
    horizonAge,
  ),
];

/** Metrics of an instance, for Prometheus. Each has the labels that docs/metrics.md lists; none is of a user. */
export class Metrics implements Shown {
  private readonly registry = new Registry();
  private readonly registers = [this.registry];

  private readonly requests = new Histogram({
    name: 'accounts_request_seconds',
    help: 'Time from the arrival of a request until its answer was sent.',
    labelNames: ['operation', 'outcome'],
    buckets: SECONDS,
    registers: this.registers,
  });
  private readonly refusals = new Counter({
    name: 'accounts_refusals_total',
    help: 'Requests that were refused or failed, by the reason in their answer.',
    labelNames: ['reason'],
    registers: this.registers,
  });
  private readonly streamed = new Histogram({
    name: 'accounts_streamed_characters',
    help: 'Length of the answers of syncs, exports and other long lists, before compression.',
    labelNames: ['operation'],
    buckets: CHARACTERS,
    registers: this.registers,
  });
  private readonly statements = new Histogram({
    name: 'accounts_statement_seconds',
    help: 'Time of statements in PostgreSQL, without the wait for a connection.',
    labelNames: ['connections'],
    buckets: SECONDS,
    registers: this.registers,
  });

  private services: Services | undefined;

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    for (const figure of FIGURES) this.add(figure);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  readonly request = ({ operation, outcome, reason, seconds, answered }: EndedRequest): void => {
    this.requests.observe({ operation, outcome }, seconds);
    if (reason !== undefined) this.refusals.inc({ reason });
    if (answered !== undefined) this.streamed.observe({ operation }, answered);
  };

  readonly statement: StatementObserver = (connections, seconds) => {
    this.statements.observe({ connections }, seconds);
  };

  /** Returns the metrics of the service itself, without those of Node, for docs/metrics.md. */
  described(): Described[] {
    const all = this.registry.getMetricsAsArray() as unknown as (Described & { labelNames: string[] })[];
    return all
      .filter(({ name }) => name.startsWith('accounts_'))
      .map(({ name, type, help, labelNames }) => ({ name, type, help, labels: labelNames }));
  }

  /** From now on, shows what these services count. */
  watch(services: Services): void {
    this.services = services;
  }

  private add({ kind, name, help, labels, read }: Figure): void {
    const options = { name: `accounts_${name}`, help, labelNames: labels, registers: this.registers };
    const metric: Gauge<string> | Counter<string> = new (kind === 'gauge' ? Gauge : Counter)({
      ...options,
      collect: async () => {
        const values = this.services ? await read(this.services) : [];
        metric.reset();
        // Without labels, it would begin again at 0.
        metric.remove({});
        for (const [words, value] of values)
          metric.inc(Object.fromEntries(labels.map((label, place) => [label, words[place] ?? ''])), value);
      },
    });
  }
}

function ofQueues(state: 'running' | 'waiting' | 'refused') {
  return ({ queues }: Services) =>
    Object.entries(queues).map(([name, queue]): Values[number] => [[name], queue.state[state]]);
}

function listed(name: keyof Services['counted']) {
  return ({ counted }: Services) =>
    counted[name]
      .flatMap((tally) => tally.entries())
      .map(([words, count]): Values[number] => [words.split(' '), count]);
}

function codes({ asked }: Services): Promise<Values> {
  return fromDatabase(asked.codes(), (rows) =>
    rows.flatMap(({ proven, sent, verified }): Values => {
      const regions = proven ? 'proven' : 'others';
      return [
        [[regions, 'sent'], sent],
        [[regions, 'verified'], verified],
      ];
    }),
  );
}

function standbyServes({ connections: { reading } }: Services): Values {
  return reading.replica ? [[[], reading.replica.present === 'serving' ? 1 : 0]] : [];
}

function connections({ connections: { pools } }: Services): Values {
  return Object.entries(pools).flatMap(([name, { totalCount, idleCount }]): Values => [
    [[name, 'busy'], totalCount - idleCount],
    [[name, 'idle'], idleCount],
  ]);
}

function waiting({ connections: { pools, reads, syncReads } }: Services): Values {
  const waited = Object.entries(pools).map(([name, { waitingCount }]) => [name, waitingCount] as const);
  const shared = [['reads', reads.waiting] as const, ['sync', syncReads.waiting] as const];
  return [...waited, ...shared].map(([name, count]) => [[name], count]);
}

async function databaseReady({ connections: { probe } }: Services): Promise<Values> {
  const state = await withTimeout(probe.state(), DATABASE_MS).catch(() => 'away');
  return [[[], state === 'ready' ? 1 : 0]];
}

function horizonAge({ asked }: Services): Promise<Values> {
  return fromDatabase(asked.horizonAge(), (seconds) => [[[], seconds]]);
}

function untold({ asked }: Services): Promise<Values> {
  return fromDatabase(Promise.all([asked.messaging(), asked.webhooks()]), ([messaging, states]) => {
    const told = states.filter(({ state }) => state !== 'paused').map(({ seconds }) => seconds);
    return [
      [['messaging'], messaging],
      [['webhooks'], Math.max(0, ...told)],
    ];
  });
}

function webhooks({ asked }: Services): Promise<Values> {
  const counted = (states: { state: string; count: number }[], name: string) =>
    states.find(({ state }) => state === name)?.count ?? 0;
  return fromDatabase(asked.webhooks(), (states) =>
    ['told', 'failing', 'paused'].map((name): Values[number] => [[name], counted(states, name)]),
  );
}

/** Returns no values while the database does not answer. */
function fromDatabase<T>(answer: Promise<T>, values: (answer: T) => Values): Promise<Values> {
  return withTimeout(answer, DATABASE_MS).then(values, () => []);
}

function gauge(name: string, help: string, labels: string[], read: Figure['read']): Figure {
  return { kind: 'gauge', name, help, labels, read };
}

function counter(name: string, help: string, labels: string[], read: Figure['read']): Figure {
  return { kind: 'counter', name, help, labels, read };
}
