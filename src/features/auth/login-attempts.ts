import type { Caller } from '../../base/caller';
import { TooManyRequests } from '../../base/errors';
import type { Leave } from '../../load/queue';
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

export type PasswordQueues = Pick<Queues, 'passwordsOfAccount' | 'passwordsOfAddress'>;

/** An attempt under way. It counts as a failure and as a success until it has ended. */
export class LoginAttempt {
  private hasEnded = false;

  constructor(
    private readonly held: PendingUses,
    private readonly ends: { right: LimitUse[]; wrong: LimitUse[] },
    private readonly leave: Leave,
  ) {}

  /** Counts it as what it was. */
  async end(isRight: boolean): Promise<void> {
    this.hasEnded = true;
    await this.held.settle(isRight ? this.ends.right : this.ends.wrong);
  }

  /** Frees its slots. An attempt that has not ended, because something failed, counts as nothing. */
  async release(): Promise<void> {
    try {
      if (!this.hasEnded) await this.held.giveBack();
    } finally {
      this.leave();
    }
  }
}

/**
 * Limits attempts to log in. An attempt counts as a failure and as a success before the password is compared, so that
 * an attempt beyond either limit is not compared. Its caller ends and releases it.
 */
export class LoginAttempts {
  constructor(
    private readonly limiter: Limiter,
    private readonly queues: PasswordQueues,
    private readonly knownPlaces: Pick<KnownPlaces, 'trustOf'>,
  ) {}

  /** Begins an attempt to log in, or throws the refusal. */
  begin(one: Try): Promise<LoginAttempt> {
    return this.beginWith(rightLogins(one.phone, one.caller), one);
  }

  /** Like `begin`, but for the old password of a user who changes it, whose session is a proof. */
  beginChange(userId: string, one: Try): Promise<LoginAttempt> {
    return this.beginWith([{ limit: 'passwordChangesPerHour', subject: userId }], one, userId);
  }

  /** Counts a login by a verification token as a right one. Failures at the password do not refuse it. */
  async byToken(phone: string, caller: Caller): Promise<void> {
    await this.limiter.take(caller, ...rightLogins(phone, caller));
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
  private async beginWith(right: LimitUse[], one: Try, share?: string): Promise<LoginAttempt> {
    const hold = (failures: Failures) => this.hold(one.caller, right, { ...failures, ...(share && { share }) });
    if (one.device) return hold(ofDevice(one.device));
    const failures = ofStranger(one.phone, one.caller);
    try {
      return await hold(failures);
    } catch (error) {
      if (!(error instanceof TooManyRequests)) throw error;
      const known = ofKnownAddress(failures, one.phone, one.caller);
      // An address beyond its own limits is refused without a query.
      this.queues.passwordsOfAccount.check(known.share);
      this.queues.passwordsOfAddress.check(one.caller.address);
      await this.limiter.checkKnown(one.caller, ...known.uses);
      if ((await this.knownPlaces.trustOf(one.phone, one.caller)) !== 'known') throw error;
      return hold(known);
    }
  }

  /** Checks the share first, so that attempts beyond it are refused without a query. */
  private async hold(caller: Caller, right: LimitUse[], { share, uses: wrong }: Failures): Promise<LoginAttempt> {
    const leave = await enterShares(this.queues, share, caller);
    try {
      return new LoginAttempt(await this.limiter.hold(caller, ...wrong, ...right), { right, wrong }, leave);
    } catch (error) {
      leave();
      throw error;
    }
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

/**
 * Takes slots for a password in the shares of the account and of the address. `account` is the proof that the owner has
 * shown: a known device or address, a verification token, or a session. For strangers it is the phone that they try.
 */
export async function enterShares(
  { passwordsOfAccount, passwordsOfAddress }: PasswordQueues,
  account: string,
  { address }: Caller,
): Promise<Leave> {
  const leaveAccount = await passwordsOfAccount.enter(account);
  try {
    const leaveAddress = await passwordsOfAddress.enter(address);
    return () => {
      leaveAddress();
      leaveAccount();
    };
  } catch (error) {
    leaveAccount();
    throw error;
  }
}
