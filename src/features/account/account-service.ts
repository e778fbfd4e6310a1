import type { Logger } from 'pino';
import type { Caller } from '../../base/caller';
import { BadRequest, NotFound, NotSignedIn } from '../../base/errors';
import { tokenHash } from '../../base/secrets';
import type { Transaction } from '../../database/transaction';
import type { ImageStorage } from '../../integrations/storage/image-storage';
import { PhoneTaken, WrongPassword, type CredentialsRepositories } from '../auth/credentials';
import type { Device } from '../auth/login-attempts';
import type { OwnPassword, Proved } from '../auth/own-password';
import type { Notices } from '../notices/notices';
import { masked, type Phone, type OwnPhone } from '../phones/phone-number';
import type { Account, Changer, UsersRepository } from '../users/users-repository';
import type { VerificationTokensRepository } from '../verification/verification-tokens-repository';
import { NO_SUCH_TOKEN } from '../verification/verification-token';
import type { ClosingsService } from './closings-service';
import type { NumberClaimsRepository } from './number-claims-repository';

export interface ClosingRepositories extends CredentialsRepositories {
  numberClaims: NumberClaimsRepository;
}

interface Deps {
  users: UsersRepository;
  verificationTokens: VerificationTokensRepository;
  ownPassword: OwnPassword;
  closings: ClosingsService;
  storage: ImageStorage;
  notices: Notices;
  transaction: Transaction<ClosingRepositories>;
  logger: Pick<Logger, 'warn'>;
}

/** The user who sends a request, with its session, origin and device. */
export interface Asker {
  userId: string;
  sid: string;
  caller: Caller;
  device: Device | undefined;
}

/** The account as it was when the change was allowed. The change is refused if its credentials have changed since. */
interface Allowed extends Pick<Proved, 'account' | 'phone'> {
  /** An operator may change a suspended account; the request of an owner may have begun before the suspension. */
  by?: Changer;
}

const OTHER_KIND =
  'verification_token: the account of a test number changes only to another test number, and no other does';

/** A new phone: by a verification token and from a session, or by an operator. */
interface Move {
  next: OwnPhone;
  byOwner?: { hash: Buffer; sid: string };
}

/** Changes to the account as a whole, made by its owner, or by an operator, who does not know its password. */
export class AccountService {
  constructor(private readonly deps: Deps) {}

  async setFindable(userId: string, isFindable: boolean): Promise<void> {
    const { users } = this.deps;
    if (!(await users.setFindable(userId, isFindable))) throw new NotSignedIn();
  }

  async close(asker: Asker, password: string): Promise<void> {
    await this.end(await this.proved(asker, password, 'close_account'), asker.caller);
  }

  async closeByOperator(userId: string, caller: Caller): Promise<void> {
    await this.asOperator(userId, (allowed) => this.end(allowed, caller));
  }

  async changePhone(asker: Asker, password: string, verificationToken: string): Promise<Account> {
    const { users, verificationTokens } = this.deps;
    const hash = tokenHash(verificationToken);
    const next = await verificationTokens.phoneOfToken(hash);
    if (!next) throw new BadRequest('wrong_token', NO_SUCH_TOKEN);
    if (await users.isPhoneTaken(next.number)) throw new PhoneTaken('still good');
    const proved = await this.proved(asker, password, 'change_phone');
    // A fixed code opens the account of a test number, which therefore never becomes another account, nor the reverse.
    if (next.isTest !== (proved.phone?.isTest ?? false)) throw new BadRequest('wrong_token', OTHER_KIND);
    await this.move(proved, { next, byOwner: { hash, sid: asker.sid } }, asker.caller);
    return { ...proved.account, credentialsVersion: proved.account.credentialsVersion + 1 };
  }

  /** Like `changePhone`, but ends all sessions. The operator must have made sure that the owner has the new phone. */
  async changePhoneByOperator(userId: string, next: Phone, caller: Caller): Promise<void> {
    await this.asOperator(userId, (allowed) =>
      this.move(allowed, { next: { ...next, language: '', isTest: false } }, caller),
    );
  }

  /** Ends all sessions, and forgets the devices and addresses where the account was used. The password stays. */
  async forgetDevices(userId: string, caller: Caller): Promise<void> {
    const { transaction } = this.deps;
    await this.asOperator(userId, ({ account }) => transaction((repos) => forgetDevices(repos, account, caller)));
  }

  /** Ends the rest of an account whose transaction of closing has been committed. */
  async endRest(userId: string, phone: OwnPhone | undefined, caller: Caller): Promise<void> {
    const { closings, storage, notices, logger } = this.deps;
    if (phone) notices.notify('account_closed', { id: userId, phone }, caller);
    await storage.accountClosed(userId).catch((error: unknown) => {
      logger.warn({ err: error }, 'the images of a closed account were not removed; they will be within two days');
    });
    await closings.end(userId, caller);
  }

  /**
   * Closes the account. After the transaction nobody sees it as open, and nothing can begin for it. Its remaining rows
   * are ended afterwards, since there may be any number of them.
   */
  private async end(allowed: Allowed, caller: Caller): Promise<void> {
    await this.deps.transaction((repos) => closeAllowed(repos, allowed, caller));
    await this.endRest(allowed.account.id, allowed.phone, caller);
  }

  private async move(allowed: Allowed, move: Move, caller: Caller): Promise<void> {
    const { notices, transaction } = this.deps;
    const { account, phone } = allowed;
    // The owner goes on reading what was read before, unless the new phone was proved in another language.
    const next = { ...move.next, language: move.next.language || (phone?.language ?? '') };
    await transaction((repos) => changePhone(repos, allowed, { ...move, next }, caller));
    if (phone) notices.notify('phone_changed', { id: account.id, phone }, caller);
  }

  /** Retries if the credentials have changed since they were read: no password was compared. */
  private async asOperator(userId: string, change: (allowed: Allowed) => Promise<void>): Promise<void> {
    try {
      await change(await this.unproved(userId));
    } catch (error) {
      if (!(error instanceof WrongPassword)) throw error;
      await change(await this.unproved(userId));
    }
  }

  private async unproved(userId: string): Promise<Allowed> {
    const { users } = this.deps;
    const account = await users.account(userId);
    if (!account) throw new NotFound('no_such_user', 'no such user');
    const [phone] = await users.phonesOf(userId);
    return { account, phone, by: 'operator' };
  }

  private async proved({ userId, caller, device }: Asker, password: string, operation: string): Promise<Proved> {
    const proved = await this.deps.ownPassword.proved(userId, password, operation, caller, device);
    if (!proved) throw new WrongPassword('password');
    return proved;
  }
}

/**
 * Locks the codes first and then the user, as a reset does. A transaction that locks the user to begin something waits
 * for this one, and then finds the account closed. ClosingsService ends earlier rows.
 */
async function closeAllowed(
  repos: ClosingRepositories,
  { account, phone, by }: Allowed,
  caller: Caller,
): Promise<void> {
  const { id } = account;
  if (phone) await repos.verificationTokens.endAll(phone.number);
  if (!(await repos.users.lock(id, account.credentialsVersion, by))) throw new WrongPassword('password');
  await close(repos, account, phone, caller);
}

/** Closes an account that the transaction has locked. */
export async function close(
  repos: ClosingRepositories,
  { id }: Account,
  phone: Phone | undefined,
  caller: Caller,
  detail?: string,
): Promise<void> {
  await repos.users.close(id);
  await repos.users.releasePhones(id);
  await repos.sessions.endAll(id);
  await repos.securityEvents.add(
    { event: 'account_closed', userId: id, ...(phone && { phone }), ...(detail && { detail }) },
    caller,
  );
  await repos.numberClaims.end(id);
  await repos.messagingTokens.end(id);
}

async function changePhone(
  repos: CredentialsRepositories,
  { account, phone, by }: Allowed,
  { next, byOwner }: Move,
  caller: Caller,
): Promise<void> {
  const { id, credentialsVersion } = account;
  await endCodesOf(repos, next, byOwner?.hash);
  // Otherwise a pending reset by the old phone could still change this account.
  if (phone) await repos.verificationTokens.endAll(phone.number);
  if (!(await repos.users.renewCredentials(id, credentialsVersion, by))) throw new WrongPassword('password');
  // A refusal rolls back the steps above, so that the token stays valid.
  if (!(await repos.users.claimPhone(next, id))) throw new PhoneTaken('still good');
  await repos.users.releasePhones(id, next.number);
  const detail = phone && `before: ${masked(phone.number)}`;
  await repos.securityEvents.add(
    { event: 'phone_changed', userId: id, phone: next, ...(detail && { detail }) },
    caller,
  );
  const ended = byOwner
    ? await repos.sessions.endOthers(id, byOwner.sid, credentialsVersion + 1)
    : await repos.sessions.endAll(id);
  await repos.securityEvents.addSessionsEnded(id, ended, 'the new phone', caller);
  await repos.messagingTokens.end(id);
}

/** Ends the codes and tokens of the new phone. An owner's token must be one of them. */
async function endCodesOf({ verificationTokens }: CredentialsRepositories, next: Phone, hash?: Buffer): Promise<void> {
  if (hash === undefined) await verificationTokens.endAll(next.number);
  else if (!(await verificationTokens.useToken(hash, next.number))) throw new BadRequest('wrong_token', NO_SUCH_TOKEN);
}

/** A device cookie contains the version of the credentials: after a new version no device is known. */
async function forgetDevices(
  repos: CredentialsRepositories,
  { id, credentialsVersion }: Account,
  caller: Caller,
): Promise<void> {
  if (!(await repos.users.renewCredentials(id, credentialsVersion, 'operator'))) throw new WrongPassword('password');
  await repos.securityEvents.add({ event: 'devices_forgotten', userId: id }, caller);
  const ended = await repos.sessions.endAll(id);
  await repos.securityEvents.addSessionsEnded(id, ended, 'devices forget', caller);
  await repos.messagingTokens.end(id);
}
