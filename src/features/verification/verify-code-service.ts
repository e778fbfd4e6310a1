import type { Caller } from '../../caller';
import { CodeExpired, Wrong } from '../../errors';
import type { AuditTrail } from '../audit/audit-trail';
import { checksBy, guessesAt, verifiesBy, type Held, type Limiter } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import type { Phone } from '../phones/phone-number';
import type { UsersRepository } from '../users/users-repository';
import type { VerificationCodes } from './verification-code';
import type { SentCode, VerificationRepository } from './verification-repository';
import { newVerificationToken, tokenHash } from './verification-token';

interface Parts {
  verification: VerificationRepository;
  codes: VerificationCodes;
  users: UsersRepository;
  limiter: Limiter;
  limits: Limits;
  audit: AuditTrail;
}

export interface VerifyingRules {
  codeMaxAttempts: number;
  tokenTtlSeconds: number;
}

/** Exchanges codes for verification tokens. */
export class VerifyCodeService {
  constructor(
    private readonly parts: Parts,
    private readonly rules: VerifyingRules,
  ) {}

  async isPhoneAvailable(phone: Phone, caller: Caller): Promise<boolean> {
    const { limiter, limits } = this.parts;
    await limiter.take(caller, ...checksBy(caller, limits));
    return !(await this.parts.users.isPhoneTaken(phone.number));
  }

  async verify(phone: Phone, typed: string, caller: Caller): Promise<string> {
    const { verification, codes, limiter, limits, audit } = this.parts;
    await limiter.take(caller, ...verifiesBy(caller, limits));
    const callerHmacs = codes.askerHmacs(phone.number, caller.address);
    const sent = await verification.claimAttempt(phone.number, callerHmacs, this.rules.codeMaxAttempts);
    if (!sent) return this.refuseUncompared(phone);
    const guess = await this.holdGuess(sent, phone, caller);
    if (!codes.matches(phone.number, typed, sent.hmac)) {
      await guess.settle();
      await audit.note({ event: 'code_wrong', phone }, caller);
      throw new Wrong('wrong code');
    }
    await guess.giveBack();
    const token = await this.exchange(sent, phone);
    await audit.note({ event: 'code_verified', phone }, caller);
    return token;
  }

  /**
   * Counts as a wrong guess until the code has proved right. After the attempt, so that tries at a spent code take no
   * place of the day's guesses from others. Without a place the code is not compared, and the attempt is free again.
   */
  private async holdGuess(sent: SentCode, phone: Phone, caller: Caller): Promise<Held> {
    const { verification, limiter, limits } = this.parts;
    try {
      return await limiter.hold(caller, ...guessesAt(phone.number, caller, limits));
    } catch (error) {
      await verification.releaseAttempt(sent);
      throw error;
    }
  }

  private async exchange(sent: SentCode, phone: Phone): Promise<string> {
    const { verification, limiter, limits } = this.parts;
    // First, so that nothing can fail after the code is spent and the token stored.
    await limiter.clear({ limit: limits.resend, subject: phone.number });
    const token = newVerificationToken();
    const won = await verification.exchange(sent.id, phone, tokenHash(token), this.rules.tokenTtlSeconds);
    if (!won) throw new CodeExpired('the code is spent or has expired');
    return token;
  }

  private async refuseUncompared(phone: Phone): Promise<never> {
    if (await this.parts.verification.hasCode(phone.number)) throw new CodeExpired('the code is spent or has expired');
    throw new Wrong('no code was sent to this phone');
  }
}
