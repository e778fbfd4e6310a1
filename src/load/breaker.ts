/** In a row. */
const TIME_OUTS = 3;
const PAUSE_MS = 30_000;

/** The provider has not answered for a while, and was not asked this time. */
export class BreakerOpen extends Error {
  override readonly name = 'BreakerOpen';

  constructor(
    peer: string,
    readonly retryAfterSeconds: number,
  ) {
    super(`${peer} has not answered lately, and was not asked`);
  }
}

/** Nobody waits for the answer any more. This tells nothing about the provider. */
export class CalledOff extends Error {
  override readonly name = 'CalledOff';

  constructor(peer: string) {
    super(`${peer} need not answer any more`);
  }
}

/**
 * Spares callers the wait for a provider that does not answer: after TIME_OUTS time-outs in a row it refuses at once
 * for PAUSE_MS, then lets one call through. Any answer, also a refusal, ends that.
 */
export class Breaker {
  private timeOuts = 0;
  private openUntil = 0;

  constructor(
    private readonly peer: string,
    private readonly isTimeOut: (error: unknown) => boolean,
    private readonly now = () => performance.now(),
  ) {}

  async run<T>(call: () => Promise<T>): Promise<T> {
    const left = this.openUntil - this.now();
    if (left > 0) throw new BreakerOpen(this.peer, Math.ceil(left / 1_000));
    // Other calls are refused until this one has ended.
    if (this.timeOuts >= TIME_OUTS) this.open();
    try {
      const answer = await call();
      this.close();
      return answer;
    } catch (error) {
      if (error instanceof CalledOff) throw error;
      if (!this.isTimeOut(error)) this.close();
      else if (++this.timeOuts >= TIME_OUTS) this.open();
      throw error;
    }
  }

  private open(): void {
    this.openUntil = this.now() + PAUSE_MS;
  }

  /** The provider answers, as this call or another question has shown. */
  close(): void {
    this.timeOuts = 0;
    this.openUntil = 0;
  }
}
