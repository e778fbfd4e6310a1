import { Unavailable } from '../../errors';

/** Does heavy things one at a time, in the order in which they were asked for. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  /** Whoever has waited for longer than `patienceMs` is refused, so that a queue that stands still is soon gone. */
  take<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
    const asked = Date.now();
    const mine = this.last.then(() => {
      if (Date.now() - asked > patienceMs) throw new Unavailable('many are synchronising: try again shortly');
      return work();
    });
    this.last = mine.catch(() => undefined);
    return mine;
  }
}
