import type { Logger } from 'pino';
import { forAll } from './attempt';
import type { Queue } from './queue';
import { withTimeout } from './timeout';

/**
 * Delay before work starts, so that it slows down neither its own answer nor, regularly, the next one of the same
 * client.
 */
const GATHER_MS = 200;

/** Does work after the answer, in the order in which it comes, without a deadline. Logs work that was not done. */
export class Background {
  private readonly gathered: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** Number of jobs that are gathered, waiting or running. */
  private undone = 0;
  private allDone: () => void = () => undefined;

  constructor(
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly queue: Queue,
  ) {}

  /** Queues the work. Logs `undone` if the work fails or the queue is full. */
  run(work: () => Promise<void>, undone: string): void {
    if (this.undone >= this.queue.rules.waiting) {
      this.logger.warn({ count: this.undone }, `the queue of work after answers is full: ${undone}`);
      return;
    }
    const begun = new Promise<void>((begin) => this.gathered.push(begin));
    this.timer ??= setTimeout(() => this.begin(), GATHER_MS).unref();
    this.undone += 1;
    void forAll(() => this.attempt(begun, work, undone));
  }

  /** Does all pending work at once before the process ends, but waits for it at most `milliseconds`. */
  async finish(milliseconds: number): Promise<void> {
    this.begin();
    try {
      if (this.undone > 0) await withTimeout(new Promise<void>((resolve) => (this.allDone = resolve)), milliseconds);
    } catch (error) {
      this.logger.warn({ err: error, count: this.undone }, 'work after answers was not done before the stop');
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
      await this.queue.run('service', work);
    } catch (error) {
      this.logger.warn({ err: error }, undone);
    } finally {
      this.undone -= 1;
      if (this.undone === 0) this.allDone();
    }
  }
}
