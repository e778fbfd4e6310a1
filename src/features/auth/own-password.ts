import type { Caller } from '../../base/caller';
import { NotSignedIn } from '../../base/errors';
import type { AuditTrail } from '../audit/audit-trail';
import type { OwnPhone } from '../phones/phone-number';
import type { Account, UsersRepository } from '../users/users-repository';
import type { Device, LoginAttempts } from './login-attempts';
import type { Passwords } from './passwords';

interface Deps {
  users: UsersRepository;
  passwords: Passwords;
  attempts: LoginAttempts;
  audit: AuditTrail;
}

export interface Proved {
  account: Account;
  /** Undefined for some imported accounts, which have none. */
  phone: OwnPhone | undefined;
  /** Subject that attempts count against: the phone's number, or the account's id. */
  number: string;
}

/** Asks a signed-in user for the password again, since the session may have been stolen. */
export class OwnPassword {
  constructor(private readonly deps: Deps) {}

  /** Returns undefined for a wrong password, which counts as a failed login and is noted as one at `operation`. */
  async proved(
    userId: string,
    password: string,
    operation: string,
    caller: Caller,
    from: Device | undefined,
  ): Promise<Proved | undefined> {
    const { users, passwords, attempts, audit } = this.deps;
    const account = await users.account(userId);
    if (!account) throw new NotSignedIn();
    const [phone] = await users.phonesOf(account.id);
    const number = phone?.number ?? account.id;
    const device = from && deviceOf(account, from);
    const attempt = await attempts.beginChange(userId, { phone: number, caller, device });
    try {
      const isRight = await passwords.matches(password, account.passwordHash, caller.address);
      await attempt.end(isRight);
      if (isRight) return { account, phone, number };
      await audit.note({ event: 'login_failed', userId, detail: operation }, caller);
      return undefined;
    } finally {
      await attempt.release();
    }
  }
}

/** Returns the device, if it belongs to this account and was signed in since the password last changed. */
export function deviceOf(account: Account | undefined, device: Device): Device | undefined {
  const isKnown = account?.id === device.userId && account.credentialsVersion === device.credentialsVersion;
  return isKnown ? device : undefined;
}
