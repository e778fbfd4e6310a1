import type { Bucket, FullBucket } from './limits-repository';

interface Known {
  used: number;
  resetsAt: number;
  /** Until then the database is not asked again. */
  freshUntil: number;
}

/** With more subjects all are forgotten, so that memory stays bounded. */
const MOST_SUBJECTS = 100_000;
/** For so long a full bucket refuses without asking the database. */
const FRESH_MS = 250;

/** The buckets that the database has just said to be full. They spare it the storms of those who are refused. */
export class FullBuckets {
  private readonly buckets = new Map<string, Known>();

  constructor(private readonly now = () => Date.now()) {}

  /** What the database has said of `asked`; others of the full ones are not remembered. */
  learn(full: FullBucket[], asked: Bucket[]): void {
    const keys = new Set(asked.map(({ key }) => key));
    for (const key of keys) this.buckets.delete(key);
    if (this.buckets.size >= MOST_SUBJECTS) this.buckets.clear();
    const now = this.now();
    for (const { key, used, seconds } of full)
      if (keys.has(key)) this.buckets.set(key, { used, resetsAt: now + seconds * 1_000, freshUntil: now + FRESH_MS });
  }

  forget(key: string): void {
    this.buckets.delete(key);
  }

  /** Those whose keys begin with `prefix`. */
  forgetAll(prefix: string): void {
    for (const key of this.buckets.keys()) if (key.startsWith(prefix)) this.buckets.delete(key);
  }

  /** The buckets that were full a moment ago. */
  known(wanted: Bucket[]): FullBucket[] {
    const now = this.now();
    return this.full(wanted).filter(({ key }) => (this.buckets.get(key)?.freshUntil ?? 0) > now);
  }

  /**
   * The same, for a caller that asks for all of these when none was full a moment ago. Of many who come at once then,
   * one asks, and the others still find them full.
   */
  knownOrToAsk(wanted: Bucket[]): FullBucket[] {
    const known = this.known(wanted);
    if (known.length > 0) return known;
    const freshUntil = this.now() + FRESH_MS;
    for (const { key } of this.full(wanted)) {
      const bucket = this.buckets.get(key);
      if (bucket) bucket.freshUntil = freshUntil;
    }
    return [];
  }

  private full(wanted: Bucket[]): FullBucket[] {
    const now = this.now();
    return wanted.flatMap(({ key, amount }) => {
      const bucket = this.buckets.get(key);
      if (!bucket || bucket.resetsAt <= now || bucket.used < amount) return [];
      return [{ key, used: bucket.used, seconds: (bucket.resetsAt - now) / 1_000, noted: true }];
    });
  }
}
