import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from '@prometheus-io/client';
import type { StatementObserver } from '../database/pool';
import type { Figure, Values } from '../foundation/part';
import type { MetricsSource } from '../http/metrics-server';
import type { EndedRequest } from '../http/request-log';
import { withTimeout } from '../load/timeout';
import { ownFigures, type Shared } from './own-figures';

export interface Described {
  name: string;
  type: string;
  help: string;
  labels: string[];
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const CHARACTERS = [250, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
const READ_MS = 2_500;

/** Metrics of an instance, for Prometheus. Each has the labels that docs/metrics.md lists; none is of a user. */
export class Metrics implements MetricsSource {
  private readonly registry = new Registry();
  private readonly registers = [this.registry];

  private readonly requests = new Histogram({
    name: 'accounts_request_duration_seconds',
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
    name: 'accounts_streamed_answer_characters',
    help: 'Length of the answers of syncs, exports and other long lists, before compression.',
    labelNames: ['operation'],
    buckets: CHARACTERS,
    registers: this.registers,
  });
  private readonly statements = new Histogram({
    name: 'accounts_statement_duration_seconds',
    help: 'Time of statements in PostgreSQL, without the wait for a connection.',
    labelNames: ['connections'],
    buckets: SECONDS,
    registers: this.registers,
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
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

  /** From now on, shows what the features of these services count. */
  watch(services: Shared & { parts: { figures: Figure[] } }): void {
    const figures = [...ownFigures(services), ...services.parts.figures];
    for (const name of new Set(figures.map((one) => one.name))) this.add(figures.filter((one) => one.name === name));
  }

  /** Adds a figure, whose values may come from several features. */
  private add([first, ...others]: Figure[]): void {
    if (!first) return;
    const { kind, name, help, labels } = first;
    const options = { name: `accounts_${name}`, help, labelNames: labels, registers: this.registers };
    const metric: Gauge<string> | Counter<string> = new (kind === 'gauge' ? Gauge : Counter)({
      ...options,
      collect: async () => {
        const values = (await Promise.all([first, ...others].map(valuesOf))).flat();
        metric.reset();
        // Without labels, it would begin again at 0.
        metric.remove({});
        for (const [words, value] of values)
          metric.inc(Object.fromEntries(labels.map((label, index) => [label, words[index] ?? ''])), value);
      },
    });
  }
}

/** Returns no values while the database does not answer. */
async function valuesOf({ read }: Figure): Promise<Values> {
  return withTimeout(Promise.resolve().then(read), READ_MS).catch(() => []);
}
