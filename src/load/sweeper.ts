import type { Logger } from 'pino';
import { Tally } from '../base/tally';

const TEN_MINUTES = 600_000;

/** A periodic clean-up, by its name in the metrics. */
export interface Sweep {
  name: string;
  /** Pause between two, if not ten minutes. One with a pause of its own does not wait for others. */
  everyMs?: number;
  run: () => Promise<void>;
}

/**
 * Runs periodic clean-ups, which delete expired rows and files, and end what a killed process left. Deleting only saves
 * space: no reader accepts an expired row.
 */
export class Sweeper {
  /** Rounds by sweep and outcome. */
  readonly rounds: Tally;
  private readonly timers: NodeJS.Timeout[];

  constructor(
    private readonly sweeps: Sweep[],
    private readonly logger: Pick<Logger, 'warn'>,
  ) {
    this.rounds = new Tally(sweeps.flatMap(({ name }) => [`${name} done`, `${name} failed`]));
    const others = sweeps.filter(({ everyMs }) => everyMs === undefined);
    const own = sweeps.filter(({ everyMs }) => everyMs !== undefined);
    this.timers = [others, ...own.map((sweep) => [sweep])].map((due) => {
      let running: Promise<void> | undefined;
      const next = () => (running ??= this.sweep(due).finally(() => (running = undefined)));
      return setInterval(() => void next(), due[0]?.everyMs ?? TEN_MINUTES).unref();
    });
  }

  /** Runs these in turn, by default all. */
  async sweep(due = this.sweeps): Promise<void> {
    for (const { name, run } of due) {
      try {
        await run();
        this.rounds.add(`${name} done`);
      } catch (error) {
        this.rounds.add(`${name} failed`);
        this.logger.warn({ err: error }, 'sweeping failed; the next round does what is left');
      }
    }
  }

  close(): void {
    for (const timer of this.timers) clearInterval(timer);
  }
}
