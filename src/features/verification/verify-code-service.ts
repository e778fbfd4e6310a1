import type { Caller } from '../../base/caller';
import { CodeExpired, Unavailable, Wrong } from '../../base/errors';
import { tokenHash } from '../../base/secrets';
import { wayOf } from '../../integrations/senders/kinds';
import type { Comparison } from '../../integrations/senders/sender';
import type { AuditTrail } from '../audit/audit-trail';
import type { KnownPlaces, SignedInDevice } from '../audit/known-places';
import type { PendingUses, Limiter, LimitUse } from '../limits/limiter';
import type { Phone } from '../phones/phone-number';
import type { UsersRepository } from '../users/users-repository';
import type { Sending } from '../sending/sending';
import { attemptsFrom, guessesAt } from './guesses';
import type { VerificationCodes } from './verification-code';
import type { SentCode, VerificationRepository } from './verification-repository';
import { newVerificationToken } from './verification-token';

interface Deps {
  verification: VerificationRepository;
  codes: VerificationCodes;
  sending: Sending;
  users: UsersRepository;
  limiter: Limiter;
  knownPlaces: KnownPlaces;
  audit: AuditTrail;
}

export interface VerifyingRules {
  codeMaxAttempts: number;
  tokenTtlSeconds: number;
}

/** Exchanges codes for verification tokens. */
export class VerifyCodeService {
  constructor(
    private readonly deps: Deps,
    private readonly rules: VerifyingRules,
  ) {}

  async isPhoneAvailable(phone: Phone): Promise<boolean> {
    return !(await this.deps.users.isPhoneTaken(phone.number));
  }

  async verify(phone: Phone, typed: string, caller: Caller, device?: SignedInDevice): Promise<string> {
    const { verification, codes, limiter, knownPlaces, audit } = this.deps;
    const callerHmacs = codes.askerHmacs(phone.number, caller.address);
    const trust = await knownPlaces.trustOf(phone.number, caller, device);
    const guesses = guessesAt(phone.number, caller, trust);
    const attempts = attemptsFrom(trust, this.rules.codeMaxAttempts);
    // Before an attempt is claimed: without guesses left, a caller does not take a shared attempt even for a moment.
    const sent =
      !(await limiter.isUsedUp(...guesses)) && (await verification.claimAttempt(phone.number, callerHmacs, attempts));
    if (!sent) return this.refuseUncompared(phone, guesses, caller);
    const guess = await this.holdGuess(sent, guesses, caller);
    const outcome = await this.compare(phone, typed, sent, guess);
    if (outcome === 'wrong') {
      await guess.settle();
      await audit.note({ event: 'code_wrong', phone }, caller);
      throw new Wrong('wrong_code', 'wrong code');
    }
    await guess.giveBack();
    if (outcome === 'over') throw codeExpired();
    const token = await this.exchange(sent, phone);
    await audit.note({ event: 'code_verified', phone }, caller);
    return token;
  }

  /** Compares the code. If its provider compares it and does not answer, neither the attempt nor the guess counts. */
  private async compare({ number }: Phone, typed: string, sent: SentCode, guess: PendingUses): Promise<Comparison> {
    const { verification, codes, sending } = this.deps;
    const way = wayOf(sent.way);
    const check = way && sending.checkOf(way);
    if (!check) return codes.matches(number, typed, sent.hmac) ? 'right' : 'wrong';
    try {
      return await check(number, typed);
    } catch (cause) {
      await guess.giveBack();
      await verification.releaseAttempt(sent);
      throw new Unavailable('code_unchecked', 'the code could not be checked: try again shortly', { cause });
    }
  }

  /**
   * Counts a wrong guess until the code has proved right. Runs after the attempt, so that tries at a used code do not
   * take the day's guesses from others. Without a held use the code is not compared, and the attempt is given back.
   */
  private async holdGuess(sent: SentCode, guesses: LimitUse[], caller: Caller): Promise<PendingUses> {
    const { verification, limiter } = this.deps;
    try {
      return await limiter.hold(caller, ...guesses);
    } catch (error) {
      await verification.releaseAttempt(sent);
      throw error;
    }
  }

  private async exchange(sent: SentCode, phone: Phone): Promise<string> {
    const { verification, limiter } = this.deps;
    // First, so that nothing can fail after the code is used and the token stored.
    for (const limit of ['resend', 'resendKnown'] as const) await limiter.clear(limit, phone.number);
    const token = newVerificationToken();
    const won = await verification.exchange(sent.id, phone, tokenHash(token), this.rules.tokenTtlSeconds);
    if (!won) throw codeExpired();
    return token;
  }

  private async refuseUncompared(phone: Phone, guesses: LimitUse[], caller: Caller): Promise<never> {
    const { verification, limiter } = this.deps;
    if (!(await verification.hasCode(phone.number))) throw new Wrong('wrong_code', 'no code was sent to this phone');
    await limiter.check(caller, ...guesses);
    throw codeExpired();
  }
}

function codeExpired(): CodeExpired {
  return new CodeExpired('code_expired', 'the code was used or has expired');
}
