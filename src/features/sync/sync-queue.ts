import { Unavailable } from '../../errors';

/** Runs heavy jobs one at a time, in the order in which they came. */
export class SyncQueue {
  private last: Promise<unknown> = Promise.resolve();

  /**
   * A job that has waited for longer than `mostMs` is refused, so that a queue that stands still soon becomes short.
   */
  run<T>(mostMs: number, job: () => Promise<T>): Promise<T> {
    const asked = Date.now();
    const result = this.last.then(() => {
      if (Date.now() - asked > mostMs) throw new Unavailable('many are synchronising: try again shortly');
      return job();
    });
    this.last = result.catch(() => undefined);
    return result;
  }
}
