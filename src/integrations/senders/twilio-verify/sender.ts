import type { Twilio } from 'twilio';
import { Breaker } from '../../../load/breaker';
import type { Channel } from '../kinds';
import { nearestLanguage } from '../nearest-language';
import { SendingTimedOut, type Comparison, type Credit, type Message, type Sender, type Sent } from '../sender';
import { SPOKEN } from '../spoken-code';
import { creditOf, fieldsOf, openTwilio, sanitised, type TwilioAccount } from '../twilio-account';

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

/** Languages that Twilio also speaks. Verify refuses a call in another one (60331). */
const SPOKEN_LOCALES = LOCALES.filter((locale) => nearestLanguage(locale, SPOKEN) !== undefined);

/**
 * Codes for a `To` that Verify does not serve. Leaves out what the operator must see as failures: 60605 (country not
 * enabled), the limits 60203 and 60212, and 60200, which is any parameter, such as a channel that the service lacks.
 */
const REFUSED_NUMBERS = new Set([
  60205, // a landline, which takes no SMS
  60410, // its prefix is blocked by Fraud Guard for some hours
]);

/** Outcomes by the state of the verification after a check. The last check that was allowed has still compared. */
const OUTCOMES = new Map<string, Comparison>([
  ['approved', 'right'],
  ['pending', 'wrong'],
  ['max_attempts_reached', 'wrong'],
  ['canceled', 'over'],
  ['expired', 'over'],
  ['deleted', 'over'],
  ['failed', 'over'],
]);

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

  async send({ to, channel, language, appHash }: Message): Promise<Sent> {
    const locale = nearestLanguage(language, channel === 'voice' ? SPOKEN_LOCALES : LOCALES);
    const asked = {
      to,
      channel: CHANNELS[channel] ?? channel,
      ...(locale && { locale }),
      // Twilio refuses it for other channels.
      ...(channel === 'sms' && appHash && { appHash }),
    };
    const { sid } = await this.breaker.run(() =>
      this.service.verifications.create(asked).catch((error: unknown) => {
        throw sanitised(error, REFUSED_NUMBERS);
      }),
    );
    if (typeof sid !== 'string') throw new Error('Twilio gave an answer that is not a verification');
    return { reference: sid };
  }

  /** Throws if Twilio does not say what became of the code. */
  async check(to: string, code: string): Promise<Comparison> {
    if (!CODE.test(code)) return 'wrong';
    const status = await this.breaker.run(() => this.statusOf(to, code));
    const outcome = OUTCOMES.get(status);
    if (!outcome) throw new Error('Twilio gave an answer that is not a check');
    return outcome;
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
