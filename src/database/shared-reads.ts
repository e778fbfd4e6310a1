import { Query, type QueryResultRow } from 'pg';
import { Unavailable } from '../base/errors';
import { withTimeout } from '../load/timeout';
import { gatherWrites } from './gathered-writes';
import { GuardedClient, isOutdated, type GuardedConfig } from './guarded-client';
import { PLAN_ONCE } from './pool';
import type { PreparedQuery, Runner } from './statement';

/**
 * Small reads on few connections that all requests share: pg sends each at once, without waiting for the answers to
 * those before it. Each is a transaction of its own. A slow statement belongs on the pool: here others would wait
 * behind it.
 */
export class SharedReads implements Runner {
  private readonly connections: SharedConnection[];
  private turn = 0;

  /** Without `prepare`, PostgreSQL plans each anew: for poolers that do not know prepared statements. */
  constructor(options: GuardedConfig, count: number, prepare: boolean) {
    this.connections = Array.from(
      { length: count },
      () => new SharedConnection({ ...options, pipeline: true }, prepare),
    );
  }

  run<Row>(query: PreparedQuery, values: unknown[]): Promise<Row[]> {
    return this.connection().run(query, values);
  }

  /**
   * One of the connections: what is asked on it is answered in the order in which it was asked. Each in turn; one that
   * stands still is passed over, and the request refused when all do.
   */
  connection(): Runner {
    this.turn = (this.turn + 1) % this.connections.length;
    const next = this.connections[this.turn];
    const moving = next?.standsStill === false ? next : this.connections.find((other) => !other.standsStill);
    if (moving) return moving;
    throw new Unavailable('overloaded', 'the database is slow to answer: try again shortly');
  }

  async close(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.close()));
  }
}

/** A connection whose present statement has taken this long. Most take less than a millisecond. */
const STANDS_STILL_MS = 2_000;

/** Opened when it is first needed, and again after it has broken. */
class SharedConnection implements Runner {
  private client: Promise<GuardedClient> | undefined;
  private newest: GuardedClient | undefined;
  private waiting = 0;
  /** When PostgreSQL began the statement that it answers next. */
  private movedAt = 0;

  constructor(
    private readonly options: GuardedConfig,
    private readonly prepare: boolean,
  ) {}

  get standsStill(): boolean {
    return this.waiting > 0 && performance.now() - this.movedAt > STANDS_STILL_MS;
  }

  async run<Row>(query: PreparedQuery, values: unknown[]): Promise<Row[]> {
    const client = await (this.client ??= this.connect());
    try {
      return await this.runOn<Row>(client, query, values);
    } catch (error) {
      if (!isOutdated(error)) throw error;
      // To read twice does no harm.
      this.replace(client);
      return this.runOn<Row>(await (this.client ??= this.connect()), query, values);
    }
  }

  /** Makes pg's Query itself: pg would first copy what it is given, which costs as much as asking. */
  private runOn<Row>(client: GuardedClient, { name, text }: PreparedQuery, values: unknown[]): Promise<Row[]> {
    if (this.waiting === 0) this.movedAt = performance.now();
    this.waiting += 1;
    return new Promise((resolve, reject) => {
      const query = new Query<Row & QueryResultRow>(text, values, (error, result) => {
        this.waiting -= 1;
        this.movedAt = performance.now();
        if (error) reject(error);
        else resolve(result.rows);
      });
      client.query(this.prepare ? Object.assign(query, { name }) : query);
    });
  }

  /** The next statement opens a new connection. What has been asked on this one in this turn is still answered. */
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
      // Not when an older connection ends: there is a new one by then.
      if (this.newest === client) this.client = undefined;
    };
    client.on('error', forget);
    client.on('end', forget);
    try {
      await client.connect();
      if (this.prepare) await client.query(PLAN_ONCE);
      gatherWrites(client.connection.stream);
      return client;
    } catch (error) {
      forget();
      void endOrDestroy(client);
      throw error;
    }
  }
}

/** A frozen database does not answer a goodbye. */
const END_MS = 1_000;

async function endOrDestroy(client: GuardedClient): Promise<void> {
  await withTimeout(client.end(), END_MS).catch(() => client.connection.stream.destroy());
}
