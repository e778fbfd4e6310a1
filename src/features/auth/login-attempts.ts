import type { Caller } from '../../caller';
import type { AppError } from '../../errors';
import type { Held, Limiter, Use } from '../limits/limiter';
import type { Limit, Limits } from '../limits/limits';
import { Gate } from './gate';
import type { HashingShares } from './hashing-shares';

type LoginLimits = Pick<
  Limits,
  | 'loginFailuresPerPhoneAndAddress'
  | 'loginFailuresPerPhoneAndAddressDay'
  | 'loginFailuresPerPhone'
  | 'loginFailuresPerAddress'
  | 'loginFailuresPerDevice'
  | 'loginFailuresPerDeviceDay'
  | 'loginsPerPhoneAndAddress'
  | 'loginsPerPhone'
  | 'passwordChangesPerHour'
>;

/** Where an account was signed in to before, under the password of this version. */
export interface Device {
  id: string;
  userId: string;
  credentialsVersion: number;
}

/** A try at a phone's password. */
export interface Try {
  phone: string;
  caller: Caller;
  /** One of the account that has this phone. Undefined for a stranger. */
  device: Device | undefined;
}

interface Counts {
  /** Whose tries count together. */
  who: string;
  /** How many of them are let in at once. */
  first: Limit;
  uses: Use[];
}

/** Longest wait of a login for others of the same phone and address. */
const WAIT_MS = 3_000;
/** Logins of one phone and address at once, when the limit of failures is lifted. */
const AT_ONCE = 10;

/**
 * A try counts as a failure and as a success from before the password is compared, so that what is beyond a limit of
 * either is not compared. Then it counts as the one that it was.
 */
export class LoginAttempts {
  /** By phone and address, or by device: no more tries at once than the limit has places, and as many that wait. */
  private readonly gates = new Map<string, Gate>();

  constructor(
    private readonly limiter: Limiter,
    private readonly limits: LoginLimits,
    private readonly shares: HashingShares,
  ) {}

  /** Runs `compare` within the limits of logins. When it returns something, the password is right. */
  async logIn<T>(one: Try, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const { loginsPerPhoneAndAddress, loginsPerPhone } = this.limits;
    const successes = [
      { limit: loginsPerPhoneAndAddress, subject: `${one.phone} ${one.caller.address}` },
      { limit: loginsPerPhone, subject: one.phone },
    ];
    return this.within(one, successes, compare);
  }

  /** The same for the old password of a user who wants another one. */
  async change<T>(userId: string, one: Try, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    return this.within(one, [{ limit: this.limits.passwordChangesPerHour, subject: userId }], compare);
  }

  /** With a new password the owner can log in, however often others got in by the old one. */
  async forgetRight(phone: string): Promise<void> {
    const { loginsPerPhone, loginsPerPhoneAndAddress } = this.limits;
    await this.limiter.clear({ limit: loginsPerPhone, subject: phone });
    await this.limiter.clearAll({ limit: loginsPerPhoneAndAddress, subject: `${phone} ` });
  }

  /** After a reset also however often others have failed. */
  async forget(phone: string): Promise<void> {
    await this.forgetRight(phone);
    await this.limiter.clear({ limit: this.limits.loginFailuresPerPhone, subject: phone });
    const { loginFailuresPerPhoneAndAddress, loginFailuresPerPhoneAndAddressDay } = this.limits;
    for (const limit of [loginFailuresPerPhoneAndAddress, loginFailuresPerPhoneAndAddressDay])
      await this.limiter.clearAll({ limit, subject: `${phone} ` });
  }

  private async within<T>(
    { phone, caller, device }: Try,
    successes: Use[],
    compare: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const failures = device ? this.ofDevice(device) : this.ofStranger(phone, caller);
    return this.throughGate(failures, (gate) =>
      this.shares.run(phone, caller.address, async () => {
        const held = await this.hold(gate, caller, [...failures.uses, ...successes]);
        return settle(held, { successes, failures: failures.uses }, compare);
      }),
    );
  }

  private ofStranger(phone: string, caller: Caller): Counts {
    const pair = `${phone} ${caller.address}`;
    const uses = [
      { limit: this.limits.loginFailuresPerPhoneAndAddress, subject: pair },
      { limit: this.limits.loginFailuresPerPhoneAndAddressDay, subject: pair },
      { limit: this.limits.loginFailuresPerPhone, subject: phone },
      { limit: this.limits.loginFailuresPerAddress, subject: caller.address },
    ];
    return { who: pair, first: this.limits.loginFailuresPerPhoneAndAddress, uses };
  }

  /** None that strangers can use up, so that they cannot lock a device out on which the account was signed in to. */
  private ofDevice({ userId, id }: Device): Counts {
    const who = `${userId} ${id}`;
    const uses = [
      { limit: this.limits.loginFailuresPerDevice, subject: who },
      { limit: this.limits.loginFailuresPerDeviceDay, subject: who },
    ];
    return { who, first: this.limits.loginFailuresPerDevice, uses };
  }

  private async throughGate<T>({ who, first }: Counts, work: (gate: Gate) => Promise<T>): Promise<T> {
    const gate = this.gates.get(who) ?? newGate(first);
    this.gates.set(who, gate);
    try {
      return await gate.run(() => work(gate));
    } finally {
      if (gate.isEmpty) this.gates.delete(who);
    }
  }

  /** A refused try waits for another try of this instance, which may give its place back. */
  private async hold(gate: Gate, caller: Caller, uses: Use[]): Promise<Held> {
    for (;;) {
      const answer = await this.limiter.tryToHold(caller, ...uses);
      if (!('refusal' in answer)) return answer;
      if (!answer.lasting && (await gate.waitForAnother())) continue;
      await answer.note();
      throw answer.refusal;
    }
  }
}

function newGate({ amount, refusal }: Limit): Gate {
  return new Gate(amount > 0 ? amount : AT_ONCE, WAIT_MS, (): AppError => refusal(WAIT_MS / 1_000));
}

interface Ends {
  successes: Use[];
  failures: Use[];
}

async function settle<T>(
  held: Held,
  { successes, failures }: Ends,
  compare: () => Promise<T | undefined>,
): Promise<T | undefined> {
  let result: T | undefined;
  try {
    result = await compare();
  } catch (error) {
    await held.giveBack();
    throw error;
  }
  await held.settle(result === undefined ? failures : successes);
  return result;
}
