const TICK_MS = 500;
/**
 * Longer than `statement_timeout`, so that PostgreSQL ends a slow statement first and only broken connections are
 * silent for this long. No statement may set another limit.
 */
export const SILENCE_MS = 5_000;

/** A connection that can be watched. */
export interface Watched {
  readonly readyForQuery: boolean;
  /** Milliseconds since the last byte of an answer that is still due. `forgive` resets this to now. */
  silence(now: number, forgive: boolean): number;
  cut(cause: Error): void;
  once(event: 'end', listener: () => void): unknown;
}

export interface Listener {
  /** Called once when the database stops answering, with the first error. */
  away(cause: Error): void;
  /** Called once when it answers again. */
  back(awayMs: number): void;
}

/** Reason for cutting a connection, with a code that the error handler treats as an outage. */
export class DatabaseSilent extends Error {
  override readonly name = 'DatabaseSilent';
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('the database does not answer');
  }
}

/**
 * Watches every connection to the database, and cuts one that owes an answer and sends nothing for SILENCE_MS. It cuts
 * all idle connections too: they use the same network, and the next request would wait for them in vain.
 */
export class ConnectionWatch {
  private readonly clients = new Set<Watched>();
  private readonly timer: NodeJS.Timeout;
  private lookedAt = performance.now();
  private awaySince: number | undefined;

  /** `patience` is a factor of the time limits of all connections that it watches. */
  constructor(
    private readonly listener: Listener,
    readonly patience = 1,
  ) {
    this.timer = setInterval(() => this.look(performance.now()), TICK_MS).unref();
  }

  /** Watches a connected client until it ends. */
  add(client: Watched): void {
    this.clients.add(client);
    client.once('end', () => this.clients.delete(client));
    this.answered();
  }

  /** Records that a connection could not be made. */
  failed(cause: Error): void {
    if (this.awaySince !== undefined) return;
    this.awaySince = performance.now();
    this.listener.away(cause);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private answered(): void {
    if (this.awaySince === undefined) return;
    const awayMs = performance.now() - this.awaySince;
    this.awaySince = undefined;
    this.listener.back(awayMs);
  }

  private look(now: number): void {
    // This process was paused: answers may have arrived that it has not read yet.
    const wasAsleep = now - this.lookedAt > 2 * TICK_MS;
    this.lookedAt = now;
    const silent = [...this.clients].filter((client) => client.silence(now, wasAsleep) >= this.patience * SILENCE_MS);
    if (silent.length === 0) return;
    const cause = new DatabaseSilent();
    this.failed(cause);
    for (const client of this.clients) if (client.readyForQuery || silent.includes(client)) client.cut(cause);
  }
}
