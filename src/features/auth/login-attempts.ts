import type { Caller } from '../../base/caller';
import { TooManyRequests } from '../../base/errors';
import type { Queues } from '../../load/queues';
import type { KnownPlaces } from '../audit/known-places';
import type { Held, Limiter, Use } from '../limits/limiter';

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

/** A try as a failure. */
interface Failures {
  /** Whose share of the hashing queue it takes of. */
  share: string;
  uses: Use[];
}

/** What a try may turn out to count as. */
interface Ends {
  successes: Use[];
  failures: Failures;
}

export type PasswordQueues = Pick<Queues, 'passwordsOfAccount' | 'passwordsOfAddress'>;

/**
 * A try counts as a failure and as a success from before the password is compared, so that what is beyond a limit of
 * either is not compared. Then it counts as the one that it was.
 */
export class LoginAttempts {
  constructor(
    private readonly limiter: Limiter,
    private readonly queues: PasswordQueues,
    private readonly places: Pick<KnownPlaces, 'standingOf'>,
  ) {}

  /** Runs `compare` within the limits of logins. When it returns something, the password is right. */
  async logIn<T>(one: Try, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const successes: Use[] = [
      { limit: 'loginsPerPhoneAndAddress', subject: `${one.phone} ${one.caller.address}` },
      { limit: 'loginsPerPhone', subject: one.phone },
    ];
    return this.fromPlace(one, (failures) => this.within(one.caller, { successes, failures }, compare));
  }

  /** The same for the old password of a user who wants another one. */
  async change<T>(userId: string, one: Try, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const successes: Use[] = [{ limit: 'passwordChangesPerHour', subject: userId }];
    return this.fromPlace(one, (failures) =>
      this.within(one.caller, { successes, failures: { ...failures, share: userId } }, compare),
    );
  }

  /** With a new password the owner can log in, however often others got in by the old one. */
  async forgetRight(phone: string): Promise<void> {
    await this.limiter.clear('loginsPerPhone', phone);
    await this.limiter.clearAll('loginsPerPhoneAndAddress', `${phone} `);
  }

  /** After a reset also however often others have failed. */
  async forget(phone: string): Promise<void> {
    await this.forgetRight(phone);
    await this.limiter.clear('loginFailuresPerPhone', phone);
    for (const limit of ['loginFailuresPerPhoneAndAddress', 'loginFailuresPerPhoneAndAddressDay'] as const)
      await this.limiter.clearAll(limit, `${phone} `);
  }

  /**
   * Asks for the place only once a try is refused, so that no storm of tries has the database asked for each, and no
   * answer to a compared password takes longer for a phone that has an account.
   */
  private async fromPlace<T>(one: Try, logIn: (failures: Failures) => Promise<T>): Promise<T> {
    if (one.device) return logIn(ofDevice(one.device));
    const failures = ofStranger(one.phone, one.caller);
    try {
      return await logIn(failures);
    } catch (error) {
      if (!(error instanceof TooManyRequests)) throw error;
      const known = ofKnownAddress(failures, one.phone, one.caller);
      // An address beyond its own limits costs the database nothing.
      this.queues.passwordsOfAccount.check(known.share);
      this.queues.passwordsOfAddress.check(one.caller.address);
      await this.limiter.checkKnown(one.caller, ...known.uses);
      if ((await this.places.standingOf(one.phone, one.caller)) !== 'known') throw error;
      return logIn(known);
    }
  }

  /** The share comes first, so that whoever tries more than it has room for costs the database nothing. */
  private async within<T>(caller: Caller, ends: Ends, compare: () => Promise<T | undefined>): Promise<T | undefined> {
    const { successes, failures } = ends;
    return withinShares(this.queues, failures.share, caller, async () => {
      const held = await this.limiter.hold(caller, ...failures.uses, ...successes);
      return settle(held, ends, compare);
    });
  }
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

/** The address keeps its own limits, and is neither counted nor refused with the strangers of all others. */
function ofKnownAddress({ uses }: Failures, phone: string, { address }: Caller): Failures {
  return { share: `${phone} ${address}`, uses: uses.filter(({ subject }) => subject !== phone) };
}

/** None that strangers can use up, so that they cannot lock a device out on which the account was signed in to. */
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
