import type { Logger } from 'pino';
import { Tally } from '../base/tally';

const TEN_MINUTES = 600_000;

/**
 * Runs periodic clean-ups, which delete expired rows and files, and end what a killed process left. Deleting only saves
 * space: no reader accepts an expired row.
 */
export class Sweeper {
  /** Rounds by sweep and outcome. */
  readonly rounds: Tally;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly sweeps: Record<string, () => Promise<void>>,
    private readonly logger: Pick<Logger, 'warn'>,
    everyMs = TEN_MINUTES,
  ) {
    this.rounds = new Tally(Object.keys(sweeps).flatMap((name) => [`${name} done`, `${name} failed`]));
    this.timer = setInterval(() => void this.sweep(), everyMs).unref();
  }

  async sweep(): Promise<void> {
    for (const [name, sweep] of Object.entries(this.sweeps)) {
      try {
        await sweep();
        this.rounds.add(`${name} done`);
      } catch (error) {
        this.rounds.add(`${name} failed`);
        this.logger.warn({ err: error }, 'sweeping failed; the next round does what is left');
      }
    }
  }

  close(): void {
    clearInterval(this.timer);
  }
}
