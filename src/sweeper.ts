const TEN_MINUTES = 600_000;

/** Removes what has expired, now and then; whatever reads it has long stopped taking it for good. */
export class Sweeper {
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly sweeps: (() => Promise<void>)[],
    private readonly warn: (message: string, cause: unknown) => void,
    everyMs = TEN_MINUTES,
  ) {
    this.timer = setInterval(() => void this.sweep(), everyMs).unref();
  }

  async sweep(): Promise<void> {
    for (const sweep of this.sweeps) {
      try {
        await sweep();
      } catch (error) {
        this.warn('sweeping failed; the next round takes what is left', error);
      }
    }
  }

  close(): void {
    clearInterval(this.timer);
  }
}
