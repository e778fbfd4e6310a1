import type { Caller } from '../../base/caller';
import { BadRequest, Forbidden } from '../../base/errors';
import { Overtaken, type Transaction } from '../../database/transaction';
import type { Queues } from '../../load/queues';
import { WrongPassword } from '../auth/credentials';
import type { OwnPassword } from '../auth/own-password';
import type { Notices } from '../notices/notices';
import type { OwnPhone, Phone } from '../phones/phone-number';
import type { Account } from '../users/users-repository';
import { oneAtATime, NO_SUCH_TOKEN } from '../verification/verification-token';
import { close, type AccountService, type Asker, type ClosingRepositories } from './account-service';
import type { NumberClaim, NumberClaimsRepository } from './number-claims-repository';

interface Deps {
  claims: NumberClaimsRepository;
  account: Pick<AccountService, 'endRest'>;
  ownPassword: OwnPassword;
  notices: Notices;
  transaction: Transaction<ClosingRepositories>;
  queues: Pick<Queues, 'verificationTokens'>;
}

export interface ClaimRules {
  /** Days without a session after which an account is asleep. 0: numbers are not handed on. */
  recycleDays: number;
  tokenTtlSeconds: number;
}

/** Result for an account. */
interface Outcome {
  userId: string;
  phone: OwnPhone;
  /** Undefined if the account is closed now. */
  claim?: NumberClaim;
  isNew?: boolean;
}

/**
 * Hands numbers on. A person who has a number says that the account there is another person's. An account that is asleep
 * is closed, so that the number can be registered. The owner of one that is awake has some days to keep it by the
 * password. A session does not keep it: otherwise a number that has changed hands would be lost for good.
 */
export class NumberClaimsService {
  constructor(
    private readonly deps: Deps,
    private readonly rules: ClaimRules,
  ) {}

  /** Returns the claim, or undefined if the number is free now. The token stays valid, to register with. */
  async startOver(verificationToken: string, caller: Caller): Promise<NumberClaim | undefined> {
    if (this.rules.recycleDays === 0) throw new Forbidden('start_over_off', 'the operator does not hand numbers on');
    return oneAtATime(this.deps.queues, verificationToken, (hash) => this.startOverBy(hash, caller));
  }

  /** Returns the open claims of the session's account. */
  async ofSession(session: { userId: string; credentialsVersion: number }): Promise<NumberClaim[]> {
    return this.deps.claims.ofAccount({ ...session, id: session.userId });
  }

  /** Ends the claim, and the codes and tokens of the number: another claim needs another proof. */
  async keep({ userId, caller, device }: Asker, password: string): Promise<void> {
    const { ownPassword, transaction } = this.deps;
    const proved = await ownPassword.proved(userId, password, 'keep_number', caller, device);
    if (!proved) throw new WrongPassword('password');
    const { account, phone, number } = proved;
    await transaction(async (repos) => {
      // The codes first, as in a reset, so that the two cannot deadlock.
      await repos.verificationTokens.endAll(number);
      if (!(await repos.users.lock(userId, account.credentialsVersion))) throw new WrongPassword('password');
      if (await repos.numberClaims.keep(userId))
        await repos.securityEvents.add({ event: 'number_kept', userId, ...(phone && { phone }) }, caller);
    });
  }

  private async startOverBy(hash: Buffer, caller: Caller): Promise<NumberClaim | undefined> {
    const { transaction, account, notices } = this.deps;
    const outcome = await transaction((repos) => this.decide(repos, hash, caller));
    if (!outcome) return undefined;
    const { claim, isNew, userId, phone } = outcome;
    // Reaches an owner who still has the phone, but has told somebody its code.
    if (isNew) notices.notify('number_claimed', { id: userId, phone }, caller);
    if (!claim) await account.endRest(userId, phone, caller);
    return claim;
  }

  /** Locks the token first and then the user, as a reset does. */
  private async decide(repos: ClosingRepositories, hash: Buffer, caller: Caller): Promise<Outcome | undefined> {
    const { phone, provedAt } = await this.proofOf(repos, hash);
    const account = await repos.users.accountByPhone(phone.number);
    if (!account) return undefined;
    if (account.isSuspended) throw new Forbidden('account_suspended', 'the account is suspended by the operator');
    if (!(await repos.users.lock(account.id, account.credentialsVersion))) throw new Overtaken();
    const isAsleep = await repos.numberClaims.isAsleep(phone.number, account, this.rules.recycleDays);
    if (isAsleep === undefined) throw new Overtaken();
    const open = await repos.numberClaims.ofAccount(account);
    const claim = open.find((one) => one.phone === phone.number);
    const own = (await repos.users.phonesOf(account.id)).find(({ number }) => number === phone.number);
    if (!own) throw new Overtaken();
    const done = { userId: account.id, phone: own };
    if (!isAsleep && !claim) return { ...done, claim: await begin(repos, account, phone, caller), isNew: true };
    if (!isAsleep && claim && claim.dueAt > provedAt) return { ...done, claim };
    await close(repos, account, phone, caller, 'start_over');
    return done;
  }

  private async proofOf({ verificationTokens }: ClosingRepositories, hash: Buffer) {
    const token = await verificationTokens.holdToken(hash);
    if (!token) throw new BadRequest('wrong_token', NO_SUCH_TOKEN);
    const { expiresAt, ...phone } = token;
    return { phone, provedAt: new Date(expiresAt.getTime() - this.rules.tokenTtlSeconds * 1_000) };
  }
}

async function begin(
  { numberClaims, securityEvents }: ClosingRepositories,
  account: Account,
  phone: Phone,
  caller: Caller,
): Promise<NumberClaim> {
  const claim = await numberClaims.begin(phone.number, account);
  await securityEvents.add({ event: 'number_claimed', userId: account.id, phone }, caller);
  return claim;
}
