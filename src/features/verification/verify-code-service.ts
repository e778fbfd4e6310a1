import { CodeExpired, Wrong } from '../../errors';
import type { Limiter, Taken } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import type { Phone } from '../users/phone-number';
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

  async isPhoneAvailable(phone: Phone, address: string): Promise<boolean> {
    await this.takeCheck(address);
    return !(await this.parts.users.isPhoneTaken(phone.number));
  }

  async verify(phone: Phone, typed: string, address: string): Promise<string> {
    await this.takeCheck(address);
    const guess = await this.takeGuess(phone, address);
    const sent = await this.parts.verification.claimAttempt(phone.number, this.rules.codeMaxAttempts);
    if (!sent) return this.refuseUncompared(phone, guess);
    if (!this.parts.codes.matches(phone.number, typed, sent.hmac)) throw new Wrong('wrong code');
    await guess.giveBack();
    return this.exchange(sent, phone);
  }

  private async exchange(sent: SentCode, phone: Phone): Promise<string> {
    const { verification, limiter, limits } = this.parts;
    const token = newVerificationToken();
    const won = await verification.exchange(sent.id, phone, tokenHash(token), this.rules.tokenTtlSeconds);
    if (!won) throw new CodeExpired('this code has been used');
    await limiter.clear({ limit: limits.resend, subject: phone.number });
    return token;
  }

  /** Nothing was compared, so nothing counts. */
  private async refuseUncompared(phone: Phone, guess: Taken): Promise<never> {
    await guess.giveBack();
    if (await this.parts.verification.hasCode(phone.number)) throw new CodeExpired('the code is spent or has expired');
    throw new Wrong('no code was sent to this phone');
  }

  private async takeCheck(address: string): Promise<void> {
    const { limiter, limits } = this.parts;
    await limiter.take(
      { limit: limits.checksPerMinute, subject: address },
      { limit: limits.checksPerDay, subject: address },
    );
  }

  /** Counts as a wrong one until the code has proved right. */
  private async takeGuess(phone: Phone, address: string): Promise<Taken> {
    const { limiter, limits } = this.parts;
    return limiter.take(
      { limit: limits.wrongCodesPerPhoneAndAddress, subject: `${phone.number} ${address}` },
      { limit: limits.wrongCodesPerPhone, subject: phone.number },
    );
  }
}
