interface Waiting {
  wake: () => void;
  timer: NodeJS.Timeout;
}

/**
 * Lets so many jobs in at once, and lets as many wait, first in, first out. The end of one job wakes one that waits; a job that
 * has waited for too long is refused, as is one that finds too many waiting.
 */
export class Gate {
  private readonly waiting: Waiting[] = [];
  private inside = 0;

  constructor(
    private readonly places: number,
    private readonly mostMs: number,
    private readonly refusal: () => Error,
  ) {}

  get isEmpty(): boolean {
    return this.inside === 0 && this.waiting.length === 0;
  }

  async run<T>(job: () => Promise<T>): Promise<T> {
    if (this.inside < this.places && this.waiting.length === 0) this.inside += 1;
    else await this.wait('last');
    try {
      return await job();
    } finally {
      this.leave();
    }
  }

  /** For a job inside: lets its place go, and takes one again when another job has ended. False when it is alone. */
  async waitForAnother(): Promise<boolean> {
    if (this.inside <= 1) return false;
    this.inside -= 1;
    try {
      await this.wait('first');
    } catch (error) {
      // `run` lets the place go.
      this.inside += 1;
      throw error;
    }
    return true;
  }

  /** The place of the job that ends goes to the first that waits. */
  private leave(): void {
    this.inside -= 1;
    this.waiting.shift()?.wake();
  }

  private wait(where: 'first' | 'last'): Promise<void> {
    if (where === 'last' && this.waiting.length >= this.places) throw this.refusal();
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        wake: () => {
          clearTimeout(waiting.timer);
          this.inside += 1;
          resolve();
        },
        timer: setTimeout(() => {
          this.waiting.splice(this.waiting.indexOf(waiting), 1);
          reject(this.refusal());
        }, this.mostMs),
      };
      if (where === 'first') this.waiting.unshift(waiting);
      else this.waiting.push(waiting);
    });
  }
}
