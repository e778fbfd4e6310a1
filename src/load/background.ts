import type { Logger } from 'pino';
import type { Queue } from './queue';
import { withTimeout } from './timeout';

/**
 * Work is gathered for so long before it begins: no answer is slower for work of its own, nor regularly the next one of
 * the same client.
 */
const GATHER_MS = 200;

/** Does work that no answer waits for, in the order in which it comes. The log tells of what was not done. */
export class Background {
  private readonly gathered: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** Gathered, waiting or running. */
  private undone = 0;
  private allDone: () => void = () => undefined;

  constructor(
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly queue: Queue,
  ) {}

  /** `undone` is what the log says when the work fails, or when there is too much of it. */
  run(work: () => Promise<void>, undone: string): void {
    if (this.undone >= this.queue.rules.waiting) {
      this.logger.warn({ count: this.undone }, `too much is under way behind the answers: ${undone}`);
      return;
    }
    const begun = new Promise<void>((begin) => this.gathered.push(begin));
    this.timer ??= setTimeout(() => this.begin(), GATHER_MS).unref();
    this.undone += 1;
    void this.attempt(begun, work, undone);
  }

  /** Before the process ends: does what there is at once, but does not wait for ever. */
  async finish(milliseconds: number): Promise<void> {
    this.begin();
    try {
      if (this.undone > 0) await withTimeout(new Promise<void>((resolve) => (this.allDone = resolve)), milliseconds);
    } catch (error) {
      this.logger.warn({ err: error, count: this.undone }, 'work behind the answers is left undone');
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
