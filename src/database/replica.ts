import { withTimeout } from '../load/timeout';
import type { Listener } from './connection-watch';
import { statement, type Source } from './statement';

/** A server, by its connections. */
export interface Server {
  /** For small reads, whose plans are kept. */
  reads: Source;
  /** For pages of long lists. */
  db: Source;
}

/** Runs the reads of one answer. */
export type ReadAt = <T>(ask: (server: Server) => Promise<T>) => Promise<T>;

/** Whether the standby serves, or else why the primary serves in its place. */
export const REPLICA_STATES = ['serving', 'away', 'behind', 'not a standby'] as const;
export type ReplicaState = (typeof REPLICA_STATES)[number];

/** How far a server has come in the log of writes, in bytes. */
export interface Position {
  position: number;
  isStandby: boolean;
}

/** Columns of a Position. A primary that has become a standby has one too. */
export const POSITION = `
  (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - '0/0')::float8 AS position,
  pg_is_in_recovery() AS "isStandby"`;

const positionOf = statement<Position>('position-of-server', `SELECT ${POSITION}`);

/** Told when the standby begins to serve, and when it ends. */
export type ReplicaListener = (state: ReplicaState) => void;

const EVERY_MS = 1_000;
const ANSWER_MS = 2_000;

/** Standby that serves reads while it is close enough behind the primary. */
export class Replica implements Listener {
  private state: ReplicaState | undefined;
  private readonly timer: NodeJS.Timeout;
  private checking: Promise<void> | undefined;

  constructor(
    private readonly servers: { primary: Server; standby: Server },
    private readonly mostBehind: number,
    private readonly listener: ReplicaListener,
  ) {
    this.timer = setInterval(() => this.check(), EVERY_MS).unref();
    this.check();
  }

  get present(): ReplicaState {
    return this.state ?? 'away';
  }

  /** Its connections tell that it does not answer. */
  away(): void {
    this.become('away');
  }

  back(): void {
    this.check();
  }

  /**
   * Returns where the next answer reads. From the first failure of the standby on it reads at the primary, which has all
   * that the standby has shown.
   */
  readAt(): ReadAt {
    const { primary, standby } = this.servers;
    let server = this.state === 'serving' ? standby : primary;
    return async (ask) => {
      if (server === primary) return ask(primary);
      try {
        return await ask(standby);
      } catch {
        // It is away, had to apply a conflicting change, or lacks the newest migration.
        server = primary;
        return ask(primary);
      }
    };
  }

  /**
   * Asks the standby something, and the primary for its position at the same time, which may find the session too.
   * Returns the standby's answer if it serves.
   */
  async beside<Row extends Position>(
    primary: Source,
    ask: (standby: Source) => Promise<Row[]>,
  ): Promise<Row | undefined> {
    const asked = withTimeout(ask(this.servers.standby.reads), ANSWER_MS).catch(() => []);
    const [here] = await positionOf(primary, {});
    const [there] = await asked;
    return here && this.compare(here, there) ? there : undefined;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private check(): void {
    const ask = () => this.beside(this.servers.primary.reads, (standby) => positionOf(standby, {}));
    // If the primary is away, nothing is learned.
    this.checking ??= ask().then(
      () => (this.checking = undefined),
      () => (this.checking = undefined),
    );
  }

  private compare(primary: Position, standby: Position | undefined): boolean {
    if (standby === undefined) this.become('away');
    else if (!standby.isStandby) this.become('not a standby');
    else this.become(primary.position - standby.position > this.mostBehind ? 'behind' : 'serving');
    return this.state === 'serving';
  }

  private become(state: ReplicaState): void {
    if (state === this.state) return;
    this.state = state;
    this.listener(state);
  }
}

/** Where services read. */
export interface Reading {
  atPrimary: ReadAt;
  /** Returns where the next answer reads. */
  readAt: () => ReadAt;
  replica: Replica | undefined;
}
