import type { Bucket, FullBucket } from './limits-repository';

interface OwnBucket {
  used: number;
  resetsAt: number;
}

/** More subjects than that are forgotten all together: it is a stopgap, and memory has an end. */
const MOST_SUBJECTS = 100_000;

/** Counts of this process alone, for as long as the shared ones cannot be asked. */
export class OwnCounts {
  private readonly buckets = new Map<string, OwnBucket>();

  constructor(private readonly now = Date.now) {}

  /** Takes one from each, or finds those that are full. */
  take(wanted: Bucket[]): FullBucket[] {
    if (this.buckets.size > MOST_SUBJECTS) this.buckets.clear();
    const now = this.now();
    const full = wanted.flatMap(({ key, amount, seconds }) => {
      const bucket = this.bucket(key, seconds, now);
      return bucket.used < amount ? [] : [{ key, seconds: (bucket.resetsAt - now) / 1_000, noted: true }];
    });
    if (full.length === 0) for (const { key, seconds } of wanted) this.bucket(key, seconds, now).used += 1;
    return full;
  }

  private bucket(key: string, seconds: number, now: number): OwnBucket {
    const held = this.buckets.get(key);
    if (held && held.resetsAt > now) return held;
    const bucket = { used: 0, resetsAt: now + seconds * 1_000 };
    this.buckets.set(key, bucket);
    return bucket;
  }
}
