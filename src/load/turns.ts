import { setTimeout as sleep } from 'node:timers/promises';
import { Rounds } from './rounds';

/**
 * Writes down how far a turn has come. Tries again while that fails, so that a turn does not wait for the end of its
 * lease after an outage of the database.
 */
export type Note = <T>(write: () => Promise<T>) => Promise<T>;

interface Parts<Turn> {
  /** Comes before each look for turns. Returns whether it has more to do. */
  before?: () => Promise<boolean>;
  /** Takes some turns, so that no other instance takes them. */
  take: (most: number) => Promise<Turn[]>;
  /** Deals with its failures itself. */
  work: (turn: Turn, note: Note) => Promise<void>;
  /** Told of each failure to look for turns. */
  failed: (error: unknown) => void;
  /** Time after which another instance may take a turn. */
  leaseMs: number;
}

/** Turns at an instance. */
const MOST_AT_ONCE = 10;
/** Pause until the end of a turn is noted again, when that has failed. */
const NOTE_AGAIN_MS = 300;

/** Takes turns that instances share, and does some at once. */
export class Turns<Turn> {
  isClosed = false;
  private readonly running = new Set<Promise<void>>();
  private readonly rounds: Rounds;

  constructor(
    private readonly parts: Parts<Turn>,
    pauseMs: number,
  ) {
    this.rounds = new Rounds(() => this.round(), pauseMs, parts.failed);
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
    for (const end = performance.now() + this.parts.leaseMs; ;) {
      try {
        return await write();
      } catch (error) {
        if (this.isClosed || performance.now() > end) throw error;
        await sleep(NOTE_AGAIN_MS);
      }
    }
  }

  private async round(): Promise<boolean> {
    const { before, take, work } = this.parts;
    const isMore = (await before?.()) ?? false;
    const most = MOST_AT_ONCE - this.running.size;
    const turns = most > 0 ? await take(most) : [];
    for (const turn of this.isClosed ? [] : turns) {
      const working = work(turn, (write) => this.note(write)).finally(() => {
        this.running.delete(working);
        this.rounds.again();
      });
      this.running.add(working);
    }
    return isMore;
  }
}
