import { AsyncLocalStorage } from 'node:async_hooks';
import { Unavailable } from '../base/errors';

const current = new AsyncLocalStorage<Attempt>();

/** The work of one request. After its deadline no statement of it begins, and no transaction of it is committed. */
export class Attempt {
  /** Time of its deadline, by performance.now(), once it is known. */
  private lateAt = Infinity;
  private hasEnded = false;
  private isUnanswered = false;
  private whenUnanswered: () => void = () => undefined;

  /** Calls `told` if the work goes on after its answer, or after its client has left. */
  onUnanswered(listener: () => void): void {
    this.whenUnanswered = listener;
    if (this.isUnanswered) listener();
  }

  /** The deadline has passed. */
  giveUp(): void {
    this.abandon(-Infinity);
  }

  /** The client has left, and is told of no end. The work goes on until its deadline. */
  abandon(lateAt: number): void {
    this.lateAt = lateAt;
    if (this.hasEnded || this.isUnanswered) return;
    this.isUnanswered = true;
    this.whenUnanswered();
  }

  /** Runs the work. Statements that it leaves to be made after its end are not refused. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      this.check();
      return await current.run(this, work);
    } finally {
      this.hasEnded = true;
    }
  }

  check(): void {
    if (performance.now() > this.lateAt && !this.hasEnded)
      throw new Unavailable('took_too_long', 'the request took too long');
  }
}

/** Runs work that several requests wait for: it belongs to none of them. */
export function forAll<T>(work: () => T): T {
  return current.exit(work);
}

/** Throws if the deadline of the current request has passed. */
export function checkDeadline(): void {
  current.getStore()?.check();
}
