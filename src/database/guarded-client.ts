import { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { codeOf } from '../base/errors';
import type { ConnectionWatch, Watched } from './connection-watch';

/**
 * Depends on pg 8: `readyForQuery` and getTransactionStatus() report the last state that PostgreSQL sent; an 'error' of
 * `connection` fails every query on it and keeps pools from reusing it; an 'errorMessage' is PostgreSQL's refusal of a
 * statement. test/unit/guarded-client.test.ts fails when this changes.
 */
export interface GuardedConfig extends ClientConfig {
  watch: ConnectionWatch;
}

/**
 * Returns whether a prepared statement would fail on this connection for ever: a migration has changed the type of a
 * column, or PostgreSQL failed to prepare it. On another connection it is prepared again.
 */
export function isOutdated(error: unknown): boolean {
  return ['0A000', '26000'].includes(codeOf(error) ?? '');
}

/** A connection that the watch can cut, and that knows whether the next request may use it. */
export class GuardedClient extends Client implements Watched {
  declare readonly readyForQuery: boolean;
  private readonly watch: ConnectionWatch;
  private hasOutdated = false;
  private bytesHeard = 0;
  private heardAt = performance.now();

  constructor(config: GuardedConfig) {
    super(config);
    this.watch = config.watch;
    // Without a listener, a broken connection would end the process. The current query fails by itself.
    this.on('error', () => undefined);
    this.connection.on('errorMessage', (refusal: unknown) => {
      if (isOutdated(refusal)) this.hasOutdated = true;
    });
  }

  override connect(): Promise<Client>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<Client> | void {
    const connected = super.connect().then(
      () => this.watch.add(this),
      (error: Error) => {
        this.watch.failed(error);
        throw error;
      },
    );
    if (!callback) return connected.then(() => this);
    connected.then(
      () => callback(null),
      (error: Error) => callback(error),
    );
  }

  /** Whether no statement is running, no transaction is open, and its prepared statements are valid. */
  get isClean(): boolean {
    return this.readyForQuery && this.getTransactionStatus() === 'I' && !this.hasOutdated;
  }

  silence(now: number, forgive: boolean): number {
    const { bytesRead } = this.socket;
    if (forgive || this.readyForQuery || bytesRead !== this.bytesHeard) this.heardAt = now;
    this.bytesHeard = bytesRead;
    return now - this.heardAt;
  }

  /**
   * Fails the waiting statements, and ends the connection. Uses a TCP reset where possible, which drops bytes not sent
   * yet: a statement that was given up must not run later.
   */
  cut(cause: Error): void {
    this.connection.emit('error', cause);
    try {
      this.socket.resetAndDestroy();
    } catch {
      // A TLS or local socket does not support a reset.
      this.socket.destroy();
    }
  }

  private get socket(): Socket {
    const { stream } = this.connection;
    if (!(stream instanceof Socket)) throw new Error('pg no longer connects through a socket');
    return stream;
  }
}
