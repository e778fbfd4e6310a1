import type { Twilio } from 'twilio';
import { Breaker } from '../../load/breaker';
import type { Channel } from './kinds';
import { nearestLanguage } from './nearest-language';
import { SendingTimedOut, type Credit, type Message, type Sender, type Sent } from './sender';
import { creditOf, fieldsOf, openTwilio, sanitised, type TwilioAccount } from './twilio-account';

export interface TwilioVerifyOptions extends TwilioAccount {
  serviceSid: string;
}

/** Our channels in Twilio's words. */
const CHANNELS: Partial<Record<Channel, string>> = { sms: 'sms', voice: 'call', whatsapp: 'whatsapp' };

/** Languages of Verify's messages. Without one, Twilio chooses by the country of the number. */
// prettier-ignore
const LOCALES = [
  'af', 'ar', 'ca', 'cs', 'da', 'de', 'el', 'en', 'en-GB', 'es', 'et', 'fi', 'fr', 'he', 'hi', 'hr', 'hu', 'id', 'it',
  'ja', 'kn', 'ko', 'lt', 'mr', 'ms', 'nb', 'nl', 'pl', 'pt', 'pt-BR', 'ro', 'ru', 'sk', 'sv', 'te', 'th', 'tl', 'tr',
  'uk', 'vi', 'zh-CN', 'zh-HK',
] as const;

/**
 * Codes for a `To` that Verify does not serve. Leaves out 60605 (country not enabled) and the limits 60203 and 60212,
 * which the operator must see as failures.
 */
const REFUSED_NUMBERS = new Set([
  60200, // not a valid number
  60205, // a landline, which takes no SMS
  60410, // its prefix is blocked by Fraud Guard for some hours
]);

/** States of a verification. */
const STATES = new Set(['pending', 'approved', 'canceled', 'expired', 'max_attempts_reached', 'deleted', 'failed']);

const NOT_FOUND = 20_404;
const TOO_MANY_CHECKS = 60_202;
/** Form of Twilio's codes. Other input is wrong, without asking Twilio. */
const CODE = /^\d{4,10}$/;

/** Lets Twilio Verify make codes, send them and compare them. Our own code is not sent, and is not valid. */
export class TwilioVerifySender implements Sender {
  private readonly client: Twilio;
  private readonly breaker = new Breaker('Twilio Verify', (error) => error instanceof SendingTimedOut);

  constructor(private readonly options: TwilioVerifyOptions) {
    this.client = openTwilio(options);
  }

  async send({ to, channel, language }: Message): Promise<Sent> {
    const locale = nearestLanguage(language, LOCALES);
    const asked = { to, channel: CHANNELS[channel] ?? channel, ...(locale && { locale }) };
    const { sid } = await this.breaker.run(() =>
      this.service.verifications.create(asked).catch((error: unknown) => {
        throw sanitised(error, REFUSED_NUMBERS);
      }),
    );
    if (typeof sid !== 'string') throw new Error('Twilio gave an answer that is not a verification');
    return { reference: sid };
  }

  /** Returns false for a code that is wrong, has expired, or was tried too often. Throws if Twilio has not compared it. */
  async check(to: string, code: string): Promise<boolean> {
    if (!CODE.test(code)) return false;
    const status = await this.breaker.run(() => this.statusOf(to, code));
    if (!STATES.has(status)) throw new Error('Twilio gave an answer that is not a check');
    return status === 'approved';
  }

  credit(): Promise<Credit> {
    return creditOf(this.client);
  }

  private async statusOf(to: string, code: string): Promise<string> {
    try {
      return (await this.service.verificationChecks.create({ to, code })).status;
    } catch (error) {
      const { code: why } = fieldsOf(error);
      if (why === NOT_FOUND || why === TOO_MANY_CHECKS) return 'expired';
      throw sanitised(error, new Set(), 'did not check the code');
    }
  }

  private get service() {
    return this.client.verify.v2.services(this.options.serviceSid);
  }
}
