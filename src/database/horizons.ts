import type { Logger } from 'pino';
import { Unavailable } from '../base/errors';
import { withTimeout } from '../load/timeout';
import { ConnectionWatch } from './connection-watch';
import { connectionOptions } from './pool';
import { SharedReads } from './shared-reads';

const SERVERS = `
  SELECT nodename || ':' || nodeport FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND groupid <> 0`;

const HORIZON = 'SELECT sync_server_horizon($1::bigint) AS horizon';
const ofFirst = { name: 'horizon-of-first-server', text: `${HORIZON}, ARRAY(${SERVERS}) AS others` };
const ofOther = { name: 'horizon-of-server', text: HORIZON };

const EVERY_MS = 100;
const ANSWER_MS = 2_000;

interface Server {
  reads: SharedReads;
  watch: ConnectionWatch;
}

/**
 * Asks each server of a Citus again and again for its horizon, and keeps the least. An older one is always right, so that
 * syncs need not ask. The first server tells of the others with its answer: a server that joins later has no version
 * below that. Begins when first asked, so never where all is on one server.
 */
export class Horizons {
  private newest: number | undefined;
  private readonly apartMicros: number;
  private readonly servers = new Map<string, Server>();
  private asking: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    private readonly url: string,
    clocksApartMs: number,
    private readonly logger: Logger,
  ) {
    this.apartMicros = clocksApartMs * 1_000;
  }

  /** Returns the version up to which any later statement sees all writes, on all servers. */
  async present(): Promise<number> {
    if (this.newest === undefined) await (this.asking ??= this.goOn());
    if (this.newest !== undefined) return this.newest;
    throw new Unavailable('overloaded', 'a server of the database does not answer: try again shortly');
  }

  /** Returns the seconds by which the horizon is behind the clock. */
  async seconds(): Promise<number> {
    return Date.now() / 1_000 - (await this.present()) / 1e6;
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    for (const { reads, watch } of this.servers.values()) {
      watch.close();
      void reads.close();
    }
  }

  private async goOn(): Promise<void> {
    // A server that does not answer holds all horizons back; its watch has told.
    await withTimeout(this.ask(), ANSWER_MS).catch(() => undefined);
    if (!this.isClosed) this.timer = setTimeout(() => (this.asking = this.goOn()), EVERY_MS).unref();
  }

  private async ask(): Promise<void> {
    const values = [this.apartMicros];
    const [first] = await this.serverAt(new URL(this.url).host).run<{ horizon: number; others: string[] }>(
      ofFirst,
      values,
    );
    if (first === undefined) throw new Error('the first server told no horizon');
    const asked = first.others.map((address) => this.serverAt(address).run<{ horizon: number }>(ofOther, values));
    const others = (await Promise.all(asked)).flat();
    const least = Math.min(first.horizon, ...others.map(({ horizon }) => horizon));
    this.newest = Math.max(least, this.newest ?? 0);
  }

  private serverAt(address: string): SharedReads {
    const known = this.servers.get(address);
    if (known) return known.reads;
    const url = new URL(this.url);
    url.host = address;
    const server = this.open(url.href, address);
    this.servers.set(address, server);
    return server.reads;
  }

  private open(url: string, address: string): Server {
    const watch = new ConnectionWatch({
      away: (cause) => this.logger.error({ err: cause, address }, 'a server of the database is unavailable'),
      back: (awayMs) =>
        this.logger.warn({ awayMs: Math.round(awayMs), address }, 'a server of the database is available again'),
    });
    const usage = { prepare: true, isDistributed: true };
    return { reads: new SharedReads({ ...connectionOptions(url), watch }, 1, usage), watch };
  }
}
