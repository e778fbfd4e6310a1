import { TooManyRequests } from '../../errors';
import type { Caller } from '../audit/caller';
import type { Limiter, Taken, Use } from '../limits/limiter';
import type { Limits } from '../limits/limits';

type LoginLimits = Pick<
  Limits,
  'loginFailuresPerPhoneAndAddress' | 'loginFailuresPerPhone' | 'loginFailuresPerAddress'
>;

/** Every try counts as a failure from before the password is compared until it has proved right. */
export class LoginAttempts {
  private readonly underWay = new Map<string, Set<Promise<void>>>();

  constructor(
    private readonly limiter: Limiter,
    private readonly limits: LoginLimits,
  ) {}

  /** Runs `compare` within the limits; only a true answer is not counted. */
  async within<T>(phone: string, caller: Caller, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const pair = `${phone} ${caller.address}`;
    const taken = await this.take(pair, caller, [
      { limit: this.limits.loginFailuresPerPhoneAndAddress, subject: pair },
      { limit: this.limits.loginFailuresPerPhone, subject: phone },
      { limit: this.limits.loginFailuresPerAddress, subject: caller.address },
    ]);
    const attempt = this.settle(taken, compare);
    this.follow(pair, attempt);
    return attempt;
  }

  /** After a reset the owner is back in, whatever others have tried. */
  async forget(phone: string): Promise<void> {
    await this.limiter.clear({ limit: this.limits.loginFailuresPerPhone, subject: phone });
    await this.limiter.clearAll({ limit: this.limits.loginFailuresPerPhoneAndAddress, subject: `${phone} ` });
  }

  private async settle<T>(taken: Taken, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    let compared = false;
    let right = false;
    try {
      const result = await compare();
      compared = true;
      right = result !== undefined;
      return result;
    } finally {
      if (right || !compared) await taken.giveBack();
    }
  }

  /**
   * Tries that are under way hold their place. Whoever finds none left waits for one of these to be given back, so that
   * many right logins at once are no failures; a phone that is really locked has none under way, and is told at once.
   */
  private async take(pair: string, caller: Caller, uses: Use[]): Promise<Taken> {
    for (;;) {
      const waitFor = [...(this.underWay.get(pair) ?? [])];
      try {
        return await this.limiter.take(caller, ...uses);
      } catch (error) {
        if (!(error instanceof TooManyRequests) || waitFor.length === 0) throw error;
        await Promise.race(waitFor);
      }
    }
  }

  private follow(pair: string, attempt: Promise<unknown>): void {
    const attempts = this.underWay.get(pair) ?? new Set();
    this.underWay.set(pair, attempts);
    const ended: Promise<void> = attempt
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        attempts.delete(ended);
        if (attempts.size === 0) this.underWay.delete(pair);
      });
    attempts.add(ended);
  }
}
