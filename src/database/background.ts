import type { Logger } from 'pino';
import { KeyedQueue } from './keyed-queue';
import { withTimeout } from './timeout';

export interface BackgroundLimits {
  atOnce: number;
  /** With so much that is not done yet, further work is refused. */
  most: number;
}

/**
 * Work is gathered for so long before it begins: no answer is slower for work of its own, nor regularly the next one of
 * the same client.
 */
const GATHER_MS = 200;

/** Does work that no answer waits for, in the order in which it comes. The log tells of what was not done. */
export class Background {
  private readonly queue: KeyedQueue;
  private readonly underWay = new Set<Promise<void>>();
  private readonly gathered: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly limits: BackgroundLimits,
  ) {
    this.queue = new KeyedQueue(limits.atOnce, limits.most);
  }

  /** `undone` is what the log says when the work fails, or when there is too much of it. */
  run(work: () => Promise<void>, undone: string): void {
    if (this.underWay.size >= this.limits.most) {
      this.logger.warn({ count: this.underWay.size }, `too much is under way behind the answers: ${undone}`);
      return;
    }
    const begun = new Promise<void>((begin) => this.gathered.push(begin));
    this.timer ??= setTimeout(() => this.begin(), GATHER_MS).unref();
    const done = this.attempt(begun, work, undone).finally(() => this.underWay.delete(done));
    this.underWay.add(done);
  }

  /** Before the process ends: does what there is at once, but does not wait for ever. */
  async finish(milliseconds: number): Promise<void> {
    this.begin();
    try {
      await withTimeout(Promise.all(this.underWay), milliseconds);
    } catch (error) {
      this.logger.warn({ err: error, count: this.underWay.size }, 'work behind the answers is left undone');
    }
  }

  private begin(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const begin of this.gathered.splice(0)) begin();
  }

  private async attempt(begun: Promise<void>, work: () => Promise<void>, undone: string): Promise<void> {
    await begun;
    try {
      await this.queue.run('', work);
    } catch (error) {
      this.logger.warn({ err: error }, undone);
    }
  }
}
