import type { Caller } from '../../base/caller';
import { BadRequest, Forbidden, NotFound, type AppError } from '../../base/errors';
import type { Transaction } from '../../database/transaction';
import type { Queues } from '../../load/queues';
import type { AuditTrail } from '../audit/audit-trail';
import { NEW_DEVICE } from '../events/events-repository';
import { isNewDevice } from '../notices/known-devices';
import type { Notices } from '../notices/notices';
import type { OwnPhone, Phone } from '../phones/phone-number';
import { TEST_NUMBER } from '../sending/test-numbers';
import type { NewSession } from '../sessions/sessions-repository';
import { newUserId } from '../users/user-id';
import type { Account, UsersRepository } from '../users/users-repository';
import type { VerificationCodes } from '../verification/verification-code';
import type { ShownToken, VerificationTokensRepository } from '../verification/verification-tokens-repository';
import { oneAtATime, NO_SUCH_TOKEN } from '../verification/verification-token';
import { NoAccount, PhoneTaken, suspended, type CredentialsRepositories } from './credentials';
import type { LoginAttempts } from './login-attempts';

interface Deps {
  users: UsersRepository;
  verificationTokens: VerificationTokensRepository;
  codes: VerificationCodes;
  attempts: LoginAttempts;
  audit: AuditTrail;
  notices: Notices;
  transaction: Transaction<CredentialsRepositories>;
  queues: Pick<Queues, 'sessionStarts' | 'verificationTokens'>;
}

export interface TokenLoginRules {
  /** Whether accounts are not signed in to without it. */
  passwordRequired: boolean;
}

type TokenOperation = 'login_by_token' | 'register_by_token';

/** A client whose token is good, and the account that it gets into. */
export interface Entrant {
  account: Account;
  /** Whether the account is created with the session. */
  isNew: boolean;
  phone: OwnPhone;
  hash: Buffer;
  operation: TokenOperation;
}

/**
 * Sessions that begin with a verification token instead of a password. The token is used in the transaction that starts
 * the session. For a minute the same client may send it again, since the answer may be lost: the session that the token
 * began is then replaced.
 */
export class TokenLogins {
  constructor(
    private readonly deps: Deps,
    private readonly rules: TokenLoginRules,
  ) {}

  /** Runs requests with the same token one at a time, so that a repeated one finds what the first one did. */
  oneAtATime<T>(token: string, work: (hash: Buffer) => Promise<T>): Promise<T> {
    return oneAtATime(this.deps.queues, token, work);
  }

  /** Finds the account. Counts as a right login, and never as a failed one: strangers cannot use it up. */
  async login(hash: Buffer, caller: Caller): Promise<Entrant> {
    const phone = await this.phoneOf(hash, caller, 'login_by_token');
    const account = await this.deps.users.accountByPhone(phone.number);
    if (!account) throw new NoAccount();
    return this.admitted({ account, isNew: false, phone, hash, operation: 'login_by_token' }, caller);
  }

  /** Prepares an account without a password. A repeated request finds the one that it has created. */
  async register(hash: Buffer, nickname: string, caller: Caller): Promise<Entrant> {
    const phone = await this.phoneOf(hash, caller, 'register_by_token');
    const known = await this.deps.users.accountByPhone(phone.number);
    if (known && !phone.usedBy) throw new PhoneTaken('still good for login_by_token and reset_password');
    // Both times are those of one transaction if this operation has used the token.
    if (known && phone.usedAt && known.createdAt < phone.usedAt) throw unknownToken('register_by_token');
    const account = known ?? withoutPassword(nickname);
    return this.admitted({ account, isNew: !known, phone, hash, operation: 'register_by_token' }, caller);
  }

  /** Uses the token and starts the session, or does neither. */
  async begin(entrant: Entrant, session: NewSession, caller: Caller): Promise<void> {
    const { queues, transaction, notices } = this.deps;
    const { id } = entrant.account;
    await queues.sessionStarts.run(id, () => transaction((repos) => this.beginIn(repos, entrant, session, caller)));
    notices.loggedIn(id, caller);
  }

  private async beginIn(
    repos: CredentialsRepositories,
    { account, isNew, phone, hash, operation }: Entrant,
    session: NewSession,
    caller: Caller,
  ): Promise<void> {
    const use = { sid: session.sid, askerHmacs: this.askerHmacs(phone, caller) };
    const spent = await repos.verificationTokens.spendToken(hash, phone.number, use);
    if (!spent) throw unknownToken(operation);
    if (isNew) await create(repos, account, phone, caller);
    if (spent.replacedSid !== null && spent.replacedSid !== session.replacedSid)
      await this.replace(repos, spent.replacedSid, { account, operation }, caller);
    if (!(await repos.sessions.start(session, account.credentialsVersion, caller, operation)))
      throw (await repos.users.account(account.id))?.isSuspended ? suspended() : unknownToken(operation);
    // The person with the number uses the account, and does not want it closed any more.
    if (!isNew && (await repos.numberClaims.keep(account.id)))
      await repos.securityEvents.add({ event: 'number_kept', userId: account.id, phone, detail: operation }, caller);
    // A login by an intercepted code ends no session: the owner would not notice.
    if (!isNew && (await isNewDevice(repos.securityEvents, account.id, caller)))
      await repos.events.tell(NEW_DEVICE, account.id);
  }

  /** Ends the session that the token began before. If that has ended already, the token must not bring it back. */
  private async replace(
    { users, sessions, securityEvents }: CredentialsRepositories,
    sid: string,
    { account, operation }: Pick<Entrant, 'account' | 'operation'>,
    caller: Caller,
  ): Promise<void> {
    // The user's row before rows of sessions, as a new password does. The session is not started if this finds nothing.
    await users.lock(account.id, account.credentialsVersion);
    if ((await sessions.endBySid(sid)) === 0) throw unknownToken(operation);
    await securityEvents.addSessionsEnded(account.id, 1, operation, caller);
  }

  private async phoneOf(hash: Buffer, caller: Caller, operation: TokenOperation): Promise<ShownToken> {
    if (this.rules.passwordRequired)
      throw new Forbidden('password_required', 'the operator requires a password: a code is not enough');
    const token = await this.deps.verificationTokens.tokenBy(hash);
    const isGood = token && (!token.usedBy || this.askerHmacs(token, caller).some((one) => token.usedBy?.equals(one)));
    if (!isGood) throw unknownToken(operation);
    return token;
  }

  private async admitted(entrant: Entrant, caller: Caller): Promise<Entrant> {
    const { account, phone, operation } = entrant;
    await this.deps.attempts.byToken(phone.number, caller);
    if (!account.isSuspended) return entrant;
    const event = { event: 'login_failed', userId: account.id, phone, detail: `${operation}, suspended` } as const;
    await this.deps.audit.noteUpToLimit(event, caller);
    throw suspended();
  }

  private askerHmacs({ number }: Phone, { address }: Caller): Buffer[] {
    return this.deps.codes.askerHmacs(number, address);
  }
}

/** Returns an account as it is created: all else of it is empty. Its session starts only under its version in the database. */
function withoutPassword(nickname: string): Account {
  const own = { passwordHash: '', credentialsVersion: 0, isSuspended: false };
  const known: Partial<Account> = { ...own, id: newUserId(), nickname, portraitUri: '' };
  return known as Account;
}

async function create(
  { users, securityEvents }: CredentialsRepositories,
  { id, nickname, passwordHash }: Account,
  phone: OwnPhone,
  caller: Caller,
): Promise<void> {
  if (!(await users.claimPhone(phone, id))) throw new PhoneTaken('still good for login_by_token and reset_password');
  await users.create({ id, nickname, passwordHash });
  const detail = phone.isTest ? TEST_NUMBER : 'register_by_token';
  await securityEvents.add({ event: 'registered', userId: id, phone, detail }, caller);
}

/** Refuses an unknown token with the reason of reset_password or register. */
export function unknownToken(operation: TokenOperation): AppError {
  return operation === 'login_by_token'
    ? new BadRequest('wrong_token', NO_SUCH_TOKEN)
    : new NotFound('no_such_token', NO_SUCH_TOKEN);
}
