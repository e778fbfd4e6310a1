import { TooManyRequests, Unavailable, type AppError } from '../errors';

interface Queue {
  running: number;
  waiting: (() => void)[];
}

const overload = () => new Unavailable('overloaded', 'too many requests at once: try again shortly');

/** For a queue by user, where nobody else is the cause. */
export const ownExcess = () =>
  new TooManyRequests('too_many_at_once', 'you have too many of these under way: let one of them end first', {
    retryAfterSeconds: 5,
  });

/**
 * Runs at most `atOnce` jobs of one key at a time; others of that key wait in order. So one user, or one phone, can
 * occupy only a few connections and threads, however many requests it sends.
 */
export class KeyedQueue {
  private readonly queues = new Map<string, Queue>();

  constructor(
    private readonly atOnce: number,
    private readonly mostWaiting: number,
    /** Of a job that is one too many. */
    private readonly refusal: () => AppError = overload,
  ) {}

  async run<T>(key: string, job: () => Promise<T>): Promise<T> {
    const leave = await this.enter(key);
    try {
      return await job();
    } finally {
      leave();
    }
  }

  /** For a job that is no single promise. Returns what ends it, to be called once. */
  async enter(key: string): Promise<() => void> {
    const queue = this.queues.get(key) ?? { running: 0, waiting: [] };
    this.queues.set(key, queue);
    if (queue.running < this.atOnce) queue.running += 1;
    else await this.wait(queue);
    return () => this.leave(key, queue);
  }

  private wait(queue: Queue): Promise<void> {
    if (queue.waiting.length >= this.mostWaiting) throw this.refusal();
    return new Promise((resolve) => queue.waiting.push(resolve));
  }

  private leave(key: string, queue: Queue): void {
    // The next job takes over the place of this one, so that `running` stays as it is.
    const next = queue.waiting.shift();
    if (next) next();
    else if (--queue.running === 0) this.queues.delete(key);
  }
}
