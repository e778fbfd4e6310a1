import type { Caller } from '../../base/caller';
import { Tally } from '../../base/tally';
import type { Captchas, NewCaptcha, Verdict, VouchedFor } from '../../integrations/captcha/captchas';
import type { Limiter } from '../limits/limiter';

/** Captchas, limited per address. A solved one raises the limits of send_code. */
export class CaptchaService {
  /** Captchas that were made, and verdicts on answers. */
  readonly counts = new Tally();

  constructor(
    private readonly captchas: Captchas,
    private readonly limiter: Limiter,
  ) {}

  get vouchesFor(): VouchedFor {
    return this.captchas.vouchesFor;
  }

  /** Whether solved captchas go first in an alarm of the spend guard. */
  get goFirst(): boolean {
    return this.captchas.goFirst;
  }

  async create({ address }: Caller): Promise<NewCaptcha> {
    const made = await this.captchas.create(address);
    this.counts.add('made');
    return made;
  }

  /** Checks an answer. Counts it if an outside provider is asked, since anybody can make answers up. */
  async check(verifyId: string, answer: string, caller: Caller): Promise<Verdict> {
    const subject = caller.address;
    if (this.captchas.checkedOutside)
      await this.limiter.take(caller, { limit: 'checksPerMinute', subject }, { limit: 'checksPerDay', subject });
    const verdict = await this.captchas.check(verifyId, answer, subject);
    this.counts.add(verdict);
    return verdict;
  }

  areAway(): Promise<boolean> {
    return this.captchas.areAway();
  }
}
