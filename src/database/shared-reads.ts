import { Query, type QueryResultRow } from 'pg';
import { Unavailable } from '../base/errors';
import { withTimeout } from '../load/timeout';
import { gatherWrites } from './gathered-writes';
import { GuardedClient, isOutdated, type GuardedConfig } from './guarded-client';
import { isCut } from './outage';
import { PLAN_ONCE, type Took } from './pool';
import type { PreparedQuery, Runner, Usage } from './statement';

/**
 * Small reads on a few connections that all requests share: pg sends each at once, without waiting for earlier answers.
 * Each is its own transaction. Slow statements belong on the pool: here they would delay all others.
 */
export class SharedReads implements Runner {
  private readonly connections: SharedConnection[];
  private index = 0;

  constructor(
    options: GuardedConfig,
    count: number,
    readonly usage: Usage,
    took: Took = () => undefined,
  ) {
    this.connections = Array.from(
      { length: count },
      () => new SharedConnection({ ...options, pipeline: true }, usage, took),
    );
  }

  run<Row>(query: PreparedQuery, values: unknown[]): Promise<Row[]> {
    return this.connection().run(query, values);
  }

  /**
   * Returns the next connection in turn, which answers in the order of the questions. Skips a connection that is stuck,
   * and refuses the request when all are.
   */
  connection(): Runner {
    this.index = (this.index + 1) % this.connections.length;
    const next = this.connections[this.index];
    const moving = next?.isStuck === false ? next : this.connections.find((other) => !other.isStuck);
    if (moving) return moving;
    throw new Unavailable('overloaded', 'the database is slow to answer: try again shortly');
  }

  /** Statements that wait for an answer. */
  get waiting(): number {
    return this.connections.reduce((sum, { waiting }) => sum + waiting, 0);
  }

  async close(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.close()));
  }
}

/** Time of the current statement after which a connection counts as stuck. Most take less than a millisecond. */
const STUCK_MS = 2_000;

/** Connection that is opened when first needed, and again after it broke. */
class SharedConnection implements Runner {
  private client: Promise<GuardedClient> | undefined;
  private newest: GuardedClient | undefined;
  waiting = 0;
  /** Time when PostgreSQL began the statement that it answers next. */
  private movedAt = 0;

  constructor(
    private readonly options: GuardedConfig,
    readonly usage: Usage,
    private readonly took: Took,
  ) {}

  get isStuck(): boolean {
    return this.waiting > 0 && performance.now() - this.movedAt > this.options.watch.patience * STUCK_MS;
  }

  async run<Row>(query: PreparedQuery, values: unknown[]): Promise<Row[]> {
    const client = await this.open();
    try {
      return await this.runOn<Row>(client, query, values);
    } catch (error) {
      if (!isOutdated(error) && !(isCut(error) && this.options.watch.waits)) throw error;
      // Reading twice does no harm.
      this.replace(client);
      return this.runOn<Row>(await this.open(), query, values);
    }
  }

  private open(): Promise<GuardedClient> {
    return this.options.watch.reach(() => (this.client ??= this.connect()));
  }

  private async runOn<Row>(client: GuardedClient, query: PreparedQuery, values: unknown[]): Promise<Row[]> {
    const begun = performance.now();
    if (this.waiting === 0) this.movedAt = begun;
    this.waiting += 1;
    let failure: unknown;
    try {
      return await this.ask<Row>(client, query, values);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      // Not where pg calls back, which does not belong to a request any more.
      this.took((performance.now() - begun) / 1_000, query.name, failure);
    }
  }

  /** Makes pg's Query itself: pg would first copy its arguments, which costs as much as the query. */
  private ask<Row>(client: GuardedClient, { name, text }: PreparedQuery, values: unknown[]): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      const query = new Query<Row & QueryResultRow>(text, values, (error, result) => {
        this.waiting -= 1;
        this.movedAt = performance.now();
        if (error) reject(error);
        else resolve(result.rows);
      });
      client.query(this.usage.prepare ? Object.assign(query, { name }) : query);
    });
  }

  /** Makes the next statement open a new connection. Statements sent on this one in this turn are still answered. */
  private replace(client: GuardedClient): void {
    if (this.newest !== client) return;
    this.client = undefined;
    setImmediate(() => void client.end().catch(() => undefined));
  }

  async close(): Promise<void> {
    const client = await this.client?.catch(() => undefined);
    if (client) await endOrDestroy(client);
  }

  private async connect(): Promise<GuardedClient> {
    const client = new GuardedClient(this.options);
    this.newest = client;
    const forget = () => {
      // An older connection that ends does not matter: there is a new one by then.
      if (this.newest === client) this.client = undefined;
    };
    client.on('error', forget);
    client.on('end', forget);
    try {
      await client.connect();
      if (this.usage.prepare && this.usage.isDistributed === false) await client.query(PLAN_ONCE);
      gatherWrites(client.connection.stream);
      return client;
    } catch (error) {
      forget();
      void endOrDestroy(client);
      throw error;
    }
  }
}

/** Longest wait for a connection to close, since a frozen database does not answer. */
const END_MS = 1_000;

async function endOrDestroy(client: GuardedClient): Promise<void> {
  await withTimeout(client.end(), END_MS).catch(() => client.connection.stream.destroy());
}
