import type { Caller } from '../audit/caller';
import type { Held, Limiter, Refused, Use } from '../limits/limiter';
import type { Limits } from '../limits/limits';

type LoginLimits = Pick<
  Limits,
  'loginFailuresPerPhoneAndAddress' | 'loginFailuresPerPhone' | 'loginFailuresPerAddress'
>;

/** Every try counts as a failure from before the password is compared until it has proved right. */
export class LoginAttempts {
  private readonly takes = new UnderWay<Held | Refused>();
  private readonly comparisons = new UnderWay();

  constructor(
    private readonly limiter: Limiter,
    private readonly limits: LoginLimits,
  ) {}

  /** Runs `compare` within the limits; only a true answer is not counted. */
  async within<T>(phone: string, caller: Caller, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const pair = `${phone} ${caller.address}`;
    const held = await this.take(pair, caller, [
      { limit: this.limits.loginFailuresPerPhoneAndAddress, subject: pair },
      { limit: this.limits.loginFailuresPerPhone, subject: phone },
      { limit: this.limits.loginFailuresPerAddress, subject: caller.address },
    ]);
    return this.comparisons.follow(pair, this.settle(held, compare));
  }

  /** After a reset the owner is back in, whatever others have tried. */
  async forget(phone: string): Promise<void> {
    await this.limiter.clear({ limit: this.limits.loginFailuresPerPhone, subject: phone });
    await this.limiter.clearAll({ limit: this.limits.loginFailuresPerPhoneAndAddress, subject: `${phone} ` });
  }

  private async settle<T>(held: Held, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    let compared = false;
    let right = false;
    try {
      const result = await compare();
      compared = true;
      right = result !== undefined;
      return result;
    } finally {
      if (right || !compared) await held.giveBack();
      else await held.settle();
    }
  }

  /**
   * Tries that are under way hold their place. Whoever finds none left waits for one of this instance's to be given back,
   * so that many right logins at once are no failures; a phone that is really locked has none under way, and is told at once.
   */
  private async take(pair: string, caller: Caller, uses: Use[]): Promise<Held> {
    for (;;) {
      const comparisons = this.comparisons.of(pair);
      const takes = this.takes.of(pair);
      const answer = await this.takes.follow(pair, this.limiter.tryToHold(caller, ...uses));
      if (!('refusal' in answer)) return answer;
      if (comparisons.length > 0) await Promise.race(comparisons);
      // Who took the last place may not have heard of it yet.
      else if (!(await Promise.all(takes)).some(isTaken)) {
        await answer.note();
        throw answer.refusal;
      }
    }
  }
}

function isTaken(answer: Held | Refused | undefined): boolean {
  return answer !== undefined && 'giveBack' in answer;
}

/** Promises that are not settled yet, by a key. */
class UnderWay<T = unknown> {
  private readonly promises = new Map<string, Set<Promise<T | undefined>>>();

  /** Each gives, once it is settled, its result, or undefined when it has failed. */
  of(key: string): Promise<T | undefined>[] {
    return [...(this.promises.get(key) ?? [])];
  }

  follow<Result extends T>(key: string, promise: Promise<Result>): Promise<Result> {
    const promises = this.promises.get(key) ?? new Set();
    this.promises.set(key, promises);
    const settled: Promise<T | undefined> = promise
      .catch(() => undefined)
      .finally(() => {
        promises.delete(settled);
        if (promises.size === 0) this.promises.delete(key);
      });
    promises.add(settled);
    return promise;
  }
}
