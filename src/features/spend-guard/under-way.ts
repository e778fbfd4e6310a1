/** Counts pending work of this process, by key. */
export class UnderWay {
  private readonly counts = new Map<string, number>();

  /** Runs `work`, which gets `enter`: that counts it under a key, and returns the number of those ahead. */
  async during<T>(work: (enter: (key: string) => number) => Promise<T>): Promise<T> {
    const entered: string[] = [];
    const enter = (key: string) => {
      entered.push(key);
      return this.add(key, 1) - 1;
    };
    try {
      return await work(enter);
    } finally {
      for (const key of entered) this.add(key, -1);
    }
  }

  private add(key: string, change: 1 | -1): number {
    const count = (this.counts.get(key) ?? 0) + change;
    if (count > 0) this.counts.set(key, count);
    else this.counts.delete(key);
    return count;
  }
}
