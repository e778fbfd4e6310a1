import { Unavailable } from '../../errors';

interface Sizes {
  atOnce: number;
  mostWaiting: number;
  waitMs: number;
  /** What an image may take. */
  mostMs: number;
}

interface Waiting {
  userId: string;
  start: () => void;
  refuse: () => void;
}

const HOUR_MS = 3_600_000;
const RETRY_SECONDS = 10;

/**
 * Runs so many jobs at once, and one of a user at a time. The next one is that of whoever has used least time lately,
 * so that a newcomer waits for what is under way and for nothing else. Of those that are too many, the newest one of
 * whoever has most is refused; so is what has waited for too long.
 */
export class DecodingTurns {
  /** The oldest first. */
  private readonly waiting: Waiting[] = [];
  /** Users. */
  private readonly running = new Set<string>();
  private usedThisHour = new Map<string, number>();
  private usedLastHour = new Map<string, number>();
  private hourEnds: number;

  constructor(
    private readonly sizes: Sizes,
    private readonly now = () => performance.now(),
  ) {
    this.hourEnds = now() + HOUR_MS;
  }

  /** What is `gone` before its turn comes is dropped. */
  async run<T>(userId: string, job: () => Promise<T>, gone?: AbortSignal): Promise<T> {
    if (gone?.aborted) throw tooMany();
    if (this.hasPlaceFor(userId)) this.running.add(userId);
    else await this.wait(userId, gone);
    const began = this.now();
    try {
      return await job();
    } finally {
      this.count(userId, this.now() - began);
      this.running.delete(userId);
      this.startNext();
    }
  }

  private hasPlaceFor(userId: string): boolean {
    return this.running.size < this.sizes.atOnce && !this.running.has(userId);
  }

  private wait(userId: string, gone: AbortSignal | undefined): Promise<void> {
    if (this.waiting.length >= this.sizes.mostWaiting) this.makeRoomFor(userId);
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        gone?.removeEventListener('abort', refuse);
        this.waiting.splice(this.waiting.indexOf(waiting), 1);
      };
      const start = () => {
        leave();
        this.running.add(userId);
        resolve();
      };
      const refuse = () => {
        leave();
        reject(tooMany());
      };
      const waiting = { userId, start, refuse };
      const timer = setTimeout(refuse, this.sizes.waitMs);
      gone?.addEventListener('abort', refuse);
      this.waiting.push(waiting);
    });
  }

  /** No more than one can have waited for a place that is free now. */
  private startNext(): void {
    let next: Waiting | undefined;
    for (const one of this.waiting)
      if (this.hasPlaceFor(one.userId) && (!next || this.usedBy(one.userId) < this.usedBy(next.userId))) next = one;
    next?.start();
  }

  private makeRoomFor(userId: string): void {
    let most = this.usedBy(userId) + this.mayUse(userId) + this.sizes.mostMs;
    let newest: Waiting | undefined;
    for (const one of this.waiting) {
      const all = this.usedBy(one.userId) + this.mayUse(one.userId);
      if (all > most || (newest && all === most)) [newest, most] = [one, all];
    }
    if (!newest) throw tooMany();
    newest.refuse();
  }

  /** By what waits. */
  private mayUse(userId: string): number {
    return this.waiting.filter((one) => one.userId === userId).length * this.sizes.mostMs;
  }

  private usedBy(userId: string): number {
    this.forgetOldHours();
    return (this.usedThisHour.get(userId) ?? 0) + (this.usedLastHour.get(userId) ?? 0);
  }

  private count(userId: string, milliseconds: number): void {
    this.forgetOldHours();
    this.usedThisHour.set(userId, (this.usedThisHour.get(userId) ?? 0) + milliseconds);
  }

  private forgetOldHours(): void {
    const late = this.now() - this.hourEnds;
    if (late < 0) return;
    this.usedLastHour = late < HOUR_MS ? this.usedThisHour : new Map<string, number>();
    this.usedThisHour = new Map();
    this.hourEnds = this.now() + HOUR_MS;
  }
}

function tooMany(): Unavailable {
  return new Unavailable('uploads_busy', 'too many images at once: try again shortly', {
    retryAfterSeconds: RETRY_SECONDS,
  });
}
