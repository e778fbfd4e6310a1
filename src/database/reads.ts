import type { Knex } from 'knex';
import { Query, type QueryConfig, type QueryResultRow } from 'pg';
import { codeOf, Unavailable } from '../errors';
import { withinPatience } from '../patience';
import { GuardedClient, type GuardedConfig } from './guarded-client';

/** A read that Knex has compiled, by the values of its place holders; on one of the connections, or on that one. */
export type Read<Row, Name extends string> = (values: Record<Name, unknown>, on?: Place) => Promise<Row[]>;

/** One of the connections: reads that are asked on it are answered in their order, each after those before it. */
export type Place = Pick<SharedConnection, 'run'>;

/**
 * Small reads on few connections that all requests share: pg sends each at once, without waiting for the answers to those
 * before it. Each is a transaction of its own. What may take long belongs on the pool: here others would wait behind it.
 */
export class Reads {
  private readonly connections: SharedConnection[];
  private turn = 0;

  /** Without `named`, PostgreSQL plans each anew: for poolers that do not know prepared statements. */
  constructor(
    options: GuardedConfig,
    count: number,
    private readonly named: boolean,
  ) {
    this.connections = Array.from({ length: count }, () => new SharedConnection({ ...options, pipeline: true }, named));
  }

  /** Compiles a query once, under a name of its own. Its place holders are bindings that begin with a colon. */
  prepare<Row, Name extends string = never>(name: string, query: Knex.QueryBuilder | Knex.Raw): Read<Row, Name> {
    const { sql, bindings } = query.toSQL().toNative();
    const statement = this.named ? { name, text: sql } : { text: sql };
    return async (values, on = this.place()) => {
      const given: Record<string, unknown> = values;
      const filled = bindings.map((binding) => (isPlaceHolder(binding) ? given[binding.slice(1)] : binding));
      return on.run<Row>({ ...statement, values: filled });
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.close()));
  }

  /** The next connection whose turn it is; one that stands still is passed over, and refused when all do. */
  place(): Place {
    this.turn = (this.turn + 1) % this.connections.length;
    const next = this.connections[this.turn];
    const moving = next?.standsStill === false ? next : this.connections.find((other) => !other.standsStill);
    if (moving) return moving;
    throw new Unavailable('the database is slow to answer: try again shortly');
  }
}

function isPlaceHolder(binding: unknown): binding is string {
  return typeof binding === 'string' && binding.startsWith(':');
}

/**
 * A named statement that no longer is what it was: a migration has changed the type of a column it returns, or PostgreSQL was
 * kept from preparing it. Another connection prepares it anew, and a read does no harm twice.
 */
const OUTDATED = new Set(['0A000', '26000']);

/** What waits behind a statement that has taken so long would wait too long itself: most take less than a millisecond. */
const STANDS_STILL_MS = 2_000;

/** Opened when it is first needed, and again after it has broken. */
class SharedConnection {
  private client: Promise<GuardedClient> | undefined;
  private newest: GuardedClient | undefined;
  private gathering = false;
  private waiting = 0;
  /** When the statement that is to be answered next came to be that. */
  private movedAt = 0;

  constructor(
    private readonly options: GuardedConfig,
    private readonly named: boolean,
  ) {}

  get standsStill(): boolean {
    return this.waiting > 0 && performance.now() - this.movedAt > STANDS_STILL_MS;
  }

  async run<Row>(query: QueryConfig): Promise<Row[]> {
    const client = await (this.client ??= this.connect());
    try {
      return await this.runOn<Row>(client, query);
    } catch (error) {
      if (!OUTDATED.has(codeOf(error) ?? '')) throw error;
      this.leave(client);
      return this.runOn<Row>(await (this.client ??= this.connect()), query);
    }
  }

  /** The query is made here: pg copies what it makes one from, which takes as long as all else that it does to ask it. */
  private runOn<Row>(client: GuardedClient, { name, text, values }: QueryConfig): Promise<Row[]> {
    this.gather(client);
    if (this.waiting === 0) this.movedAt = performance.now();
    this.waiting += 1;
    return new Promise((resolve, reject) => {
      const query = new Query<Row & QueryResultRow>(text, values, (error, result) => {
        this.waiting -= 1;
        this.movedAt = performance.now();
        if (error) reject(error);
        else resolve(result.rows);
      });
      client.query(Object.assign(query, { name }));
    });
  }

  /** What has been asked on it, or is about to be in this turn, is still answered. */
  private leave(client: GuardedClient): void {
    if (this.newest !== client) return;
    this.client = undefined;
    setImmediate(() => void client.end().catch(() => undefined));
  }

  /** What this turn of the event loop asks for leaves in one write. */
  private gather({ connection: { stream } }: GuardedClient): void {
    if (this.gathering) return;
    this.gathering = true;
    stream.cork();
    setImmediate(() => {
      this.gathering = false;
      stream.uncork();
    });
  }

  async close(): Promise<void> {
    const client = await this.client?.catch(() => undefined);
    if (client) await ended(client);
  }

  private async connect(): Promise<GuardedClient> {
    const client = new GuardedClient(this.options);
    this.newest = client;
    const forget = () => {
      // What an older connection has to say at its end does not concern the one after it.
      if (this.newest === client) this.client = undefined;
    };
    client.on('error', forget);
    client.on('end', forget);
    try {
      await client.connect();
      // Each is a look-up by its key: planning it anew for every value would cost more than running it.
      if (this.named) await client.query('SET plan_cache_mode = force_generic_plan');
      return client;
    } catch (error) {
      forget();
      void ended(client);
      throw error;
    }
  }
}

/** How long a database that has frozen is given to say goodbye. */
const FAREWELL_MS = 1_000;

async function ended(client: GuardedClient): Promise<void> {
  await withinPatience(client.end(), FAREWELL_MS).catch(() => client.connection.stream.destroy());
}
