import type { Caller } from '../../base/caller';
import type { Captchas, NewCaptcha, Verdict, VouchedFor } from '../../integrations/captcha/captchas';
import type { Limiter } from '../limits/limiter';

/** Captchas, limited per address. A solved one raises the limits of send_code. */
export class CaptchaService {
  constructor(
    private readonly captchas: Captchas,
    private readonly limiter: Limiter,
  ) {}

  get vouchesFor(): VouchedFor {
    return this.captchas.vouchesFor;
  }

  create({ address }: Caller): Promise<NewCaptcha> {
    return this.captchas.create(address);
  }

  /** Checks an answer. Counts it if an outside provider is asked, since anybody can make answers up. */
  async check(verifyId: string, answer: string, caller: Caller): Promise<Verdict> {
    const subject = caller.address;
    if (this.captchas.checkedOutside)
      await this.limiter.take(caller, { limit: 'checksPerMinute', subject }, { limit: 'checksPerDay', subject });
    return this.captchas.check(verifyId, answer, subject);
  }

  areAway(): Promise<boolean> {
    return this.captchas.areAway();
  }
}
