/**
 * Counts since the start of this process, by name. The code that counts does not know who reads them: the metrics do,
 * when they are asked for. A name of several words, separated by spaces, has a label for each word.
 */
export class Tally {
  private readonly counts: Map<string, number>;

  /** Begins with these names at 0: an alert on a rise does not see a series whose first value is already a count. */
  constructor(names: Iterable<string> = []) {
    this.counts = new Map([...names].map((name) => [name, 0]));
  }

  add(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }

  entries(): [string, number][] {
    return [...this.counts];
  }
}
