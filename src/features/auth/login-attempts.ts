import type { Caller } from '../../caller';
import { TooManyRequests, type AppError } from '../../errors';
import type { Queues } from '../../load/queues';
import type { KnownPlaces } from '../audit/known-places';
import type { Held, Limiter, Refused, Use } from '../limits/limiter';
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
  /** Whose share of the hashing queue they take of. */
  share: string;
  /** How many of them are let in at once. */
  first: Limit;
  uses: Use[];
}

/** What a try may turn out to count as. */
interface Ends {
  successes: Use[];
  failures: Counts;
}

export type PasswordQueues = Pick<Queues, 'passwordsOfAccount' | 'passwordsOfAddress'>;

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
    private readonly queues: PasswordQueues,
    private readonly places: Pick<KnownPlaces, 'standingOf'>,
  ) {}

  /** Runs `compare` within the limits of logins. When it returns something, the password is right. */
  async logIn<T>(one: Try, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const { loginsPerPhoneAndAddress, loginsPerPhone } = this.limits;
    const successes = [
      { limit: loginsPerPhoneAndAddress, subject: `${one.phone} ${one.caller.address}` },
      { limit: loginsPerPhone, subject: one.phone },
    ];
    return this.fromPlace(one, (failures) => this.within(one.caller, { successes, failures }, compare));
  }

  /** The same for the old password of a user who wants another one. */
  async change<T>(userId: string, one: Try, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const successes = [{ limit: this.limits.passwordChangesPerHour, subject: userId }];
    return this.fromPlace(one, (failures) =>
      this.within(one.caller, { successes, failures: { ...failures, share: userId } }, compare),
    );
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

  /**
   * Asks for the place only once a try is refused, so that no storm of tries has the database asked for each, and no
   * answer to a compared password takes longer for a phone that has an account.
   */
  private async fromPlace<T>(one: Try, logIn: (failures: Counts) => Promise<T>): Promise<T> {
    if (one.device) return logIn(this.ofDevice(one.device));
    const failures = this.ofStranger(one.phone, one.caller);
    try {
      return await logIn(failures);
    } catch (error) {
      if (!(error instanceof TooManyRequests)) throw error;
      const known = this.ofKnownAddress(failures, one.phone);
      // An address beyond its own limits costs the database nothing.
      this.queues.passwordsOfAccount.check(known.share);
      this.queues.passwordsOfAddress.check(one.caller.address);
      await this.limiter.checkKnown(one.caller, ...known.uses);
      if ((await this.places.standingOf(one.phone, one.caller)) !== 'known') throw error;
      return logIn(known);
    }
  }

  /** A refused try waits for another try of this instance, which may give its place back, and keeps no share meanwhile. */
  private async within<T>(caller: Caller, ends: Ends, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    return this.throughGate(ends.failures, async (gate) => {
      for (;;) {
        const end = await this.inShare(caller, ends, compare);
        if (!('refusal' in end)) return end.result;
        if (!end.lasting && (await gate.waitForAnother())) continue;
        await end.note();
        throw end.refusal;
      }
    });
  }

  /** The share comes first, so that whoever tries more than it has room for costs the database nothing. */
  private async inShare<T>(
    caller: Caller,
    ends: Ends,
    compare: () => Promise<T | undefined>,
  ): Promise<{ result: T | undefined } | Refused> {
    const { successes, failures } = ends;
    return withinShares(this.queues, failures.share, caller, async () => {
      const held = await this.limiter.tryToHold(caller, ...failures.uses, ...successes);
      return 'refusal' in held ? held : { result: await settle(held, ends, compare) };
    });
  }

  private ofStranger(phone: string, caller: Caller): Counts {
    const pair = `${phone} ${caller.address}`;
    const uses = [
      { limit: this.limits.loginFailuresPerPhoneAndAddress, subject: pair },
      { limit: this.limits.loginFailuresPerPhoneAndAddressDay, subject: pair },
      { limit: this.limits.loginFailuresPerPhone, subject: phone },
      { limit: this.limits.loginFailuresPerAddress, subject: caller.address },
    ];
    return { who: pair, share: phone, first: this.limits.loginFailuresPerPhoneAndAddress, uses };
  }

  /** The address keeps its own limits, and is neither counted nor refused with the strangers of all others. */
  private ofKnownAddress(failures: Counts, phone: string): Counts {
    return { ...failures, share: failures.who, uses: failures.uses.filter(({ subject }) => subject !== phone) };
  }

  /** None that strangers can use up, so that they cannot lock a device out on which the account was signed in to. */
  private ofDevice({ userId, id }: Device): Counts {
    const who = `${userId} ${id}`;
    const uses = [
      { limit: this.limits.loginFailuresPerDevice, subject: who },
      { limit: this.limits.loginFailuresPerDeviceDay, subject: who },
    ];
    return { who, share: who, first: this.limits.loginFailuresPerDevice, uses };
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
}

function newGate({ amount, refusal }: Limit): Gate {
  return new Gate(amount > 0 ? amount : AT_ONCE, WAIT_MS, (): AppError => refusal(WAIT_MS / 1_000, 1));
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
  await held.settle(result === undefined ? failures.uses : successes);
  return result;
}

/**
 * Runs a job with a password within the shares of the account and of the address. The account is what the owner has shown:
 * a known device or address, a verification token, or a session of the user. Of strangers it is the phone that they try.
 */
export function withinShares<T>(
  { passwordsOfAccount, passwordsOfAddress }: PasswordQueues,
  account: string,
  { address }: Caller,
  job: () => Promise<T>,
): Promise<T> {
  return passwordsOfAccount.run(account, () => passwordsOfAddress.run(address, job));
}
