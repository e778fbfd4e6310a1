import { isLostConnection, Unreachable } from './outage';

const TICK_MS = 500;
/** Time from the beginning of an outage in which requests wait for its end. A planned switchover takes two to four seconds. */
const WAIT_MS = 5_000;
/** Pause between two attempts to connect while requests wait. */
const TRY_MS = 100;
/** Maximum requests that wait, since each keeps its input in memory. */
const MOST_WAITING = 1_000;
/**
 * Longer than `statement_timeout`, so that PostgreSQL ends a slow statement first and only broken connections are
 * silent for this long. No statement may set another limit, unless its connections have a patience that covers it.
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
  /** Requests that wait for a connection, oldest first. Each is told whether to try again. */
  private waiting: ((again: boolean) => void)[] = [];
  private readonly trying: NodeJS.Timeout;
  private isClosed = false;

  /**
   * `patience` is a factor of the time limits of all connections that it watches. `waitMs` is 0 where requests have
   * another database to turn to.
   */
  constructor(
    private readonly listener: Listener,
    readonly patience = 1,
    private readonly waitMs = WAIT_MS,
  ) {
    this.trying = setInterval(() => this.tryAgain(performance.now()), TRY_MS).unref();
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

  /**
   * Connects, and at the beginning of an outage again until it is over: a switchover then costs requests time only. One
   * waiting request tries at a time, and the first connection lets all of them go on.
   */
  async reach<T>(connect: () => Promise<T>): Promise<T> {
    for (const begun = performance.now(); ;)
      try {
        return await connect();
      } catch (error) {
        if (!isLostConnection(error)) throw error;
        if (!this.isPatient(begun) || !(await this.nextTry())) throw new Unreachable(error);
      }
  }

  /** Whether requests wait, and send again what broke, instead of turning to another database. */
  get waits(): boolean {
    return this.waitMs > 0;
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    clearInterval(this.trying);
    this.release(false);
  }

  private answered(): void {
    if (this.awaySince === undefined) return;
    const awayMs = performance.now() - this.awaySince;
    this.awaySince = undefined;
    this.release(true);
    this.listener.back(awayMs);
  }

  /** Returns whether something that began then is recent enough to wait for. */
  private isPatient(begun: number, now = performance.now()): boolean {
    return now - begun < this.patience * this.waitMs;
  }

  /** Resolves when a request may try to connect again, or with false when it must not wait any longer. */
  private async nextTry(): Promise<boolean> {
    // A pool whose connections are all busy is not an outage.
    if (this.isClosed || this.awaySince === undefined || !this.isPatient(this.awaySince)) return false;
    if (this.waiting.length >= MOST_WAITING) return false;
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private tryAgain(now: number): void {
    if (this.awaySince !== undefined && this.isPatient(this.awaySince, now)) this.waiting.shift()?.(true);
    else this.release(false);
  }

  private release(again: boolean): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resume of waiting) resume(again);
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
