import { BadRequest, SendingTooOften, Unavailable } from '../../errors';
import { NumberRefused, SendingTimedOut } from '../../integrations/sms/sms-sender';
import type { AuditTrail } from '../audit/audit-trail';
import type { Caller } from '../audit/caller';
import { guessesAt, type Limiter, type Taken, type Use } from '../limits/limiter';
import type { Limits } from '../limits/limits';
import type { SpendGuard } from '../spend-guard/spend-guard';
import { isMobile, type Phone } from '../users/phone-number';
import type { CaptchaService } from './captcha-service';
import { SendingFailed, type CodeSender } from './code-sender';

export interface SendingRules {
  phoneCheck: 'mobile' | 'possible';
  /** None listed: all. */
  allowedRegions: string[];
  captchaPolicy: 'adaptive' | 'always' | 'off';
}

export interface CaptchaAnswer {
  verifyId?: string | undefined;
  verifyCode?: string | undefined;
}

interface Parts {
  sender: CodeSender;
  captchas: CaptchaService;
  limiter: Limiter;
  limits: Limits;
  spendGuard: SpendGuard;
  audit: AuditTrail;
  tell: (message: string, details: object) => void;
}

/** Sends codes, and as few as possible to whom they are no use: each costs money. */
export class SendCodeService {
  constructor(
    private readonly parts: Parts,
    private readonly rules: SendingRules,
  ) {}

  async send(phone: Phone, caller: Caller, captcha: CaptchaAnswer): Promise<void> {
    const { limiter, audit } = this.parts;
    await this.checkPhone(phone, caller);
    const solved = await this.solves(captcha, phone, caller);
    await this.checkGuessBudget(phone, caller);
    const taken = await limiter.take(caller, ...this.uses(phone, caller.address, solved));
    await this.sendUnlessGuarded(phone, caller, taken);
    await audit.note({ event: 'code_sent', phone }, caller);
  }

  private async checkPhone(phone: Phone, caller: Caller): Promise<void> {
    const { allowedRegions, phoneCheck } = this.rules;
    if (allowedRegions.length > 0 && !allowedRegions.includes(phone.region)) {
      const { region } = phone;
      this.parts.tell('a code was asked for in a region that is not allowed', { region, requestId: caller.requestId });
      await this.noteRefusal(phone, caller, 'region not allowed');
      throw new BadRequest('region: codes are not sent there');
    }
    if (phoneCheck === 'mobile' && !isMobile(phone)) {
      await this.noteRefusal(phone, caller, 'not a mobile number');
      throw new BadRequest('phone: must be a mobile number');
    }
  }

  private async noteRefusal(phone: Phone, caller: Caller, detail: string): Promise<void> {
    await this.parts.audit.noteSparingly({ event: 'code_refused', phone, detail }, caller);
  }

  private async solves({ verifyId, verifyCode }: CaptchaAnswer, phone: Phone, caller: Caller): Promise<boolean> {
    if (this.rules.captchaPolicy === 'off') return false;
    const given = verifyId !== undefined && verifyCode !== undefined;
    const solved = given && (await this.parts.captchas.solves(verifyId, verifyCode));
    if (this.rules.captchaPolicy === 'always' && !solved) {
      await this.noteRefusal(phone, caller, 'no solved captcha');
      throw new BadRequest('verifyCode: a solved captcha is needed: get one from get_sms_img_code');
    }
    return solved;
  }

  /** Whoever may not try a code for this phone gets none sent either. */
  private async checkGuessBudget(phone: Phone, caller: Caller): Promise<void> {
    const { limiter, limits } = this.parts;
    const refusal = await limiter.refusalOf(...guessesAt(phone.number, caller, limits));
    if (!refusal) return;
    await this.noteRefusal(phone, caller, 'too many wrong codes');
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

  private async sendUnlessGuarded(phone: Phone, caller: Caller, taken: Taken): Promise<void> {
    try {
      await this.parts.spendGuard.check(phone, caller);
      await this.parts.sender.send(phone);
    } catch (error) {
      throw await this.failure(error, phone, caller, taken);
    }
  }

  /** What certainly was not sent counts nowhere; what may still arrive only leaves the phone free to ask again. */
  private async failure(error: unknown, phone: Phone, caller: Caller, taken: Taken): Promise<unknown> {
    const { limiter, limits } = this.parts;
    if (error instanceof SendingTimedOut) {
      await limiter.clear({ limit: limits.resend, subject: phone.number });
      await this.noteRefusal(phone, caller, 'no answer from the provider in time: it may have been sent');
      return new Unavailable('the SMS provider did not answer in time: the code may still arrive', { cause: error });
    }
    await taken.giveBack();
    if (error instanceof SendingFailed) await this.noteRefusal(phone, caller, 'the provider failed');
    if (!(error instanceof NumberRefused)) return error;
    await this.noteRefusal(phone, caller, 'number refused by the provider');
    return new BadRequest('phone: the SMS provider does not deliver to this number');
  }
}
