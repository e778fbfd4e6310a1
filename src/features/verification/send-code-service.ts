import { BadRequest, Failed, SendingTooOften } from '../../errors';
import { NumberRefused, SendingTimedOut, type SmsSender } from '../../integrations/sms/sms-sender';
import type { Limiter, Taken, Use } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import { isMobile, type Phone } from '../users/phone-number';
import type { CaptchaService } from './captcha-service';
import type { VerificationCodes } from './verification-code';
import type { VerificationRepository } from './verification-repository';

export interface SendingRules {
  phoneCheck: 'mobile' | 'possible';
  /** None listed: all. */
  allowedRegions: string[];
  captchaPolicy: 'adaptive' | 'always' | 'off';
  codeTtlSeconds: number;
  text: string;
}

export interface CaptchaAnswer {
  verifyId?: string | undefined;
  verifyCode?: string | undefined;
}

interface Parts {
  verification: VerificationRepository;
  codes: VerificationCodes;
  captchas: CaptchaService;
  limiter: Limiter;
  limits: Limits;
  sms: SmsSender;
  warn: (message: string, details: object) => void;
}

/** Sends codes, and as few as possible to whom they are no use: each costs money. */
export class SendCodeService {
  constructor(
    private readonly parts: Parts,
    private readonly rules: SendingRules,
  ) {}

  async send(phone: Phone, address: string, captcha: CaptchaAnswer): Promise<void> {
    this.checkPhone(phone);
    const solved = await this.solves(captcha);
    await this.checkGuessBudget(phone, address);
    const taken = await this.parts.limiter.take(...this.uses(phone, address, solved));
    await this.dispatch(phone, taken);
  }

  private checkPhone(phone: Phone): void {
    const { allowedRegions, phoneCheck } = this.rules;
    if (allowedRegions.length > 0 && !allowedRegions.includes(phone.region)) {
      this.parts.warn('a code was asked for in a region that is not allowed', { region: phone.region });
      throw new BadRequest('region: codes are not sent there');
    }
    if (phoneCheck === 'mobile' && !isMobile(phone)) throw new BadRequest('phone: must be a mobile number');
  }

  private async solves({ verifyId, verifyCode }: CaptchaAnswer): Promise<boolean> {
    if (this.rules.captchaPolicy === 'off') return false;
    const given = verifyId !== undefined && verifyCode !== undefined;
    const solved = given && (await this.parts.captchas.solves(verifyId, verifyCode));
    if (this.rules.captchaPolicy === 'always' && !solved)
      throw new BadRequest('verifyCode: a solved captcha is needed: get one from get_sms_img_code');
    return solved;
  }

  /** Whoever may not try a code for this phone gets none sent either. */
  private async checkGuessBudget(phone: Phone, address: string): Promise<void> {
    const { limiter, limits } = this.parts;
    const refusal = await limiter.refusalOf(
      { limit: limits.wrongCodesPerPhoneAndAddress, subject: `${phone.number} ${address}` },
      { limit: limits.wrongCodesPerPhone, subject: phone.number },
    );
    if (refusal)
      throw new SendingTooOften('too many wrong codes were tried for this phone', {
        ...(refusal.retryAfterSeconds !== undefined && { retryAfterSeconds: refusal.retryAfterSeconds }),
      });
  }

  private uses(phone: Phone, address: string, solved: boolean): Use[] {
    const { limits } = this.parts;
    return [
      { limit: limits.resend, subject: phone.number },
      { limit: solved ? limits.sendPerPhoneWithCaptcha : limits.sendPerPhone, subject: phone.number },
      { limit: solved ? limits.sendPerAddressWithCaptcha : limits.sendPerAddress, subject: address },
      { limit: limits.sendInAll, subject: 'all' },
    ];
  }

  /**
   * The code is kept before it is sent, so that it is known by the time it arrives, even when this process is not there
   * any more. When it certainly was not sent, all is as before.
   */
  private async dispatch(phone: Phone, taken: Taken): Promise<void> {
    const { verification, codes, limiter, limits, sms } = this.parts;
    const code = codes.create();
    let codeId: number | undefined;
    try {
      codeId = await verification.addCode(phone.number, codes.hmac(phone.number, code), this.rules.codeTtlSeconds);
      await sms.send({ to: phone.number, body: this.textWith(code), code });
    } catch (error) {
      if (error instanceof SendingTimedOut) {
        // It may still arrive: the code stands and the day's count too, but the phone may ask again at once.
        await limiter.clear({ limit: limits.resend, subject: phone.number });
        throw new Failed('the SMS provider did not answer in time', { cause: error });
      }
      if (codeId !== undefined) await verification.withdrawCode(codeId);
      await taken.giveBack();
      if (error instanceof NumberRefused)
        throw new BadRequest('phone: the SMS provider does not deliver to this number');
      if (codeId === undefined) throw error;
      throw new Failed('the SMS could not be sent', { cause: error });
    }
  }

  private textWith(code: string): string {
    const minutes = String(Math.ceil(this.rules.codeTtlSeconds / 60));
    return this.rules.text.replaceAll('{code}', code).replaceAll('{minutes}', minutes);
  }
}
