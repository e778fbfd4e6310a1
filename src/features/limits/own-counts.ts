import type { Bucket, FullBucket, TakenBucket } from './limits-repository';

interface OwnBucket {
  used: number;
  /** Of these, what only this instance knows of: it was counted while the database could not be asked. */
  alone: number;
  resetsAt: number;
  /** Until then the shared bucket is not asked again. */
  freshUntil: number;
}

/** With more subjects all are forgotten, so that memory stays bounded. */
const MOST_SUBJECTS = 100_000;
/** For so long a full bucket refuses without asking the database. */
const FRESH_MS = 250;

/**
 * Buckets in this process: the last counts that the database gave, and the uses of this instance since then. They serve
 * while the database cannot be asked.
 */
export class OwnCounts {
  private readonly buckets = new Map<string, OwnBucket>();

  constructor(private readonly now = () => Date.now()) {}

  learn(taken: TakenBucket[]): void {
    for (const { key, used, seconds } of taken) this.set(key, used + this.aloneOf(key), seconds, this.aloneOf(key));
  }

  /** Buckets that are over their limit once local uses are added to the shared count. */
  overdrawn(wanted: Bucket[]): FullBucket[] {
    const local = wanted.filter(({ key }) => this.aloneOf(key) > 0);
    return this.full(local.map((bucket) => ({ ...bucket, amount: bucket.amount + 1 })));
  }

  learnFull(full: FullBucket[], wanted: Bucket[]): void {
    for (const { key, used, seconds } of full) {
      const amount = wanted.find((bucket) => bucket.key === key)?.amount;
      if (amount !== undefined) this.set(key, Math.max(amount, used), seconds, this.aloneOf(key));
    }
  }

  forget(key: string): void {
    this.buckets.delete(key);
  }

  /** Those whose keys begin with `prefix`. */
  forgetAll(prefix: string): void {
    for (const key of this.buckets.keys()) if (key.startsWith(prefix)) this.buckets.delete(key);
  }

  /** The buckets that were full a moment ago. */
  knownFull(wanted: Bucket[]): FullBucket[] {
    const now = this.now();
    return this.full(wanted).filter(({ key }) => (this.buckets.get(key)?.freshUntil ?? 0) > now);
  }

  /**
   * The same, for a caller that asks for all of these when none was full a moment ago. Of many who come at once then,
   * one asks, and the others still find them full.
   */
  knownFullOrToAsk(wanted: Bucket[]): FullBucket[] {
    const known = this.knownFull(wanted);
    if (known.length > 0) return known;
    const freshUntil = this.now() + FRESH_MS;
    for (const { key } of this.full(wanted)) {
      const bucket = this.buckets.get(key);
      if (bucket) bucket.freshUntil = freshUntil;
    }
    return [];
  }

  /** Takes from each bucket, or returns the full ones and takes none. */
  take(wanted: Bucket[]): FullBucket[] {
    const full = this.full(wanted);
    if (full.length > 0) return full;
    const now = this.now();
    for (const { key, seconds, uses = 1 } of wanted) {
      const bucket = this.buckets.get(key);
      if (bucket && bucket.resetsAt > now)
        Object.assign(bucket, { used: bucket.used + uses, alone: bucket.alone + uses });
      else this.set(key, uses, seconds, uses);
    }
    return [];
  }

  private aloneOf(key: string): number {
    const bucket = this.buckets.get(key);
    return bucket && bucket.resetsAt > this.now() ? bucket.alone : 0;
  }

  private full(wanted: Bucket[]): FullBucket[] {
    const now = this.now();
    return wanted.flatMap(({ key, amount }) => {
      const bucket = this.buckets.get(key);
      if (!bucket || bucket.resetsAt <= now || bucket.used < amount) return [];
      return [{ key, used: bucket.used, seconds: (bucket.resetsAt - now) / 1_000, noted: true, spent: true }];
    });
  }

  private set(key: string, used: number, seconds: number, alone: number): void {
    if (this.buckets.size >= MOST_SUBJECTS) this.buckets.clear();
    const now = this.now();
    this.buckets.set(key, { used, alone, resetsAt: now + seconds * 1_000, freshUntil: now + FRESH_MS });
  }
}
