import type { Caller } from '../../caller';
import { KeyedQueue } from '../../database/keyed-queue';
import type { AppError } from '../../errors';
import type { Held, Limiter, Use } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import { Gate } from './gate';

type LoginLimits = Pick<
  Limits,
  | 'loginFailuresPerPhoneAndAddress'
  | 'loginFailuresPerPhoneAndAddressDay'
  | 'loginFailuresPerPhone'
  | 'loginFailuresPerAddress'
  | 'loginsPerPhoneAndAddress'
  | 'loginsPerPhone'
>;

/** Longest wait of a login for others of the same phone and address. */
const WAIT_MS = 3_000;
/** Logins of one phone and address at once, when the limit of failures is lifted. */
const AT_ONCE = 10;

/** A try counts as a failure from before the password is compared, until it has proved right. */
export class LoginAttempts {
  /** By phone and address: no more tries at once than the limit has places, and as many that wait. */
  private readonly gates = new Map<string, Gate>();
  private readonly comparisons: KeyedQueue;

  constructor(
    private readonly limiter: Limiter,
    private readonly limits: LoginLimits,
    /** Passwords of one phone that are compared at once; with more the login is refused with 503. */
    comparedAtOnce: number,
  ) {
    this.comparisons = new KeyedQueue(comparedAtOnce, 0);
  }

  /** Runs `compare` within the limits. When it returns something, the try does not count. */
  async within<T>(phone: string, caller: Caller, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const pair = `${phone} ${caller.address}`;
    return this.throughGate(pair, async (gate) => {
      const held = await this.hold(gate, caller, [
        { limit: this.limits.loginFailuresPerPhoneAndAddress, subject: pair },
        { limit: this.limits.loginFailuresPerPhoneAndAddressDay, subject: pair },
        { limit: this.limits.loginFailuresPerPhone, subject: phone },
        { limit: this.limits.loginFailuresPerAddress, subject: caller.address },
      ]);
      return settle(held, () => this.comparisons.run(phone, compare));
    });
  }

  /** Throws when there have been too many right logins, too. */
  async countRight(phone: string, caller: Caller): Promise<void> {
    await this.limiter.take(
      caller,
      { limit: this.limits.loginsPerPhoneAndAddress, subject: `${phone} ${caller.address}` },
      { limit: this.limits.loginsPerPhone, subject: phone },
    );
  }

  /** After a reset the owner can log in, however often others have failed. */
  async forget(phone: string): Promise<void> {
    await this.limiter.clear({ limit: this.limits.loginFailuresPerPhone, subject: phone });
    const { loginFailuresPerPhoneAndAddress, loginFailuresPerPhoneAndAddressDay } = this.limits;
    for (const limit of [loginFailuresPerPhoneAndAddress, loginFailuresPerPhoneAndAddressDay])
      await this.limiter.clearAll({ limit, subject: `${phone} ` });
  }

  private async throughGate<T>(pair: string, work: (gate: Gate) => Promise<T>): Promise<T> {
    const gate = this.gates.get(pair) ?? this.newGate();
    this.gates.set(pair, gate);
    try {
      return await gate.run(() => work(gate));
    } finally {
      if (gate.isEmpty) this.gates.delete(pair);
    }
  }

  private newGate(): Gate {
    const { amount, refusal } = this.limits.loginFailuresPerPhoneAndAddress;
    return new Gate(amount > 0 ? amount : AT_ONCE, WAIT_MS, (): AppError => refusal(WAIT_MS / 1_000));
  }

  /** A refused try waits for another try of this instance, which may give its place back. */
  private async hold(gate: Gate, caller: Caller, uses: Use[]): Promise<Held> {
    for (;;) {
      const answer = await this.limiter.tryToHold(caller, ...uses);
      if (!('refusal' in answer)) return answer;
      if (await gate.waitForAnother()) continue;
      await answer.note();
      throw answer.refusal;
    }
  }
}

async function settle<T>(held: Held, compare: () => Promise<T | undefined>): Promise<T | undefined> {
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
