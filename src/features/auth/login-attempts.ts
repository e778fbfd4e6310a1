import type { Caller } from '../../caller';
import type { Held, Limiter, Refused, Use } from '../limits/limiter';
import type { Limits } from '../limits/limits';

type LoginLimits = Pick<
  Limits,
  'loginFailuresPerPhoneAndAddress' | 'loginFailuresPerPhone' | 'loginFailuresPerAddress'
>;

/** A try counts as a failure from before the password is compared, until it has proved right. */
export class LoginAttempts {
  private readonly takes = new UnderWay<Held | Refused>();
  private readonly comparisons = new UnderWay();

  constructor(
    private readonly limiter: Limiter,
    private readonly limits: LoginLimits,
  ) {}

  /** Runs `compare` within the limits. When it returns something, the try does not count. */
  async within<T>(phone: string, caller: Caller, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const pair = `${phone} ${caller.address}`;
    const held = await this.take(pair, caller, [
      { limit: this.limits.loginFailuresPerPhoneAndAddress, subject: pair },
      { limit: this.limits.loginFailuresPerPhone, subject: phone },
      { limit: this.limits.loginFailuresPerAddress, subject: caller.address },
    ]);
    return this.comparisons.follow(pair, this.settle(held, compare));
  }

  /** After a reset the owner can log in, however often others have failed. */
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
   * A try under way holds a place. When none is left, a login waits until a try of this instance gives its place back,
   * so that many right logins at once do not fail. A phone that is really locked has no try under way, and is refused
   * at once.
   */
  private async take(pair: string, caller: Caller, uses: Use[]): Promise<Held> {
    for (;;) {
      const comparisons = this.comparisons.of(pair);
      const takes = this.takes.of(pair);
      const answer = await this.takes.follow(pair, this.limiter.tryToHold(caller, ...uses));
      if (!('refusal' in answer)) return answer;
      if (comparisons.length > 0) await Promise.race(comparisons);
      // The try that took the last place may not have its answer yet.
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

/** The promises of each key that are not settled yet. */
class UnderWay<T = unknown> {
  private readonly promises = new Map<string, Set<Promise<T | undefined>>>();

  /** Each resolves with its result, or with undefined when it has failed. */
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
