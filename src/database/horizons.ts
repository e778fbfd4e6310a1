import type { Logger } from 'pino';
import { Unavailable } from '../base/errors';
import { withTimeout } from '../load/timeout';
import { ConnectionWatch } from './connection-watch';
import { connectionOptions } from './pool';
import { SharedReads } from './shared-reads';
import type { PreparedQuery, Usage } from './statement';

const SERVERS = `
  SELECT nodename || ':' || nodeport FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND groupid <> 0`;

const ADDRESSES = { name: 'other-servers', text: `SELECT ARRAY(${SERVERS}) AS others` };
const HORIZON = { name: 'horizon-of-server', text: 'SELECT sync_server_horizon($1::bigint) AS version' };
const FIRST_EVENT = { name: 'first-ungathered-event', text: 'SELECT first_ungathered_event() AS version' };

/** Age up to which a horizon is given out again. */
const FRESH_MS = 100;
/** Longest wait for a newer horizon where an older one is known. */
const NEWER_MS = 200;
const ANSWER_MS = 2_000;

interface Server {
  reads: SharedReads;
  watch: ConnectionWatch;
}

/**
 * Asks each server of a Citus for its horizon when somebody needs it, and keeps the least. An older one is always right:
 * its reader is only sent something twice. A sync does not wait long for a server that does not answer.
 */
export class Horizons {
  private newest: number | undefined;
  private askedAt = -Infinity;
  private readonly apartMicros: number;
  private readonly servers = new Map<string, Server>();
  private asking: Promise<void> | undefined;

  constructor(
    private readonly url: string,
    clocksApartMs: number,
    private readonly logger: Logger,
    private readonly usage: Usage,
  ) {
    this.apartMicros = clocksApartMs * 1_000;
  }

  /** Whether there are several servers. A single one knows its horizon itself. */
  get areSeveral(): boolean {
    return this.usage.isDistributed ?? false;
  }

  /** Returns the version up to which any later statement sees all writes, on all servers. */
  async present(): Promise<number> {
    if (performance.now() - this.askedAt >= FRESH_MS) await this.renew();
    if (this.newest !== undefined) return this.newest;
    throw new Unavailable('overloaded', 'a server of the database does not answer: try again shortly');
  }

  /** Returns the seconds by which the horizon is behind the clock. */
  async seconds(): Promise<number> {
    return Date.now() / 1_000 - (await this.present()) / 1e6;
  }

  /** Returns the version of the first event that its readers do not see yet, on any of several servers. */
  async firstUngathered(): Promise<number | undefined> {
    if (!this.areSeveral) return undefined;
    const versions = await withTimeout(this.askAll(FIRST_EVENT, []), ANSWER_MS);
    const found = versions.filter((version) => version !== null);
    return found.length > 0 ? Math.min(...found) : undefined;
  }

  close(): void {
    for (const { reads, watch } of this.servers.values()) {
      watch.close();
      void reads.close();
    }
  }

  /** Asks once for all who wait. */
  private async renew(): Promise<void> {
    // A server that does not answer holds all horizons back; its watch has told.
    this.asking ??= withTimeout(this.ask(), ANSWER_MS)
      .catch(() => undefined)
      .finally(() => (this.asking = undefined));
    if (this.newest === undefined) await this.asking;
    else await withTimeout(this.asking, NEWER_MS).catch(() => undefined);
  }

  private async ask(): Promise<void> {
    const begun = performance.now();
    const versions = await this.askAll(HORIZON, [this.apartMicros]);
    this.newest = Math.max(this.newest ?? 0, Math.min(...versions.map(Number)));
    this.askedAt = begun;
  }

  /** The first server tells of the others: one that joins later has no version below what is asked for then. */
  private async askAll(query: PreparedQuery, values: unknown[]): Promise<(number | null)[]> {
    const ask = (server: SharedReads) => server.run<{ version: number | null }>(query, values);
    const first = this.serverAt(new URL(this.url).host);
    const [own, [known]] = await Promise.all([ask(first), first.run<{ others: string[] }>(ADDRESSES, [])]);
    if (known === undefined) throw new Error('the first server told of no others');
    const others = await Promise.all(known.others.map((address) => ask(this.serverAt(address))));
    return [...own, ...others.flat()].map(({ version }) => version);
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
