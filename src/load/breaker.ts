/** Consecutive time-outs that open the breaker. */
const TIME_OUTS = 3;
const PAUSE_MS = 30_000;

/** The provider was not called, since it has not answered for a while. */
export class BreakerOpen extends Error {
  override readonly name = 'BreakerOpen';

  constructor(
    peer: string,
    readonly retryAfterSeconds: number,
  ) {
    super(`${peer} has not answered lately, and was not called`);
  }
}

/** The caller aborted the call. This says nothing about the provider. */
export class CallAborted extends Error {
  override readonly name = 'CallAborted';

  constructor(peer: string) {
    super(`the call to ${peer} was aborted`);
  }
}

/**
 * Refuses calls to a provider that does not answer: after TIME_OUTS consecutive time-outs it refuses at once for
 * PAUSE_MS, then lets one call through. Any answer, even a refusal, closes the breaker.
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
      if (error instanceof CallAborted) throw error;
      if (!this.isTimeOut(error)) this.close();
      else if (++this.timeOuts >= TIME_OUTS) this.open();
      throw error;
    }
  }

  private open(): void {
    this.openUntil = this.now() + PAUSE_MS;
  }

  /** Closes the breaker, since the provider has answered this call or a probe. */
  close(): void {
    this.timeOuts = 0;
    this.openUntil = 0;
  }
}
