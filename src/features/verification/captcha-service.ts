import type { Caller } from '../../caller';
import type { Captchas, NewCaptcha, Verdict, VouchedFor } from '../../integrations/captcha/captchas';
import { checksBy, type Limiter } from '../limits/limiter';
import type { Limits } from '../limits/limits';

/** Captchas, so many for an address. A solved one raises the limits of send_code. */
export class CaptchaService {
  constructor(
    private readonly captchas: Captchas,
    private readonly limiter: Limiter,
    private readonly limits: Pick<Limits, 'checksPerMinute' | 'checksPerDay'>,
  ) {}

  get vouchesFor(): VouchedFor {
    return this.captchas.vouchesFor;
  }

  async create(caller: Caller): Promise<NewCaptcha> {
    await this.count(caller);
    return this.captchas.create(caller.address);
  }

  /** Counted where it asks somebody outside: anybody can make answers up. */
  async check(verifyId: string, answer: string, caller: Caller): Promise<Verdict> {
    if (this.captchas.checkedOutside) await this.count(caller);
    return this.captchas.check(verifyId, answer, caller.address);
  }

  areAway(): Promise<boolean> {
    return this.captchas.areAway();
  }

  private async count(caller: Caller): Promise<void> {
    await this.limiter.take(caller, ...checksBy(caller, this.limits));
  }
}
