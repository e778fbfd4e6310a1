import type { Logger } from 'pino';
import { z } from 'zod';
import { Unavailable } from '../../../base/errors';
import { Breaker, BreakerOpen, CallAborted } from '../../../load/breaker';
import type { Queue } from '../../../load/queue';
import type { CallObserver } from '../../calls';
import { NoAnswer, NoAnswerInTime, post, type Answered } from '../../post';
import type { Captchas, NewCaptcha, Verdict } from '../captchas';

export interface SiteverifyOptions {
  /** Public: a client needs it to show the provider's widget. */
  siteKey: string;
  secretKey: string;
  verifyUrl: string;
  timeoutMs?: number | undefined;
  observe?: CallObserver | undefined;
}

const PEER = 'the captcha provider';
/** Short, since the same request also waits for the SMS provider, and a check has already waited for its place. */
const TIMEOUT_MS = 3_000;
/** Time for which the result of the last probe counts. */
const PROBED_FOR_MS = 10_000;

/** Form of tokens. Other input is wrong, without asking the provider. */
const TOKEN = /^[\x21-\x7e]+$/;

const answer = z.object({ success: z.boolean(), 'error-codes': z.array(z.string()).nullish() });

/** Error codes that only our own settings cause. */
const WRONG_SECRET = ['missing-input-secret', 'invalid-input-secret'];
/** Error codes that our settings may cause, but also a token of another site's widget, which anyone can get. */
const FOREIGN_TOKEN = ['sitekey-secret-mismatch', 'not-using-dummy-passcode'];

/** `failed`: no verdict came back, in time or at all. `not asked`: recent calls had no answer. */
type Outcome = Verdict | 'failed' | 'not asked';

/** Captchas of a provider with the protocol of Cloudflare Turnstile and hCaptcha, which accepts each token once. */
export class SiteverifyCaptchas implements Captchas {
  readonly vouchesFor = 'phone and address';
  readonly goFirst = true;
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
    if (await this.probeNow()) return 'away';
    // The provider works, and only some tokens had no answer: these must not block checks of others.
    this.checking.close();
    const outcome = first === 'not asked' ? await this.askInTurn(token, address) : first;
    return outcome === 'failed' || outcome === 'not asked' ? 'unchecked' : outcome;
  }

  areAway(): Promise<boolean> {
    const isOld = this.now() - this.probedAt >= PROBED_FOR_MS;
    return this.probe === undefined || isOld ? this.probeNow() : this.probe;
  }

  /** Probes without a token: a caller may know one at which the provider fails, and must not make it seem away. */
  private probeNow(): Promise<boolean> {
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
    const { secretKey: secret, verifyUrl, observe } = this.options;
    // Leaves out the user's address, which the protocol would also take, for privacy.
    const body = new URLSearchParams({ secret, response });
    try {
      const form = { body, timeoutMs, ending, observe };
      return this.outcomeOf(await breaker.run(() => post(PEER, verifyUrl, form)));
    } catch (error) {
      if (error instanceof BreakerOpen) return 'not asked';
      if (!(error instanceof NoAnswer)) throw error;
      this.logger.warn({ err: error }, 'the call to the captcha provider failed');
      return 'failed';
    }
  }

  private outcomeOf({ status, body }: Answered): Outcome {
    if (status === 429) return this.unclear('unchecked', status);
    const parsed = answer.safeParse(body);
    if (status >= 500 || !parsed.success) return this.unclear('failed', status);
    if (parsed.data.success) return 'right';
    const codes = parsed.data['error-codes'] ?? [];
    if (codes.includes('internal-error')) return this.unclear('failed', status);
    if (WRONG_SECRET.some((code) => codes.includes(code))) {
      this.logger.error('the captcha provider rejects CAPTCHA_SECRET_KEY: captchas cannot be checked');
      return 'away';
    }
    if (FOREIGN_TOKEN.some((code) => codes.includes(code)))
      this.logger.warn(
        'a captcha belongs to another site key: if all do, CAPTCHA_SITE_KEY and CAPTCHA_SECRET_KEY do not match',
      );
    return 'wrong';
  }

  private unclear(outcome: Outcome, status: number): Outcome {
    this.logger.warn({ status }, 'the captcha provider did not return a verdict');
    return outcome;
  }
}
