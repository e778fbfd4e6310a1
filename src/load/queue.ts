import type { AppError } from '../base/errors';
import { senderOf, sharesOf, type NetworkShare } from '../base/networks';
import { Usage } from './usage';

/** Rules by which a queue admits jobs, makes them wait, or refuses them. */
export interface Rules {
  /** Kind of sender. The jobs of one sender count together, and senders take turns. */
  per: 'user' | 'account' | 'address' | 'token' | 'limit' | 'service';
  /** Maximum running jobs of all senders together. Without it, senders are independent of each other. */
  atOnce?: number;
  /** Maximum running jobs of one sender; of addresses, twice that for a /56 or /48 of IPv6. */
  share?: number;
  /** Maximum waiting jobs: of all senders together where they share `atOnce`, else of each sender. */
  waiting: number;
  /** Longest wait. */
  waitMs?: number;
  /** Puts the sender that has used the least time first. Value: milliseconds that a waiting job is assumed to use. */
  leastUsedFirst?: number;
  /** Which running job of the sender with the most is aborted for a sender with fewer, when all slots are taken. */
  aborts?: 'oldest' | 'newest';
  refusal: () => AppError;
}

export interface Options {
  /** Aborts the running job for another sender. A job without it keeps its slot. */
  abort?: (reason: Error) => void;
  /** Signal that refuses the job if it still waits. */
  gone?: AbortSignal | undefined;
  /** Longest wait, instead of the queue's own. */
  waitMs?: number;
}

const NO_OPTIONS: Options = {};

/** Frees the slot. Calling it again does nothing. */
export type Leave = () => void;

/** Current jobs, and refusals since the start. */
export interface QueueState {
  running: number;
  waiting: number;
  refused: number;
}

interface Job {
  sender: string;
  shares: NetworkShare[];
  options: Options;
}

interface Running extends Job {
  begun: number;
  hasLeft: boolean;
}

interface Waiting extends Job {
  start: () => void;
  refuse: () => void;
}

/**
 * Admits jobs to a scarce resource. Waiting senders take turns; one without a running job goes first, or the one that
 * has used the least time. When the queue is full, it refuses the newest job of the sender with the most waiting.
 *
 * V8 keeps the old tables of a Map whose entries come and go, and all objects in them, until a full collection. The
 * maps here therefore hold strings, numbers and lists that are emptied, but nothing of a request.
 */
export class Queue {
  /** Running jobs by sender or, for addresses, by network. */
  private readonly running = new Map<string, number>();
  /** Waiting jobs by sender, in the order of turns. */
  private readonly waiting = new Map<string, Waiting[]>();
  /** Running jobs, oldest first. Stays empty if the queue does not abort jobs. */
  private readonly abortable: Running[] = [];
  private readonly counts: QueueState = { running: 0, waiting: 0, refused: 0 };
  private readonly usage: Usage | undefined;

  constructor(
    readonly rules: Rules,
    private readonly now = () => performance.now(),
  ) {
    if (rules.leastUsedFirst !== undefined) this.usage = new Usage(now);
  }

  get state(): QueueState {
    return { ...this.counts };
  }

  /** Runs the job once there is room. If there is room now, the job starts in this turn of the event loop. */
  async run<T>(sender: string, job: () => Promise<T>, options = NO_OPTIONS): Promise<T> {
    const entered = this.enter(sender, options);
    const leave = entered instanceof Promise ? await entered : entered;
    try {
      return await job();
    } finally {
      leave();
    }
  }

  /** Takes a slot for a job that is not a single promise. Waits while there is no room. */
  enter(sender: string, options = NO_OPTIONS): Leave | Promise<Leave> {
    const job = this.jobOf(sender, options);
    if (options.gone?.aborted) throw this.refusal();
    return this.makesRoomFor(job) ? this.admit(job) : this.wait(job);
  }

  /** Returns a slot at once, or throws the refusal. */
  take(sender: string, options = NO_OPTIONS): Leave {
    const job = this.jobOf(sender, options);
    if (!this.makesRoomFor(job)) throw this.refusal();
    return this.admit(job);
  }

  /** Throws the refusal that `take` would throw now. */
  check(sender: string): void {
    if (!this.hasRoomFor(this.jobOf(sender, NO_OPTIONS))) throw this.refusal();
  }

  /** Admits no further job of the sender until the returned function is called. */
  block(sender: string): Leave {
    const { shares } = this.jobOf(sender, NO_OPTIONS);
    const most = Math.max(...shares.map((share) => share.most));
    this.occupy(shares, most);
    return () => {
      this.occupy(shares, -most);
      this.startNext(sender);
    };
  }

  refuseAll(): void {
    for (const jobs of [...this.waiting.values()]) for (const job of [...jobs]) job.refuse();
  }

  private jobOf(sender: string, options: Options): Job {
    const { per, share = Infinity } = this.rules;
    if (per !== 'address') return { sender, shares: [{ network: sender, most: share }], options };
    return { sender: senderOf(sender), shares: sharesOf(sender, share), options };
  }

  private admit({ sender, shares, options }: Job): Leave {
    const running = { sender, shares, options, begun: this.now(), hasLeft: false };
    if (this.rules.aborts) this.abortable.push(running);
    this.counts.running += 1;
    this.occupy(shares, 1);
    return () => {
      if (running.hasLeft) return;
      this.release(running);
      this.startNext(running.sender);
    };
  }

  private release(job: Running): void {
    job.hasLeft = true;
    this.counts.running -= 1;
    this.occupy(job.shares, -1);
    this.usage?.add(job.sender, this.now() - job.begun);
    if (this.rules.aborts) this.abortable.splice(this.abortable.indexOf(job), 1);
  }

  /** Starts the next job. At most one waiting job fits into a slot that has become free. */
  private startNext(sender: string): void {
    const senders = this.rules.atOnce === undefined ? [sender] : this.waiting.keys();
    let next: Waiting | undefined;
    for (const one of this.isFull() ? [] : senders) {
      const job = this.waiting.get(one)?.find((waiting) => this.hasRoomFor(waiting));
      if (job && (!next || this.goesBefore(one, next.sender))) next = job;
      if (next && !this.usage && this.runningOf(next.sender) === 0) break;
    }
    next?.start();
  }

  private goesBefore(sender: string, other: string): boolean {
    if (this.usage) return this.usage.usedBy(sender) < this.usage.usedBy(other);
    return this.runningOf(sender) === 0 && this.runningOf(other) > 0;
  }

  private wait(job: Job): Promise<Leave> {
    const { sender, options } = job;
    this.makeRoomToWait(sender);
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        options.gone?.removeEventListener('abort', waiting.refuse);
        this.stopWaiting(waiting);
      };
      const waiting: Waiting = {
        ...job,
        start: () => {
          end();
          this.giveTurnAway(sender);
          resolve(this.admit(job));
        },
        refuse: () => {
          end();
          reject(this.refusal());
        },
      };
      const { waitMs = this.rules.waitMs } = options;
      const timer = waitMs === undefined ? undefined : setTimeout(waiting.refuse, waitMs);
      options.gone?.addEventListener('abort', waiting.refuse);
      const jobs = this.waiting.get(sender) ?? [];
      jobs.push(waiting);
      this.waiting.set(sender, jobs);
      this.counts.waiting += 1;
    });
  }

  private stopWaiting(job: Waiting): void {
    const jobs = this.waiting.get(job.sender) ?? [];
    jobs.splice(jobs.indexOf(job), 1);
    if (jobs.length === 0) this.waiting.delete(job.sender);
    this.counts.waiting -= 1;
  }

  /** Puts the sender last in the order of turns. */
  private giveTurnAway(sender: string): void {
    const jobs = this.waiting.get(sender);
    if (!jobs) return;
    this.waiting.delete(sender);
    this.waiting.set(sender, jobs);
  }

  private makeRoomToWait(sender: string): void {
    const { atOnce, waiting } = this.rules;
    if (atOnce === undefined) {
      if (this.waitingOf(sender) >= waiting) throw this.refusal();
    } else if (this.counts.waiting >= waiting) this.refuseOneFor(sender);
  }

  /** Refuses the newest job of the sender with the most, or this sender's own if no other would have more. */
  private refuseOneFor(sender: string): void {
    const { leastUsedFirst = 1 } = this.rules;
    const weightOf = (one: string) => (this.usage?.usedBy(one) ?? 0) + this.waitingOf(one) * leastUsedFirst;
    let most = weightOf(sender) + leastUsedFirst;
    let newest: Waiting | undefined;
    for (const [one, jobs] of this.waiting) {
      if (weightOf(one) <= most) continue;
      most = weightOf(one);
      newest = jobs.at(-1);
    }
    if (!newest) throw this.refusal();
    newest.refuse();
  }

  /** Returns whether there is room. Aborts another sender's job if that makes room. */
  private makesRoomFor(job: Job): boolean {
    if (this.isFull() && this.isWithinShares(job)) this.abortOneFor(job.sender);
    return this.hasRoomFor(job);
  }

  private abortOneFor(sender: string): void {
    let most = this.runningOf(sender) + 1;
    let chosen: Running | undefined;
    for (const job of this.rules.aborts === 'newest' ? [...this.abortable].reverse() : this.abortable) {
      if (!job.options.abort || this.runningOf(job.sender) <= most) continue;
      most = this.runningOf(job.sender);
      chosen = job;
    }
    if (!chosen) return;
    this.release(chosen);
    chosen.options.abort?.(this.refusal());
  }

  private hasRoomFor(job: Job): boolean {
    return !this.isFull() && this.isWithinShares(job);
  }

  private isFull(): boolean {
    return this.counts.running >= (this.rules.atOnce ?? Infinity);
  }

  private isWithinShares({ shares }: Job): boolean {
    return shares.every(({ network, most }) => this.runningOf(network) < most);
  }

  private runningOf(senderOrNetwork: string): number {
    return this.running.get(senderOrNetwork) ?? 0;
  }

  private waitingOf(sender: string): number {
    return this.waiting.get(sender)?.length ?? 0;
  }

  private occupy(shares: NetworkShare[], by: number): void {
    for (const { network } of shares) {
      const now = this.runningOf(network) + by;
      if (now > 0) this.running.set(network, now);
      else this.running.delete(network);
    }
  }

  private refusal(): AppError {
    this.counts.refused += 1;
    return this.rules.refusal();
  }
}
