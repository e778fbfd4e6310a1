import { Unavailable } from '../errors';

interface Queue {
  running: number;
  waiting: (() => void)[];
}

/**
 * Runs at most `atOnce` jobs of one key at a time; others of that key wait in order. So one user, or one phone, can
 * occupy only a few connections and threads, however many requests it sends.
 */
export class KeyedQueue {
  private readonly queues = new Map<string, Queue>();

  constructor(
    private readonly atOnce: number,
    private readonly mostWaiting: number,
  ) {}

  async run<T>(key: string, job: () => Promise<T>): Promise<T> {
    const queue = this.queues.get(key) ?? { running: 0, waiting: [] };
    this.queues.set(key, queue);
    if (queue.running < this.atOnce) queue.running += 1;
    else await this.wait(queue);
    try {
      return await job();
    } finally {
      // The next job takes over the place of this one, so that `running` stays as it is.
      const next = queue.waiting.shift();
      if (next) next();
      else if (--queue.running === 0) this.queues.delete(key);
    }
  }

  private wait(queue: Queue): Promise<void> {
    if (queue.waiting.length >= this.mostWaiting) throw new Unavailable('too many requests at once: try again shortly');
    return new Promise((resolve) => queue.waiting.push(resolve));
  }
}
