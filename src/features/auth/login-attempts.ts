import type { Caller } from '../../caller';
import { KeyedQueue } from '../../database/keyed-queue';
import type { AppError } from '../../errors';
import type { Held, Limiter, Use } from '../limits/limiter';
import type { Limit, Limits } from '../limits/limits';
import { Gate } from './gate';

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

/** A try counts as a failure from before the password is compared, until it has proved right. */
export class LoginAttempts {
  /** By phone and address, or by device: no more tries at once than the limit has places, and as many that wait. */
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
  async within<T>({ phone, caller, device }: Try, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const counts = device ? this.ofDevice(device) : this.ofStranger(phone, caller);
    return this.throughGate(counts, async (gate) => {
      const held = await this.hold(gate, caller, counts.uses);
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
      if (await gate.waitForAnother()) continue;
      await answer.note();
      throw answer.refusal;
    }
  }
}

function newGate({ amount, refusal }: Limit): Gate {
  return new Gate(amount > 0 ? amount : AT_ONCE, WAIT_MS, (): AppError => refusal(WAIT_MS / 1_000));
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
