/** Random choices that repeat with the seed. The order in which concurrent users run still depends on the machine. */
export class Choices {
  constructor(private state: number) {}

  numberBelow(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  oneOf<T>(options: readonly [T, ...T[]]): T {
    return options[this.numberBelow(options.length)] ?? options[0];
  }
}
