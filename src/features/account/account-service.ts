import type { Logger } from 'pino';
import type { Caller } from '../../base/caller';
import { BadRequest, NotSignedIn } from '../../base/errors';
import type { Transaction } from '../../database/transaction';
import type { TokenEnd, TokenEnds } from '../../integrations/messaging/token-ends';
import type { ImageStorage } from '../../integrations/storage/image-storage';
import { PhoneTaken, WrongPassword, type CredentialsRepositories } from '../auth/credentials';
import type { Device } from '../auth/login-attempts';
import type { OwnPassword, Proved } from '../auth/own-password';
import type { Notices } from '../notices/notices';
import { masked, type Phone } from '../phones/phone-number';
import type { Account, UsersRepository } from '../users/users-repository';
import type { VerificationRepository } from '../verification/verification-repository';
import { NO_SUCH_TOKEN, tokenHash } from '../verification/verification-token';
import type { ClosingsService } from './closings-service';

interface Parts {
  users: UsersRepository;
  verification: VerificationRepository;
  ownPassword: OwnPassword;
  closings: ClosingsService;
  storage: ImageStorage;
  tokenEnds: TokenEnds;
  notices: Notices;
  transaction: Transaction<CredentialsRepositories>;
  logger: Pick<Logger, 'warn'>;
}

/** The user who sends a request, with its session, origin and device. */
export interface Asker {
  userId: string;
  sid: string;
  caller: Caller;
  device: Device | undefined;
}

/** Changes to the account as a whole, made by its owner. */
export class AccountService {
  constructor(private readonly parts: Parts) {}

  async setFindable(userId: string, isFindable: boolean): Promise<void> {
    const { users } = this.parts;
    if (!(await users.setFindable(userId, isFindable))) throw new NotSignedIn();
  }

  /**
   * Closes the account. After the transaction nobody sees it as open, and nothing can begin for it. Its remaining rows
   * are ended afterwards, since there may be any number of them.
   */
  async close(asker: Asker, password: string): Promise<void> {
    const { closings, storage, tokenEnds, notices, transaction, logger } = this.parts;
    const { userId, caller } = asker;
    const proved = await this.proved(asker, password, 'close_account');
    const end = await transaction((repos) => close(repos, proved, caller));
    if (proved.phone) notices.notify('account_closed', { id: userId, phone: proved.phone }, caller);
    await storage.accountClosed(userId).catch((error: unknown) => {
      logger.warn({ err: error }, 'the images of a closed account were not removed; they will be within two days');
    });
    await Promise.all([closings.end(userId, caller), tokenEnds.report(end)]);
  }

  async changePhone(asker: Asker, password: string, verificationToken: string): Promise<Account> {
    const { users, verification, tokenEnds, notices, transaction } = this.parts;
    const { userId, caller } = asker;
    const hash = tokenHash(verificationToken);
    const next = await verification.phoneOfToken(hash);
    if (!next) throw new BadRequest('wrong_token', NO_SUCH_TOKEN);
    if (await users.isPhoneTaken(next.number)) throw new PhoneTaken('still good');
    const proved = await this.proved(asker, password, 'change_phone');
    const end = await transaction((repos) => changePhone(repos, proved, { hash, next }, asker));
    if (proved.phone) notices.notify('phone_changed', { id: userId, phone: proved.phone }, caller);
    await tokenEnds.report(end);
    return { ...proved.account, credentialsVersion: proved.account.credentialsVersion + 1 };
  }

  private async proved({ userId, caller, device }: Asker, password: string, operation: string): Promise<Proved> {
    const proved = await this.parts.ownPassword.proved(userId, password, operation, caller, device);
    if (!proved) throw new WrongPassword('password');
    return proved;
  }
}

/**
 * Locks the codes first and then the user, as a reset does. A transaction that locks the user to begin something waits
 * for this one, and then finds the account closed. ClosingsService ends earlier rows.
 */
async function close(
  repos: CredentialsRepositories,
  { account, phone }: Proved,
  caller: Caller,
): Promise<TokenEnd | undefined> {
  const { id } = account;
  if (phone) await repos.verification.endAll(phone.number);
  if (!(await repos.users.lock(id, account.credentialsVersion))) throw new WrongPassword('password');
  await repos.users.close(id);
  await repos.users.releasePhones(id);
  await repos.sessions.endAll(id);
  await repos.securityEvents.add({ event: 'account_closed', userId: id, ...(phone && { phone }) }, caller);
  return repos.messagingTokens.end(id);
}

async function changePhone(
  repos: CredentialsRepositories,
  { account, phone }: Proved,
  { hash, next }: { hash: Buffer; next: Phone },
  { sid, caller }: Asker,
): Promise<TokenEnd | undefined> {
  const { id, credentialsVersion } = account;
  if (!(await repos.verification.useToken(hash, next.number))) throw new BadRequest('wrong_token', NO_SUCH_TOKEN);
  // Otherwise a pending reset by the old phone could still change this account.
  if (phone) await repos.verification.endAll(phone.number);
  if (!(await repos.users.renewCredentials(id, credentialsVersion))) throw new WrongPassword('password');
  // A refusal rolls back the steps above, so that the token stays valid.
  if (!(await repos.users.claimPhone(next, id))) throw new PhoneTaken('still good');
  await repos.users.releasePhones(id, next.number);
  const detail = phone && `before: ${masked(phone.number)}`;
  await repos.securityEvents.add(
    { event: 'phone_changed', userId: id, phone: next, ...(detail && { detail }) },
    caller,
  );
  const ended = await repos.sessions.endOthers(id, sid, credentialsVersion + 1);
  await repos.securityEvents.addSessionsEnded(id, ended, 'the new phone', caller);
  return repos.messagingTokens.end(id);
}
