import type { Logger } from 'pino';
import { z } from 'zod';
import { Unavailable } from '../../base/errors';
import { Breaker, BreakerOpen, CallAborted } from '../../load/breaker';
import type { Queue } from '../../load/queue';
import { NoAnswer, NoAnswerInTime, postForm, type FormAnswer } from '../post-form';
import type { Captchas, NewCaptcha, Verdict } from './captchas';

export interface SiteverifyOptions {
  /** Public: a client needs it to show the provider's widget. */
  siteKey: string;
  secretKey: string;
  verifyUrl: string;
  timeoutMs?: number | undefined;
}

const PEER = 'the captcha provider';
/** Short, since the same request waits for the SMS provider too. A check has waited for its place meanwhile. */
const TIMEOUT_MS = 3_000;
/** For so long the provider is taken to be as the last probe found it. */
const PROBED_FOR_MS = 10_000;

/** Whatever else is sent is no token. */
const TOKEN = /^[\x21-\x7e]+$/;

const answer = z.object({ success: z.boolean(), 'error-codes': z.array(z.string()).nullish() });

/** Only our own settings lead to these. */
const WRONG_SECRET = ['missing-input-secret', 'invalid-input-secret'];
/** Our settings may lead to these, but so does a token of somebody else's widget, which anybody can get. */
const FOREIGN_TOKEN = ['sitekey-secret-mismatch', 'not-using-dummy-passcode'];

/** `failed`: no verdict came back, in time or at all. `not asked`: others had no answer a moment ago. */
type Outcome = Verdict | 'failed' | 'not asked';

/** Those of a provider that speaks the protocol of Cloudflare Turnstile and hCaptcha. It takes a token once. */
export class SiteverifyCaptchas implements Captchas {
  readonly vouchesFor = 'phone and address';
  readonly checkedOutside = true;
  private readonly checking: Breaker;
  private readonly probing: Breaker;
  private readonly timeoutMs: number;
  private probe: Promise<boolean> | undefined;
  private probedAt = 0;

  constructor(
    private readonly options: SiteverifyOptions,
    private readonly queue: Queue,
    private readonly logger: Pick<Logger, 'warn' | 'error'>,
    private readonly now = () => performance.now(),
  ) {
    const breaker = () => new Breaker(PEER, (error) => error instanceof NoAnswerInTime, now);
    [this.checking, this.probing] = [breaker(), breaker()];
    this.timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  }

  create(): Promise<NewCaptcha> {
    return Promise.resolve({ verifyId: this.options.siteKey, path: '/captcha/widget' });
  }

  async check(siteKey: string, token: string, address: string): Promise<Verdict> {
    if (siteKey !== this.options.siteKey || !TOKEN.test(token)) return 'wrong';
    const first = await this.askInTurn(token, address);
    if (first !== 'failed' && first !== 'not asked') return first;
    if (await this.probeAnew()) return 'away';
    // It is there, and somebody's tokens alone had no answer: these must not keep others from asking.
    this.checking.close();
    const outcome = first === 'not asked' ? await this.askInTurn(token, address) : first;
    return outcome === 'failed' || outcome === 'not asked' ? 'unchecked' : outcome;
  }

  areAway(): Promise<boolean> {
    const isOld = this.now() - this.probedAt >= PROBED_FOR_MS;
    return this.probe === undefined || isOld ? this.probeAnew() : this.probe;
  }

  /** Without a token: somebody may know one that the provider fails at, and must not have it look away by that. */
  private probeAnew(): Promise<boolean> {
    this.probedAt = this.now();
    const isAway = (outcome: Outcome) => ['away', 'failed', 'not asked'].includes(outcome);
    this.probe = this.ask('', this.probing, this.timeoutMs).then(isAway);
    return this.probe;
  }

  private async askInTurn(token: string, address: string): Promise<Outcome> {
    const begun = performance.now();
    const left = () => Math.max(this.timeoutMs / 2, this.timeoutMs - (performance.now() - begun));
    try {
      const ending = new AbortController();
      const ask = () => this.ask(token, this.checking, left(), ending);
      return await this.queue.run(address, ask, { abort: () => ending.abort(), waitMs: this.timeoutMs / 2 });
    } catch (error) {
      if (error instanceof Unavailable || error instanceof CallAborted) return 'unchecked';
      throw error;
    }
  }

  private async ask(response: string, breaker: Breaker, timeoutMs: number, ending?: AbortController): Promise<Outcome> {
    const { secretKey: secret, verifyUrl } = this.options;
    // Without the user's address, which the protocol would take too: it is nobody else's business.
    const fields = new URLSearchParams({ secret, response });
    try {
      return this.outcomeOf(await breaker.run(() => postForm(PEER, verifyUrl, { fields, timeoutMs, ending })));
    } catch (error) {
      if (error instanceof BreakerOpen) return 'not asked';
      if (!(error instanceof NoAnswer)) throw error;
      this.logger.warn({ err: error }, 'the captcha provider could not be asked');
      return 'failed';
    }
  }

  private outcomeOf({ status, body }: FormAnswer): Outcome {
    if (status === 429) return this.unclear('unchecked', status);
    const parsed = answer.safeParse(body);
    if (status >= 500 || !parsed.success) return this.unclear('failed', status);
    if (parsed.data.success) return 'right';
    const codes = parsed.data['error-codes'] ?? [];
    if (codes.includes('internal-error')) return this.unclear('failed', status);
    if (WRONG_SECRET.some((code) => codes.includes(code))) {
      this.logger.error('the captcha provider does not know CAPTCHA_SECRET_KEY: no captcha can be checked');
      return 'away';
    }
    if (FOREIGN_TOKEN.some((code) => codes.includes(code)))
      this.logger.warn(
        'a captcha was of another site key: if all are, CAPTCHA_SITE_KEY and CAPTCHA_SECRET_KEY do not match',
      );
    return 'wrong';
  }

  private unclear(outcome: Outcome, status: number): Outcome {
    this.logger.warn({ status }, 'the captcha provider gave no verdict');
    return outcome;
  }
}
