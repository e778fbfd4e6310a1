import type { Logger } from 'pino';
import type { Caller } from '../../base/caller';
import { BadRequest, NotFound, NotSignedIn, Unavailable, Wrong, type AppError } from '../../base/errors';
import type { Transaction } from '../../database/transaction';
import type { MessagingProvider } from '../../integrations/messaging/messaging-provider';
import type { Queues } from '../../load/queues';
import type { AuditTrail } from '../audit/audit-trail';
import type { Notices } from '../notices/notices';
import type { Phone } from '../phones/phone-number';
import { TEST_NUMBER } from '../sending/test-numbers';
import type { NewSession, SessionsRepository } from '../sessions/sessions-repository';
import { newUserId } from '../users/user-id';
import type { Account, UsersRepository } from '../users/users-repository';
import type { VerificationTokensRepository } from '../verification/verification-tokens-repository';
import { oneAtATime, NO_SUCH_TOKEN } from '../verification/verification-token';
import { NoAccount, PhoneTaken, suspended, WrongPassword, type CredentialsRepositories } from './credentials';
import { enterShares, type Device, type LoginAttempts, type PasswordQueues } from './login-attempts';
import { deviceOf, type OwnPassword } from './own-password';
import type { Passwords } from './passwords';

interface Deps {
  users: UsersRepository;
  sessions: SessionsRepository;
  verificationTokens: VerificationTokensRepository;
  passwords: Passwords;
  attempts: LoginAttempts;
  ownPassword: OwnPassword;
  messaging: MessagingProvider;
  audit: AuditTrail;
  notices: Notices;
  transaction: Transaction<CredentialsRepositories>;
  queues: PasswordQueues & Pick<Queues, 'sessionStarts' | 'verificationTokens'>;
  logger: Pick<Logger, 'warn'>;
}

interface Registration {
  nickname: string;
  password: string;
}

interface PasswordChange {
  oldPassword: string;
  newPassword: string;
}

const BY_PASSWORD = 'the new password';
const JUST_CLOSED = 'verification_token: the account of its phone was just closed';
const HAS_PASSWORD = 'the account has a password: change_password sets another one';

/** Accounts and their passwords. No hashing and no outward call happens inside a transaction. */
export class AuthService {
  constructor(private readonly deps: Deps) {}

  async register(verificationToken: string, registration: Registration, caller: Caller): Promise<string> {
    return oneAtATime(this.deps.queues, verificationToken, (hash) => this.registerBy(hash, registration, caller));
  }

  private async registerBy(hash: Buffer, { nickname, password }: Registration, caller: Caller): Promise<string> {
    const { users, verificationTokens, transaction } = this.deps;
    const phone = await verificationTokens.phoneOfToken(hash);
    if (!phone) throw new NotFound('no_such_token', NO_SUCH_TOKEN);
    if (await users.isPhoneTaken(phone.number)) throw new PhoneTaken('still good for reset_password');
    const id = newUserId();
    const passwordHash = await this.hashed(password, hash.toString('base64url'), caller);
    await transaction(async (repos) => {
      // A refusal below rolls this back, so that the token stays valid for reset_password.
      if (!(await repos.verificationTokens.useToken(hash, phone.number)))
        throw new NotFound('no_such_token', NO_SUCH_TOKEN);
      if (!(await repos.users.claimPhone(phone, id))) throw new PhoneTaken('still good for reset_password');
      await repos.users.create({ id, nickname, passwordHash });
      const detail = phone.isTest ? { detail: TEST_NUMBER } : {};
      await repos.securityEvents.add({ event: 'registered', userId: id, phone, ...detail }, caller);
    });
    return id;
  }

  /**
   * Gives the same answer for an unknown phone and a wrong password, after as many rounds of hashing. Only after the
   * right password does it tell that the account is suspended: such a login counts as a right one.
   */
  async authenticate(phone: Phone, password: string, caller: Caller, from: Device | undefined): Promise<Account> {
    const { users, attempts, audit } = this.deps;
    const device = from && deviceOf(await users.accountByPhone(phone.number), from);
    const attempt = await attempts.begin({ phone: phone.number, caller, device });
    try {
      const known = await users.accountByPhone(phone.number);
      const account = await this.ifRight(known, password, caller);
      await attempt.end(account !== undefined);
      if (account?.isSuspended) {
        const event = { event: 'login_failed', userId: account.id, phone, detail: 'login, suspended' } as const;
        await audit.noteUpToLimit(event, caller);
        throw suspended();
      }
      if (account) return account;
      audit.noteLoginFailed(phone, known?.id, caller);
      throw wrongCredentials();
    } finally {
      await attempt.release();
    }
  }

  private async ifRight(account: Account | undefined, password: string, caller: Caller): Promise<Account | undefined> {
    const { users, passwords, logger } = this.deps;
    if (!(await passwords.matches(password, account?.passwordHash, caller.address)) || !account) return undefined;
    if (!passwords.isOutdated(account.passwordHash)) return account;
    try {
      const passwordHash = await passwords.hash(password, caller.address);
      await users.rehash(account.id, account.credentialsVersion, passwordHash);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      logger.warn({ err: error }, 'a password was not rehashed: the next login will do it');
    }
    return account;
  }

  /** Refuses with `otherwise` when the credentials have changed since. */
  async messagingToken(account: Account, publicUrl: string, otherwise = wrongCredentials): Promise<string> {
    const { credentialsVersion } = account;
    const token = await this.deps.messaging.token(account, { credentialsVersion }, publicUrl);
    if (token === undefined) throw await this.refusalSince(account, otherwise);
    return token;
  }

  async beginSession(account: Account, session: NewSession, caller: Caller): Promise<void> {
    const { sessions, queues, notices } = this.deps;
    const start = () => sessions.start(session, account.credentialsVersion, caller);
    const begun = await queues.sessionStarts.run(account.id, start);
    if (!begun) throw await this.refusalSince(account, wrongCredentials);
    notices.loggedIn(account.id, caller);
  }

  /** Returns why a login is refused whose password was right: it was changed since, or the account was suspended. */
  private async refusalSince({ id, credentialsVersion }: Account, otherwise: () => AppError): Promise<AppError> {
    const now = await this.deps.users.account(id);
    return now?.isSuspended && now.credentialsVersion === credentialsVersion ? suspended() : otherwise();
  }

  async changePassword(
    { userId, sid }: { userId: string; sid: string },
    { oldPassword, newPassword }: PasswordChange,
    caller: Caller,
    from: Device | undefined,
  ): Promise<Account> {
    const { ownPassword, attempts, notices, transaction } = this.deps;
    const proved = await ownPassword.proved(userId, oldPassword, 'change_password', caller, from);
    if (!proved) throw new WrongPassword('oldPassword');
    const { account, phone, number } = proved;
    const passwordHash = await this.hashed(newPassword, userId, caller);
    await attempts.forgetRight(number);
    const version = account.credentialsVersion + 1;
    await transaction(async (repos) => {
      // The codes first, as in a reset, so that the two cannot deadlock.
      await repos.verificationTokens.endAll(number);
      const changed = await repos.users.changePassword(account.id, account.credentialsVersion, passwordHash);
      if (!changed) throw new WrongPassword('oldPassword');
      await repos.securityEvents.add({ event: 'password_changed', userId }, caller);
      await endOthers(repos, { userId, sid, version }, caller);
    });
    if (phone) notices.notify('password_changed', { id: userId, phone }, caller);
    return { ...account, passwordHash, credentialsVersion: version };
  }

  /**
   * Sets the first password. The token proves the account's phone, so that a stolen session is not enough. For the
   * audit trail it is a reset, which shows nothing from before it in an export.
   */
  async setPassword(
    { userId, sid }: { userId: string; sid: string },
    verificationToken: string,
    password: string,
    caller: Caller,
  ): Promise<Account> {
    const account = await this.deps.users.account(userId);
    if (!account) throw new NotSignedIn();
    if (account.passwordHash !== '') throw new BadRequest('has_password', HAS_PASSWORD);
    const { queues } = this.deps;
    return oneAtATime(queues, verificationToken, (hash) => this.setFirst(account, { sid, hash, password }, caller));
  }

  private async setFirst(
    account: Account,
    { sid, hash, password }: { sid: string; hash: Buffer; password: string },
    caller: Caller,
  ): Promise<Account> {
    const { users, verificationTokens, attempts, notices, transaction } = this.deps;
    const { id: userId, credentialsVersion } = account;
    const phone = await verificationTokens.phoneOfToken(hash);
    if (!phone) throw new BadRequest('wrong_token', NO_SUCH_TOKEN);
    if ((await users.idByPhone(phone.number)) !== userId)
      throw new BadRequest('wrong_token', 'verification_token: must be for the phone of this account');
    const passwordHash = await this.hashed(password, hash.toString('base64url'), caller);
    // First, as in a reset. The token's holder is the owner of the phone.
    await attempts.forget(phone.number);
    const version = credentialsVersion + 1;
    await transaction(async (repos) => {
      if (!(await repos.verificationTokens.useToken(hash, phone.number)))
        throw new BadRequest('wrong_token', NO_SUCH_TOKEN);
      if (!(await repos.users.changePassword(userId, credentialsVersion, passwordHash))) throw new NotSignedIn();
      await repos.securityEvents.add({ event: 'password_reset', userId, phone, detail: 'set_password' }, caller);
      await endOthers(repos, { userId, sid, version }, caller);
    });
    notices.notify('password_reset', { id: userId, phone }, caller);
    return { ...account, passwordHash, credentialsVersion: version };
  }

  async resetPassword(verificationToken: string, password: string, caller: Caller): Promise<void> {
    await oneAtATime(this.deps.queues, verificationToken, (hash) => this.resetBy(hash, password, caller));
  }

  private async resetBy(hash: Buffer, password: string, caller: Caller): Promise<void> {
    const { users, verificationTokens, attempts, notices, transaction } = this.deps;
    const phone = await verificationTokens.phoneOfToken(hash);
    if (!phone) throw new BadRequest('wrong_token', NO_SUCH_TOKEN);
    const account = await users.accountByPhone(phone.number);
    if (!account) throw new NoAccount();
    const passwordHash = await this.hashed(password, hash.toString('base64url'), caller);
    // First, so that nothing can fail once the token is used. Its holder is the owner of the phone.
    await attempts.forget(phone.number);
    await transaction(async (repos) => {
      if (!(await repos.verificationTokens.useToken(hash, phone.number)))
        throw new BadRequest('wrong_token', NO_SUCH_TOKEN);
      // The hash first: a pending login either sees it, or has inserted its session, which endAll then sees.
      if (!(await repos.users.resetPassword(account.id, passwordHash))) throw new BadRequest('no_account', JUST_CLOSED);
      await repos.securityEvents.add({ event: 'password_reset', userId: account.id, phone }, caller);
      const ended = await repos.sessions.endAll(account.id);
      await repos.securityEvents.addSessionsEnded(account.id, ended, BY_PASSWORD, caller);
      await repos.messagingTokens.end(account.id);
    });
    notices.notify('password_reset', { id: account.id, phone }, caller);
  }

  /** Hashes in the share of `who`, so that strangers who try the account's password cannot block a new password. */
  private async hashed(password: string, who: string, caller: Caller): Promise<string> {
    const { queues, passwords } = this.deps;
    const leave = await enterShares(queues, who, caller);
    try {
      return await passwords.hash(password, caller.address);
    } finally {
      leave();
    }
  }
}

/** Ends the user's other sessions, and all messaging tokens, after a new password. */
async function endOthers(
  { sessions, securityEvents, messagingTokens }: CredentialsRepositories,
  { userId, sid, version }: { userId: string; sid: string; version: number },
  caller: Caller,
): Promise<void> {
  const ended = await sessions.endOthers(userId, sid, version);
  await securityEvents.addSessionsEnded(userId, ended, BY_PASSWORD, caller);
  await messagingTokens.end(userId);
}

/** Refuses wrong credentials, also a password that was just changed: by now it is wrong. */
function wrongCredentials(): Wrong {
  return new Wrong('wrong_credentials', 'wrong phone number or password');
}
