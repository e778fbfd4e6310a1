import type { Bucket, FullBucket, TakenBucket } from './limits-repository';

interface OwnBucket {
  used: number;
  resetsAt: number;
  /** Up to when what the shared bucket said is not asked again. */
  freshUntil: number;
}

/** More subjects than that are forgotten all together: it is a stopgap, and memory has an end. */
const MOST_SUBJECTS = 100_000;
/** Whoever goes on asking when nothing is left is told so without the database. */
const FRESH_MS = 250;

/**
 * What this process knows of buckets: as they were when the shared ones were last asked, and its own uses since, for as long
 * as these cannot be asked.
 */
export class OwnCounts {
  private readonly buckets = new Map<string, OwnBucket>();

  constructor(private readonly now = Date.now) {}

  learn(taken: TakenBucket[]): void {
    for (const { key, used, seconds } of taken) this.set(key, used, seconds);
  }

  learnFull(full: FullBucket[], wanted: Bucket[]): void {
    for (const { key, seconds } of full)
      this.set(key, wanted.find((bucket) => bucket.key === key)?.amount ?? 0, seconds);
  }

  /** The full ones among the buckets, as far as was heard a moment ago. */
  knownFull(wanted: Bucket[]): FullBucket[] {
    const now = this.now();
    return this.full(wanted).filter(({ key }) => (this.buckets.get(key)?.freshUntil ?? 0) > now);
  }

  /** Takes one from each, or finds those that are full. */
  take(wanted: Bucket[]): FullBucket[] {
    const full = this.full(wanted);
    if (full.length > 0) return full;
    const now = this.now();
    for (const { key, seconds } of wanted) {
      const bucket = this.buckets.get(key);
      if (bucket && bucket.resetsAt > now) bucket.used += 1;
      else this.set(key, 1, seconds);
    }
    return [];
  }

  private full(wanted: Bucket[]): FullBucket[] {
    const now = this.now();
    return wanted.flatMap(({ key, amount }) => {
      const bucket = this.buckets.get(key);
      if (!bucket || bucket.resetsAt <= now || bucket.used < amount) return [];
      return [{ key, seconds: (bucket.resetsAt - now) / 1_000, noted: true }];
    });
  }

  private set(key: string, used: number, seconds: number): void {
    if (this.buckets.size >= MOST_SUBJECTS) this.buckets.clear();
    const now = this.now();
    this.buckets.set(key, { used, resetsAt: now + seconds * 1_000, freshUntil: now + FRESH_MS });
  }
}
