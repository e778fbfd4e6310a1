import type { Foundation } from '../foundation/foundation';
import { tallied, type Figure, type Part } from '../foundation/part';
import { Sweeper } from '../load/sweeper';
import { withTimeout } from '../load/timeout';

/** Longest wait, at the stop, for workers: another instance does again what is cut off here. */
const END_MS = 1_000;
/** Longest wait, at the stop, for work after answers. */
const FINISH_MS = 4_000;

const SWEEPS = { name: 'sweeps_total', help: 'Rounds of the clean-ups.', labels: ['sweep', 'outcome'] };

type Base = Pick<Foundation, 'logger'> & {
  background: Record<string, { finish(milliseconds: number): Promise<void> }>;
  connections: { close(): Promise<void> };
};

/** Begins, sweeps, shows and closes what features bring. */
export class Parts {
  readonly figures: Figure[];
  /** Kinds of all events, in order. */
  readonly kinds: string[];
  private readonly sweeper: Sweeper;

  constructor(
    private readonly parts: Part[],
    private readonly base: Base,
  ) {
    this.sweeper = new Sweeper(this.all('sweeps'), base.logger);
    this.kinds = this.all('events').sort();
    this.figures = [...this.all('figures'), tallied(SWEEPS, this.sweeper.rounds)];
  }

  begin(): void {
    for (const worker of this.all('workers')) worker.begin?.();
  }

  /** Runs the periodic clean-ups now. */
  async sweep(): Promise<void> {
    await this.sweeper.sweep();
  }

  /** Closes each thing after all that use it. No request runs any more. */
  async close(): Promise<void> {
    const { background, connections } = this.base;
    const ended = Promise.all(this.all('workers').map(async (worker) => worker.close()));
    await withTimeout(ended, END_MS).catch(() => undefined);
    this.sweeper.close();
    await Promise.all(Object.values(background).map((work) => work.finish(FINISH_MS)));
    await Promise.all(this.all('resources').map((resource) => resource.close()));
    await connections.close();
  }

  private all<Kind extends keyof Part>(kind: Kind): NonNullable<Part[Kind]>[number][] {
    return this.parts.flatMap((part) => (part[kind] ?? []) as NonNullable<Part[Kind]>[number][]);
  }
}
