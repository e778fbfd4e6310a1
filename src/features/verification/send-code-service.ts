import type { Logger } from 'pino';
import type { Caller } from '../../base/caller';
import { BadRequest, SendingTooOften, Unavailable } from '../../base/errors';
import type { Verdict, VouchedFor } from '../../integrations/captcha/captchas';
import type { Channel } from '../../integrations/senders/kinds';
import { NumberRefused, SendingTimedOut } from '../../integrations/senders/sender';
import { orCaptcha, type LimitName } from '../../load/limits';
import type { AuditTrail } from '../audit/audit-trail';
import type { KnownPlaces, SignedInDevice, Trust } from '../audit/known-places';
import type { Limiter, CountedUses, LimitUse } from '../limits/limiter';
import { countryOf, isMobile, isWithin, type Phone } from '../phones/phone-number';
import { firstCostOf, type PricedWay } from '../sending/routes';
import { TEST_NUMBER, type TestNumbers } from '../sending/test-numbers';
import type { Asking, CaptchaInAlarm, Pay, SpendGuard } from '../spend-guard/spend-guard';
import type { CaptchaService } from './captcha-service';
import { SendingFailed, type CodeSender, type CodeWish } from './code-sender';
import { guessesAt } from './guesses';

export interface SendingRules {
  phoneCheck: 'mobile' | 'possible';
  /** Calling codes, and ISO codes of countries. Empty: no limit. */
  allowedRegions: string[];
  captchaPolicy: 'adaptive' | 'always' | 'off';
}

export interface CaptchaAnswer {
  verifyId?: string | undefined;
  verifyCode?: string | undefined;
}

/** The limits that a captcha has raised. `not yet`: a right answer would raise them. */
type Raised = 'nothing' | 'not yet' | VouchedFor;

interface Deps {
  sender: CodeSender;
  testNumbers: TestNumbers;
  captchas: CaptchaService;
  limiter: Limiter;
  spendGuard: SpendGuard;
  knownPlaces: KnownPlaces;
  audit: AuditTrail;
  logger: Pick<Logger, 'warn'>;
}

/** Sends codes. Each costs money, so requests that cannot come from a user are refused first. */
export class SendCodeService {
  constructor(
    private readonly deps: Deps,
    private readonly rules: SendingRules,
  ) {}

  /** Returns the channel of the code. */
  async send(
    phone: Phone,
    caller: Caller,
    { captcha, wish }: { captcha: CaptchaAnswer; wish: CodeWish },
    device?: SignedInDevice,
  ): Promise<Channel> {
    const { sender, testNumbers, limiter, knownPlaces, audit } = this.deps;
    const fixedCode = await testNumbers.codeFor(phone);
    // Numbers for fiction are not valid by their country's plan.
    if (fixedCode === undefined) await this.checkPhone(phone, caller);
    const raised = await this.raisedBy(captcha, phone, caller);
    const ofAddress = this.useOfAddress(caller, raised);
    await limiter.checkKnown(caller, ofAddress);
    const ways = fixedCode === undefined ? await sender.waysTo(phone, wish) : [];
    const trust = await knownPlaces.trustOf(phone.number, caller, device);
    await this.checkGuessBudget(phone, caller, trust);
    const uses = [...this.usesOfPhone(phone, trust, raised), ofAddress];
    const taken = await limiter.take(caller, ...uses, await this.budgetFor(trust, caller, ways));
    if (fixedCode !== undefined) {
      const channel = await sender.keep(phone, fixedCode, caller, wish);
      await audit.note({ event: 'code_sent', phone, detail: TEST_NUMBER }, caller);
      return channel;
    }
    const send = (payInAlarm: Pay) => {
      const pay: Pay = async (way) => {
        await taken.countAs(way.cost);
        await payInAlarm(way);
      };
      return sender.send(phone, ways, { asker: caller, wording: wish.wording, pay });
    };
    const asking = { phone, caller, trust, ways, captcha: this.captchaInAlarm(raised) };
    const channel = await this.sendUnlessGuarded(asking, send, taken);
    await audit.note({ event: 'code_sent', phone, ...(channel !== 'sms' && { detail: channel }) }, caller);
    return channel;
  }

  private async checkPhone(phone: Phone, caller: Caller): Promise<void> {
    const { allowedRegions, phoneCheck } = this.rules;
    const { region } = phone;
    if (!isWithin(phone, allowedRegions)) {
      this.deps.logger.warn(
        { region, country: countryOf(phone), requestId: caller.requestId },
        'a code was requested for a region that is not allowed',
      );
      await this.noteRefusal(phone, caller, 'region not allowed');
      throw new BadRequest('region_not_served', 'region: codes are not sent there');
    }
    if (phoneCheck === 'mobile' && !isMobile(phone)) {
      await this.noteRefusal(phone, caller, 'not a mobile number');
      throw new BadRequest('not_a_mobile', 'phone: must be a mobile number');
    }
  }

  private async noteRefusal(phone: Phone, caller: Caller, detail: string): Promise<void> {
    await this.deps.audit.noteUpToLimit({ event: 'code_refused', phone, detail }, caller);
  }

  /** Returns the raised limits. If a captcha is always needed but its provider is down, codes are sent without one. */
  private async raisedBy(captcha: CaptchaAnswer, phone: Phone, caller: Caller): Promise<Raised> {
    const { captchaPolicy } = this.rules;
    if (captchaPolicy === 'off') return 'nothing';
    const verdict = await this.verdictOn(captcha, caller);
    if (verdict === 'right') return this.deps.captchas.vouchesFor;
    if (verdict === 'away') return 'nothing';
    if (captchaPolicy === 'adaptive') return 'not yet';
    if (verdict === 'unchecked')
      throw new Unavailable('captcha_unchecked', 'the captcha could not be checked: try again shortly');
    await this.noteRefusal(phone, caller, 'no solved captcha');
    const why = captcha.verifyId && captcha.verifyCode ? 'captcha_wrong' : 'captcha_missing';
    throw new BadRequest(why, 'verifyCode: a solved captcha is needed: get one from get_sms_img_code');
  }

  private captchaInAlarm(raised: Raised): CaptchaInAlarm {
    if (!this.deps.captchas.goFirst || raised === 'nothing') return 'useless';
    return raised === 'not yet' ? 'missing' : 'solved';
  }

  private async verdictOn({ verifyId, verifyCode }: CaptchaAnswer, caller: Caller): Promise<Verdict> {
    const { captchas } = this.deps;
    if (verifyId && verifyCode) return captchas.check(verifyId, verifyCode, caller);
    return this.rules.captchaPolicy === 'always' && (await captchas.areAway()) ? 'away' : 'wrong';
  }

  /** Refuses to send a code to a caller who has no guesses left for this phone. */
  private async checkGuessBudget(phone: Phone, caller: Caller, trust: Trust): Promise<void> {
    const refusal = await this.deps.limiter.refusalOf(...guessesAt(phone.number, caller, trust));
    if (!refusal) return;
    await this.noteRefusal(phone, caller, 'too many wrong codes');
    throw new SendingTooOften('no_guesses_left', 'too many wrong codes were tried for this phone', {
      ...(refusal.retryAfterSeconds !== undefined && { retryAfterSeconds: refusal.retryAfterSeconds }),
    });
  }

  private useOfAddress({ address }: Caller, raised: Raised): LimitUse {
    const raisesBoth = this.deps.captchas.vouchesFor === 'phone and address';
    const limit = raisesBoth ? this.limitFor(raised, 'sendPerAddress', 'sendPerAddressWithCaptcha') : 'sendPerAddress';
    return { limit, subject: address };
  }

  /** Reserves some codes of a day, and a slot, for places where the account was used. Strangers cannot take these. */
  private usesOfPhone({ number }: Phone, trust: Trust, raised: Raised): LimitUse[] {
    const perPhone =
      trust === 'elsewhere'
        ? this.limitFor(raised, 'sendPerPhoneElsewhere', 'sendPerPhoneElsewhereWithCaptcha')
        : this.limitFor(raised, 'sendPerPhone', 'sendPerPhoneWithCaptcha');
    return [
      { limit: resendLimitFor(trust), subject: number },
      { limit: perPhone, subject: number },
    ];
  }

  /** Reserves the last fifth of the day's budget for owners at a known place, so strangers cannot lock them out. */
  private async budgetFor(trust: Trust, caller: Caller, ways: PricedWay[]): Promise<LimitUse> {
    const limit = trust === 'known' ? 'sendInAll' : await this.deps.spendGuard.budgetOf(caller, ways);
    return { limit, subject: 'all', count: firstCostOf(ways) };
  }

  private limitFor(raised: Raised, name: LimitName, withCaptcha: LimitName): LimitUse['limit'] {
    const { limits } = this.deps.limiter;
    if (raised === 'nothing') return name;
    return raised === 'not yet' ? orCaptcha(limits[name], limits[withCaptcha]) : withCaptcha;
  }

  private async sendUnlessGuarded(
    asking: Asking,
    send: (pay: Pay) => Promise<Channel>,
    taken: CountedUses,
  ): Promise<Channel> {
    try {
      return await this.deps.spendGuard.guard(asking, send);
    } catch (error) {
      throw await this.failure(error, asking, taken);
    }
  }

  /**
   * Counts a code that certainly was not sent only for the address that made the service ask the provider, not for the
   * phone. A code that may still arrive counts, but the phone may request another one at once.
   */
  private async failure(error: unknown, { phone, caller, trust }: Asking, taken: CountedUses): Promise<unknown> {
    if (error instanceof SendingTimedOut) {
      await this.deps.limiter.clear(resendLimitFor(trust), phone.number);
      await this.noteRefusal(phone, caller, 'no answer from the provider in time: it may have been sent');
      return new Unavailable('sms_unconfirmed', 'the SMS provider did not answer in time: the code may still arrive', {
        cause: error,
      });
    }
    if (wasProviderAsked(error)) await taken.giveBackButAddress();
    else await taken.giveBack();
    if (error instanceof SendingFailed) await this.noteRefusal(phone, caller, 'the provider failed');
    return error instanceof NumberRefused ? this.refusedNumber(error, phone, caller) : error;
  }

  /** Refuses a number. The logged provider's code tells whether the number or the operator's account is at fault. */
  private async refusedNumber({ providerCode }: NumberRefused, phone: Phone, caller: Caller): Promise<BadRequest> {
    const { requestId } = caller;
    const country = countryOf(phone);
    this.deps.logger.warn({ country, providerCode, requestId }, 'the SMS provider refused a number');
    const reason = providerCode === undefined ? '' : ` (code ${providerCode})`;
    await this.noteRefusal(phone, caller, `number refused by the provider${reason}`);
    return new BadRequest('undeliverable', 'phone: the SMS provider does not deliver to this number');
  }
}

function resendLimitFor(trust: Trust): LimitName {
  return trust === 'known' ? 'resendKnown' : 'resend';
}

function wasProviderAsked(error: unknown): boolean {
  if (error instanceof NumberRefused) return true;
  return error instanceof SendingFailed && error.wasProviderAsked;
}
