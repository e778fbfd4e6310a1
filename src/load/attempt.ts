import { AsyncLocalStorage } from 'node:async_hooks';
import { Unavailable } from '../base/errors';

const current = new AsyncLocalStorage<Attempt>();

/** The work of one request. After its deadline no statement of it begins, and no transaction of it is committed. */
export class Attempt {
  private isLate = false;
  private hasEnded = false;
  private whenLate: () => void = () => undefined;

  /** Calls `told` if the deadline passes before the work has ended. */
  onLate(told: () => void): void {
    this.whenLate = told;
  }

  giveUp(): void {
    if (this.hasEnded) return;
    this.isLate = true;
    this.whenLate();
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
    if (this.isLate && !this.hasEnded) throw new Unavailable('took_too_long', 'the request took too long');
  }
}

/** Throws if the deadline of the current request has passed. */
export function checkDeadline(): void {
  current.getStore()?.check();
}
