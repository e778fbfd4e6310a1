import { join } from 'node:path';
import type { SenderSettings } from '../integrations/senders/choose-senders';
import { SENDERS, takesNotices, type SenderName, type Way } from '../integrations/senders/kinds';
import type { Need } from './providers';
import { routesOf, sendersIn } from './routes';
import { isProduction, type Environment } from './variables';

type Readers = {
  [Name in SenderName]: (env: Environment, need: Need, why: string) => NonNullable<SenderSettings[Name]>;
};

/** The settings of each sender. */
const READERS: Readers = {
  console: () => ({}),
  file: (env) => ({ path: env.SMS_FILE ?? join(env.DATA_DIR, 'sms.ndjson') }),
  twilio: twilioOf,
  'twilio-verify': (env, need, why) => ({
    ...accountOf(env, need, why),
    serviceSid: need('TWILIO_VERIFY_SERVICE_SID', why),
  }),
  whatsapp: (env, need, why) => ({
    token: need('WHATSAPP_TOKEN', why),
    phoneNumberId: need('WHATSAPP_PHONE_NUMBER_ID', why),
    template: need('WHATSAPP_TEMPLATE', why),
    languages: env.WHATSAPP_TEMPLATE_LANGUAGES,
    apiUrl: env.WHATSAPP_API_URL,
    ...((env.WHATSAPP_APP_SECRET ?? env.WHATSAPP_VERIFY_TOKEN) !== undefined && {
      appSecret: need('WHATSAPP_APP_SECRET', 'receipts of WhatsApp need it'),
      verifyToken: need('WHATSAPP_VERIFY_TOKEN', 'receipts of WhatsApp need it'),
    }),
  }),
  telegram: (env, need, why) => ({
    token: need('TELEGRAM_GATEWAY_TOKEN', why),
    ttlSeconds: env.CODE_TTL_SECONDS,
    receiptsUrl: receiptsUrl(env, 'telegram'),
    apiUrl: env.TELEGRAM_API_URL,
  }),
  http: (_env, need, why) => ({ url: need('SMS_HTTP_URL', why), secrets: need('SMS_HTTP_SECRET', why) }),
};

/** Returns the routes of messages, and the settings of the senders that they use. */
export function smsOf(env: Environment, need: Need, mistakes: string[]) {
  const provider = env.SMS_PROVIDER ?? 'console';
  const routes = routesOf(env.SMS_ROUTES, provider, mistakes);
  const used = sendersIn(routes);
  const senders: SenderSettings = Object.fromEntries(
    [...used].map((name) => {
      const by = name === provider ? 'SMS_PROVIDER' : 'SMS_ROUTES';
      return [name, READERS[name](env, need, `${by}=${name} needs it`)];
    }),
  );
  if (isProduction(env) && env.SMS_ROUTES !== undefined && [...used].some((name) => SENDERS[name].forDevelopment))
    mistakes.push(
      'SMS_ROUTES: must not lead to console or file, also not by SMS_PROVIDER: they show every code to their readers',
    );
  const calls = Object.values(routes.routes).some((route) => route.flat().some(isTwilioCall));
  if (calls && !env.TWILIO_FROM?.startsWith('+'))
    mistakes.push('TWILIO_FROM: set it to a number: twilio voice calls from it, and a messaging service cannot call');
  for (const [key, route] of Object.entries(routes.routes))
    if (env.NOTIFY === 'sms' && !route.flat().some(takesNotices))
      mistakes.push(`NOTIFY: the route of ${key} in SMS_ROUTES has no SMS for notices: add one, or set NOTIFY to off`);
  return { senders, routes, reachesPhones: [...used].some((name) => !SENDERS[name].forDevelopment) };
}

function isTwilioCall({ sender, channel }: Way): boolean {
  return sender === 'twilio' && channel === 'voice';
}

function twilioOf(env: Environment, need: Need, why: string) {
  const either = `or TWILIO_MESSAGING_SERVICE_SID instead: ${why}`;
  return {
    ...accountOf(env, need, why),
    from: env.TWILIO_MESSAGING_SERVICE_SID ? env.TWILIO_FROM : need('TWILIO_FROM', either),
    messagingServiceSid: env.TWILIO_MESSAGING_SERVICE_SID,
    receiptsUrl: receiptsUrl(env, 'twilio'),
  };
}

/** Providers call only addresses with https. */
function receiptsUrl({ PUBLIC_URL }: Environment, sender: SenderName): string | undefined {
  return PUBLIC_URL?.startsWith('https:') ? `${PUBLIC_URL}/receipts/${sender}` : undefined;
}

function accountOf(env: Environment, need: Need, why: string) {
  return {
    accountSid: need('TWILIO_ACCOUNT_SID', why),
    authToken: need('TWILIO_AUTH_TOKEN', why),
    apiUrl: env.TWILIO_API_URL,
  };
}
