import type { Transaction } from '../../database';
import { BadRequest, NotFound, NotSignedIn, Wrong } from '../../errors';
import type { MessagingProvider } from '../../integrations/messaging/messaging-provider';
import type { Phone } from '../users/phone-number';
import { newUserId } from '../users/user-id';
import type { Account, UsersRepository } from '../users/users-repository';
import type { VerificationRepository } from '../verification/verification-repository';
import { tokenHash } from '../verification/verification-token';
import type { LoginAttempts } from './login-attempts';
import type { Passwords } from './passwords';

interface Parts {
  users: UsersRepository;
  verification: VerificationRepository;
  passwords: Passwords;
  attempts: LoginAttempts;
  messaging: MessagingProvider;
  transaction: Transaction;
}

export interface SignedIn {
  account: Account;
  messagingToken: string;
}

/** Where somebody calls from: limits count the address, tokens name the address they reached us by. */
export interface Caller {
  address: string;
  publicUrl: string;
}

const NO_SUCH_TOKEN = 'verification_token: no such token, or it has expired or been used';

/** Accounts and their passwords. No hashing and no outward call happens inside a transaction. */
export class AuthService {
  constructor(private readonly parts: Parts) {}

  async register(verificationToken: string, nickname: string, password: string): Promise<string> {
    const { users, verification, passwords, transaction } = this.parts;
    const hash = tokenHash(verificationToken);
    const phone = await verification.phoneOfToken(hash);
    if (!phone) throw new NotFound(NO_SUCH_TOKEN);
    if (await users.isPhoneTaken(phone.number)) throw new PhoneTaken();
    const id = newUserId();
    const passwordHash = await passwords.hash(password);
    await transaction(async (repos) => {
      // A refusal below undoes this, so that the token stays good for reset_password.
      if (!(await repos.verification.useToken(hash))) throw new NotFound(NO_SUCH_TOKEN);
      if (!(await repos.users.claimPhone(phone, id))) throw new PhoneTaken();
      await repos.users.create({ id, nickname, passwordHash });
    });
    return id;
  }

  /** An unknown phone and a wrong password are one answer, after the same work. */
  async login(phone: Phone, password: string, caller: Caller): Promise<SignedIn> {
    const { users, passwords, attempts, messaging } = this.parts;
    const account = await attempts.within(phone.number, caller.address, async () => {
      const found = await users.accountByPhone(phone.number);
      return (await passwords.matches(password, found?.passwordHash)) ? found : undefined;
    });
    if (!account) throw wrongCredentials();
    if (passwords.isOutdated(account.passwordHash))
      await users.rehash(account.id, account.credentialsVersion, await passwords.hash(password));
    return { account, messagingToken: await messaging.token(account, caller.publicUrl) };
  }

  async changePassword(
    session: { userId: string; sid: string },
    oldPassword: string,
    newPassword: string,
    address: string,
  ) {
    const { users, passwords, attempts, transaction } = this.parts;
    const account = await users.account(session.userId);
    if (!account) throw new NotSignedIn();
    const [phone = account.id] = await users.phonesOf(account.id);
    const right = await attempts.within(phone, address, async () =>
      (await passwords.matches(oldPassword, account.passwordHash)) ? account : undefined,
    );
    if (!right) throw new WrongOldPassword();
    const passwordHash = await passwords.hash(newPassword);
    await transaction(async (repos) => {
      const changed = await repos.users.changePassword(account.id, account.credentialsVersion, passwordHash);
      if (!changed) throw new WrongOldPassword();
      await repos.sessions.endOthers(account.id, session.sid);
    });
  }

  async resetPassword(verificationToken: string, password: string): Promise<void> {
    const { users, verification, passwords, attempts, transaction } = this.parts;
    const hash = tokenHash(verificationToken);
    const phone = await verification.phoneOfToken(hash);
    if (!phone) throw new BadRequest(NO_SUCH_TOKEN);
    const account = await users.accountByPhone(phone.number);
    if (!account) throw new BadRequest('verification_token: its phone has no account');
    const passwordHash = await passwords.hash(password);
    await transaction(async (repos) => {
      if (!(await repos.verification.useToken(hash))) throw new BadRequest(NO_SUCH_TOKEN);
      // The hash first: a login under way either sees it, or has put its session there for endAll to see.
      await repos.users.resetPassword(account.id, passwordHash);
      await repos.sessions.endAll(account.id);
    });
    await attempts.forget(phone.number);
  }
}

export function wrongCredentials(): Wrong {
  return new Wrong('wrong phone number or password');
}

class PhoneTaken extends BadRequest {
  constructor() {
    super('verification_token: its phone has an account already; the token is still good for reset_password');
  }
}

class WrongOldPassword extends BadRequest {
  constructor() {
    super('oldPassword: wrong');
  }
}
