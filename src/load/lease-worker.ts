import { setTimeout as sleep } from 'node:timers/promises';
import { Rounds } from './rounds';

/**
 * Writes down how far the work under a lease has come. Tries again while that fails, so that the rest does not wait for
 * the end of the lease after an outage of the database.
 */
export type Note = <T>(write: () => Promise<T>) => Promise<T>;

interface Deps<Lease> {
  /** Comes before each look for work. Returns whether it has more to do. */
  before?: () => Promise<boolean>;
  /** Leases some rows, so that no other instance takes them. */
  take: (most: number) => Promise<Lease[]>;
  /** Deals with its failures itself. */
  work: (lease: Lease, note: Note) => Promise<void>;
  /** Called for each failure to look for work. */
  failed: (error: unknown) => void;
  /** Time after which another instance may take the row. */
  leaseMs: number;
}

/** Leases at an instance. */
const MOST_AT_ONCE = 10;
/** Pause until a note is tried again, when it has failed. */
const NOTE_AGAIN_MS = 300;

/** Leases rows that instances share, and works on some at once. */
export class LeaseWorker<Lease> {
  isClosed = false;
  private readonly running = new Set<Promise<void>>();
  private readonly rounds: Rounds;

  constructor(
    private readonly deps: Deps<Lease>,
    pauseMs: number,
  ) {
    this.rounds = new Rounds(() => this.round(), pauseMs, deps.failed);
  }

  begin(): void {
    this.rounds.begin();
  }

  /** Takes none any more. Resolves when those that have begun have ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.rounds.end();
    await Promise.all(this.running);
  }

  /** Does all that are due now. */
  async now(): Promise<void> {
    await this.rounds.now();
    while (this.running.size > 0) {
      await Promise.all(this.running);
      await this.rounds.now();
    }
  }

  private async note<T>(write: () => Promise<T>): Promise<T> {
    for (const end = performance.now() + this.deps.leaseMs; ;) {
      try {
        return await write();
      } catch (error) {
        if (this.isClosed || performance.now() > end) throw error;
        await sleep(NOTE_AGAIN_MS);
      }
    }
  }

  private async round(): Promise<boolean> {
    const { before, take, work } = this.deps;
    const isMore = (await before?.()) ?? false;
    const most = MOST_AT_ONCE - this.running.size;
    const leases = most > 0 ? await take(most) : [];
    for (const lease of this.isClosed ? [] : leases) {
      const working = work(lease, (write) => this.note(write)).finally(() => {
        this.running.delete(working);
        this.rounds.again();
      });
      this.running.add(working);
    }
    return isMore;
  }
}
