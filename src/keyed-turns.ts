import { Unavailable } from './errors';

interface Line {
  running: number;
  waiting: (() => void)[];
}

/**
 * Of the works under one key so many run at once; the others wait in their order. What belongs to one user, or to one phone,
 * can then keep only a few connections and threads busy, however much of it there is.
 */
export class KeyedTurns {
  private readonly lines = new Map<string, Line>();

  constructor(
    private readonly atOnce: number,
    private readonly mostWaiting: number,
  ) {}

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(key) ?? { running: 0, waiting: [] };
    this.lines.set(key, line);
    if (line.running < this.atOnce) line.running += 1;
    else await this.wait(line);
    try {
      return await work();
    } finally {
      // Whoever is next takes the place over.
      const next = line.waiting.shift();
      if (next) next();
      else if (--line.running === 0) this.lines.delete(key);
    }
  }

  private wait(line: Line): Promise<void> {
    if (line.waiting.length >= this.mostWaiting) throw new Unavailable('too many requests at once: try again shortly');
    return new Promise((resolve) => line.waiting.push(resolve));
  }
}
