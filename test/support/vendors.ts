import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Env } from './app';
import { rememberSecret } from './secrets';
import { startSmsEndpoint, type SmsEndpoint } from './stand-ins/sms-endpoint';
import { startTelegramStandIn, type TelegramStandIn } from './stand-ins/telegram';
import { startTwilioStandIn, type TwilioStandIn } from './stand-ins/twilio';
import type { RecordedRequest } from './stand-ins/vendor-server';
import { startWhatsAppStandIn, type WhatsAppStandIn } from './stand-ins/whatsapp';

/** Each way that leads to phones, and over which stand-in. */
export const WAYS = [
  'twilio sms',
  'twilio voice',
  'twilio-verify sms',
  'twilio-verify voice',
  'twilio-verify whatsapp',
  'whatsapp',
  'telegram',
  'http sms',
  'http voice',
] as const;

export type WayName = (typeof WAYS)[number];
type Vendor = 'twilio' | 'whatsapp' | 'telegram' | 'http';

/** Behaviour of a vendor: it takes the message, refuses the number, fails, does not answer, or breaks the connection. */
export type Fate = 'accept' | 'refuse' | 'fail' | 'hang' | 'reset';

/** A message that a vendor was given. */
export interface Asked {
  way: WayName;
  to: string;
  /** Our code, if the message has one. */
  code: string | undefined;
  at: number;
}

/** Stand-ins of all vendors, for a service with all senders. */
export class Vendors {
  private constructor(
    readonly twilio: TwilioStandIn,
    readonly whatsapp: WhatsAppStandIn,
    readonly telegram: TelegramStandIn,
    readonly http: SmsEndpoint,
    private readonly folder: string,
  ) {}

  static async start(): Promise<Vendors> {
    const [twilio, whatsapp, telegram, http] = await Promise.all([
      startTwilioStandIn(),
      startWhatsAppStandIn(),
      startTelegramStandIn(),
      startSmsEndpoint(),
    ]);
    return new Vendors(twilio, whatsapp, telegram, http, mkdtempSync(join(tmpdir(), 'accounts-vendors-')));
  }

  /** Returns the settings of all senders, with these routes. */
  env(routes: object): Env {
    const file = join(this.folder, 'routes.json');
    writeFileSync(file, JSON.stringify({ routes }));
    return {
      SMS_ROUTES: file,
      TWILIO_ACCOUNT_SID: this.twilio.accountSid,
      TWILIO_AUTH_TOKEN: rememberSecret(this.twilio.authToken),
      TWILIO_FROM: '+15005550006',
      TWILIO_VERIFY_SERVICE_SID: this.twilio.verifyServiceSid,
      TWILIO_API_URL: this.twilio.url,
      WHATSAPP_TOKEN: this.whatsapp.token,
      WHATSAPP_PHONE_NUMBER_ID: this.whatsapp.phoneNumberId,
      WHATSAPP_TEMPLATE: this.whatsapp.template,
      WHATSAPP_API_URL: `${this.whatsapp.url}/v24.0`,
      TELEGRAM_GATEWAY_TOKEN: this.telegram.token,
      TELEGRAM_API_URL: this.telegram.url,
      SMS_HTTP_URL: this.http.url,
      SMS_HTTP_SECRET: this.http.secret,
    };
  }

  behave(vendor: Vendor, fate: Fate): void {
    const whole = fate === 'refuse' || fate === 'fail' ? undefined : fate;
    const isRefusal = fate === 'refuse';
    if (vendor === 'twilio') this.twilio.behave(whole ?? (isRefusal ? 'refuse' : { status: 400, code: 21408 }));
    if (vendor === 'whatsapp') this.whatsapp.behave(whole ?? { status: 400, code: isRefusal ? 131026 : 131047 });
    if (vendor === 'telegram')
      this.telegram.behave(whole ?? { error: isRefusal ? 'PHONE_NUMBER_NOT_FOUND' : 'BALANCE_NOT_ENOUGH' });
    if (vendor === 'http') this.http.behave(whole ?? { status: isRefusal ? 422 : 500 });
  }

  /** Returns the messages that vendors were given, in their order over all vendors. */
  asked(): Asked[] {
    const all = [
      ...this.twilio.requests.flatMap(ofTwilio),
      ...this.whatsapp.requests.map(({ body, at }): Asked => {
        const { to, template } = JSON.parse(body) as WhatsAppBody;
        return { way: 'whatsapp', to, code: template.components[0]?.parameters[0]?.text, at };
      }),
      ...this.telegram.requests.map(({ body, at }): Asked => {
        const { phone_number: to, code } = JSON.parse(body) as { phone_number: string; code: string };
        return { way: 'telegram', to, code, at };
      }),
      ...this.http.requests.map(({ body, at }): Asked => {
        const { to, code, channel } = JSON.parse(body) as { to: string; code: string; channel: 'sms' | 'voice' };
        return { way: `http ${channel}`, to, code, at };
      }),
    ];
    return all.sort((one, other) => one.at - other.at);
  }

  /** Returns the code that the owner of a number reads or hears in a message. */
  codeOf({ way, to, code }: Asked): string {
    return rememberSecret(way.startsWith('twilio-verify') ? this.twilio.verifyCodeFor(to) : (code ?? ''));
  }

  async close(): Promise<void> {
    await Promise.all([this.twilio, this.whatsapp, this.telegram, this.http].map((one) => one.close()));
    rmSync(this.folder, { recursive: true });
  }
}

interface WhatsAppBody {
  to: string;
  template: { components: { parameters: { text: string }[] }[] };
}

const CHANNELS: Record<string, WayName> = {
  sms: 'twilio-verify sms',
  call: 'twilio-verify voice',
  whatsapp: 'twilio-verify whatsapp',
};

function ofTwilio({ path, form, at }: RecordedRequest): Asked[] {
  const to = form.get('To') ?? '';
  const digits = (text: string | null) => /\d(?:(, )?\d){5}/.exec(text ?? '')?.[0].replaceAll(', ', '');
  if (path.endsWith('/Messages.json')) return [{ way: 'twilio sms', to, code: digits(form.get('Body')), at }];
  if (path.endsWith('/Calls.json')) return [{ way: 'twilio voice', to, code: digits(form.get('Twiml')), at }];
  const way = CHANNELS[form.get('Channel') ?? ''];
  return path.endsWith('/Verifications') && way ? [{ way, to, code: undefined, at }] : [];
}
