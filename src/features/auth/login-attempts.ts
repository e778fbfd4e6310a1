import type { Caller } from '../../base/caller';
import { TooManyRequests } from '../../base/errors';
import type { Queues } from '../../load/queues';
import type { KnownPlaces } from '../audit/known-places';
import type { PendingUses, Limiter, LimitUse } from '../limits/limiter';

/** A device on which an account was signed in before, under the password of this version. */
export interface Device {
  id: string;
  userId: string;
  credentialsVersion: number;
}

/** An attempt to log in with a phone and a password. */
export interface Try {
  phone: string;
  caller: Caller;
  /** Known device of the account that has this phone. Undefined for a stranger. */
  device: Device | undefined;
}

/** The limits that a failed attempt counts against. */
interface Failures {
  /** Owner of the share of the hashing queue that the attempt uses. */
  share: string;
  uses: LimitUse[];
}

/** The limits that an attempt counts against, by its result. */
interface Ends {
  successes: LimitUse[];
  failures: Failures;
}

export type PasswordQueues = Pick<Queues, 'passwordsOfAccount' | 'passwordsOfAddress'>;

/**
 * Limits attempts to log in. An attempt counts as a failure and as a success before the password is compared, so that
 * an attempt beyond either limit is not compared. Afterwards it only counts as what it was.
 */
export class LoginAttempts {
  constructor(
    private readonly limiter: Limiter,
    private readonly queues: PasswordQueues,
    private readonly places: Pick<KnownPlaces, 'standingOf'>,
  ) {}

  /** Runs `compare` within the limits of logins. It returns undefined for a wrong password. */
  async logIn<T>(one: Try, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const successes = rightLogins(one.phone, one.caller);
    return this.fromPlace(one, (failures) => this.within(one.caller, { successes, failures }, compare));
  }

  /** Counts a login by a verification token as a right one. Failures at the password do not refuse it. */
  async byToken(phone: string, caller: Caller): Promise<void> {
    await this.limiter.take(caller, ...rightLogins(phone, caller));
  }

  /** Like `logIn`, but for the old password of a user who changes it. */
  async change<T>(userId: string, one: Try, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const successes: LimitUse[] = [{ limit: 'passwordChangesPerHour', subject: userId }];
    return this.fromPlace(one, (failures) =>
      this.within(one.caller, { successes, failures: { ...failures, share: userId } }, compare),
    );
  }

  /** Clears counts of successes: with a new password the owner can log in, however often others used the old one. */
  async forgetRight(phone: string): Promise<void> {
    await this.limiter.clear('loginsPerPhone', phone);
    await this.limiter.clearAll('loginsPerPhoneAndAddress', `${phone} `);
  }

  /** Also clears the counts of failures. After a reset the owner can log in, however often others have failed. */
  async forget(phone: string): Promise<void> {
    await this.forgetRight(phone);
    await this.limiter.clear('loginFailuresPerPhone', phone);
    for (const limit of ['loginFailuresPerPhoneAndAddress', 'loginFailuresPerPhoneAndAddressDay'] as const)
      await this.limiter.clearAll(limit, `${phone} `);
  }

  /**
   * Asks for the place only when an attempt is refused. A storm of attempts then does not query the database for each
   * one, and answers after a comparison do not take longer for phones that have an account.
   */
  private async fromPlace<T>(one: Try, logIn: (failures: Failures) => Promise<T>): Promise<T> {
    if (one.device) return logIn(ofDevice(one.device));
    const failures = ofStranger(one.phone, one.caller);
    try {
      return await logIn(failures);
    } catch (error) {
      if (!(error instanceof TooManyRequests)) throw error;
      const known = ofKnownAddress(failures, one.phone, one.caller);
      // An address beyond its own limits is refused without a query.
      this.queues.passwordsOfAccount.check(known.share);
      this.queues.passwordsOfAddress.check(one.caller.address);
      await this.limiter.checkKnown(one.caller, ...known.uses);
      if ((await this.places.standingOf(one.phone, one.caller)) !== 'known') throw error;
      return logIn(known);
    }
  }

  /** Checks the share first, so that attempts beyond it are refused without a query. */
  private async within<T>(caller: Caller, ends: Ends, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const { successes, failures } = ends;
    return withinShares(this.queues, failures.share, caller, async () => {
      const held = await this.limiter.hold(caller, ...failures.uses, ...successes);
      return settle(held, ends, compare);
    });
  }
}

function rightLogins(phone: string, { address }: Caller): LimitUse[] {
  return [
    { limit: 'loginsPerPhoneAndAddress', subject: `${phone} ${address}` },
    { limit: 'loginsPerPhone', subject: phone },
  ];
}

function ofStranger(phone: string, { address }: Caller): Failures {
  const pair = `${phone} ${address}`;
  return {
    share: phone,
    uses: [
      { limit: 'loginFailuresPerPhoneAndAddress', subject: pair },
      { limit: 'loginFailuresPerPhoneAndAddressDay', subject: pair },
      { limit: 'loginFailuresPerPhone', subject: phone },
      { limit: 'loginFailuresPerAddress', subject: address },
    ],
  };
}

/** Returns the address's own limits: a known address is not counted or refused together with strangers elsewhere. */
function ofKnownAddress({ uses }: Failures, phone: string, { address }: Caller): Failures {
  return { share: `${phone} ${address}`, uses: uses.filter(({ subject }) => subject !== phone) };
}

/** Returns the limits for a known device. Strangers cannot exhaust them, so they cannot lock that device out. */
function ofDevice({ userId, id }: Device): Failures {
  const subject = `${userId} ${id}`;
  return {
    share: subject,
    uses: [
      { limit: 'loginFailuresPerDevice', subject },
      { limit: 'loginFailuresPerDeviceDay', subject },
    ],
  };
}

async function settle<T>(
  held: PendingUses,
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
 * Runs a job with a password within the shares of the account and of the address. `account` is the proof that the owner
 * has shown: a known device or address, a verification token, or a session. For strangers it is the phone that they
 * try.
 */
export function withinShares<T>(
  { passwordsOfAccount, passwordsOfAddress }: PasswordQueues,
  account: string,
  { address }: Caller,
  job: () => Promise<T>,
): Promise<T> {
  return passwordsOfAccount.run(account, () => passwordsOfAddress.run(address, job));
}
