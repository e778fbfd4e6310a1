/** Work in rounds: the next one at once when the last returned true, otherwise after a pause. */
export class Rounds {
  isOn = false;
  private running: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly round: () => Promise<boolean>,
    private readonly pauseMs: number,
    /** Told of each failure, after which the next round goes on. */
    private readonly failed: (error: unknown) => void,
  ) {}

  begin(): void {
    this.isOn = true;
    this.later();
  }

  /** Begins no further round. Does not wait for the running one, which may ask a database that is away. */
  end(): void {
    this.isOn = false;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Runs rounds now, until nothing is left. */
  now(): Promise<void> {
    this.running ??= this.run().finally(() => {
      this.running = undefined;
      this.later();
    });
    return this.running;
  }

  /** Runs a round at once, unless the rounds have ended. */
  again(): void {
    if (this.isOn) void this.now();
  }

  private later(): void {
    if (this.isOn) this.timer ??= setTimeout(() => void this.next(), this.pauseMs).unref();
  }

  private async next(): Promise<void> {
    this.timer = undefined;
    await this.now();
  }

  private async run(): Promise<void> {
    try {
      let goOn: boolean;
      do goOn = await this.round();
      while (goOn && this.isOn);
    } catch (error) {
      // After the end the pool is closed.
      if (this.isOn) this.failed(error);
    }
  }
}
