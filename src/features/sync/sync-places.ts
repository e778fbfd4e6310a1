import { TooManyRequests } from '../../errors';

const RETRY_AFTER_SECONDS = 5;

/** Counts what each user has under way in this process, and refuses more than `atOnce`. */
export class SyncPlaces {
  private readonly taken = new Map<string, number>();

  constructor(private readonly atOnce: number) {}

  /** Returns what frees the place, once. */
  take(userId: string): () => void {
    const taken = this.taken.get(userId) ?? 0;
    if (taken >= this.atOnce)
      throw new TooManyRequests(`${this.atOnce} large answers to this user are under way: let one of them end first`, {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    this.taken.set(userId, taken + 1);
    return () => this.free(userId);
  }

  private free(userId: string): void {
    const left = (this.taken.get(userId) ?? 1) - 1;
    if (left > 0) this.taken.set(userId, left);
    else this.taken.delete(userId);
  }
}
