import { TooManyRequests } from '../../errors';
import { sharesOf } from '../../http/client-address';

interface Share {
  key: string;
  most: number;
}

/** So long a password waits to be hashed at most. */
const RETRY_AFTER_SECONDS = 3;
const TOO_MANY = 'too many passwords of this account or address are being checked: try again shortly';

/**
 * Of the passwords that an instance hashes or keeps waiting for it, those of one account, and those of one address,
 * have a share. What is beyond is refused at once, before anything is asked of the database, and the rest is left to
 * others. Strangers who try an account's password have another share than its owner.
 */
export class HashingShares {
  private readonly taken = new Map<string, number>();

  constructor(private readonly share: number) {}

  /**
   * `who` is what the owner has shown: a known device or address, a verification token, or a session of the user. Of
   * strangers it is the phone whose password they try.
   */
  async run<T>(who: string, address: string, job: () => Promise<T>): Promise<T> {
    this.check(who, address);
    const shares = this.sharesOf(who, address);
    for (const { key } of shares) this.taken.set(key, this.takenOf(key) + 1);
    try {
      return await job();
    } finally {
      for (const { key } of shares) this.giveBack(key);
    }
  }

  /** Throws the refusal that `run` would throw now. */
  check(who: string, address: string): void {
    if (this.sharesOf(who, address).some(({ key, most }) => this.takenOf(key) >= most))
      throw new TooManyRequests('too_many_at_once', TOO_MANY, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  private sharesOf(who: string, address: string): Share[] {
    const networks = sharesOf(address, this.share).map(({ network, most }) => ({ key: `from ${network}`, most }));
    return [{ key: `of ${who}`, most: this.share }, ...networks];
  }

  private takenOf(key: string): number {
    return this.taken.get(key) ?? 0;
  }

  private giveBack(key: string): void {
    const left = this.takenOf(key) - 1;
    if (left > 0) this.taken.set(key, left);
    else this.taken.delete(key);
  }
}
