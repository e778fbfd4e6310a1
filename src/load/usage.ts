const HOUR_MS = 3_600_000;

/** Milliseconds that each sender has used in this hour and the last one. */
export class Usage {
  private thisHour = new Map<string, number>();
  private lastHour = new Map<string, number>();
  private hourEnds: number;

  constructor(private readonly now: () => number) {
    this.hourEnds = now() + HOUR_MS;
  }

  usedBy(sender: string): number {
    this.forgetOldHours();
    return (this.thisHour.get(sender) ?? 0) + (this.lastHour.get(sender) ?? 0);
  }

  add(sender: string, milliseconds: number): void {
    this.forgetOldHours();
    this.thisHour.set(sender, (this.thisHour.get(sender) ?? 0) + milliseconds);
  }

  private forgetOldHours(): void {
    const late = this.now() - this.hourEnds;
    if (late < 0) return;
    this.lastHour = late < HOUR_MS ? this.thisHour : new Map<string, number>();
    this.thisHour = new Map();
    this.hourEnds = this.now() + HOUR_MS;
  }
}
