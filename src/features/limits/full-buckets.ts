import type { Bucket, FullBucket } from './limits-repository';

interface Known {
  used: number;
  resetsAt: number;
  /** Time until which the database is not asked again. */
  freshUntil: number;
}

/** Maximum subjects. Beyond it all are forgotten, so that memory stays bounded. */
const MOST_SUBJECTS = 100_000;
/** Time during which a full bucket refuses without asking the database. */
const FRESH_MS = 250;

/** Buckets that the database has just reported as full. They spare it storms of requests that are refused anyway. */
export class FullBuckets {
  private readonly buckets = new Map<string, Known>();

  constructor(private readonly now = () => Date.now()) {}

  /** Remembers the database's answer about `asked`, but no other full buckets. */
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

  /** Forgets buckets whose keys begin with `prefix`. */
  forgetAll(prefix: string): void {
    for (const key of this.buckets.keys()) if (key.startsWith(prefix)) this.buckets.delete(key);
  }

  /** Returns the buckets that were full a moment ago. */
  known(wanted: Bucket[]): FullBucket[] {
    const now = this.now();
    return this.notReset(wanted).filter(({ key }) => (this.buckets.get(key)?.freshUntil ?? 0) > now);
  }

  /**
   * Like `known`, for a caller that asks the database when the result is empty. Among simultaneous requests only one
   * then asks: the others still find the buckets full.
   */
  knownOrToAsk(wanted: Bucket[]): FullBucket[] {
    const known = this.known(wanted);
    if (known.length > 0) return known;
    const freshUntil = this.now() + FRESH_MS;
    for (const { key } of this.notReset(wanted)) {
      const bucket = this.buckets.get(key);
      if (bucket) bucket.freshUntil = freshUntil;
    }
    return [];
  }

  /** Returns the buckets that were full at the last answer, and whose windows have not ended. */
  private notReset(wanted: Bucket[]): FullBucket[] {
    const now = this.now();
    return wanted.flatMap(({ key, amount }) => {
      const bucket = this.buckets.get(key);
      if (!bucket || bucket.resetsAt <= now || bucket.used < amount) return [];
      return [{ key, used: bucket.used, seconds: (bucket.resetsAt - now) / 1_000, noted: true }];
    });
  }
}
