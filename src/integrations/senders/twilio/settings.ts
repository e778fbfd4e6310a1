import { z } from 'zod';
import { httpUrl } from '../../../base/formats';
import { rows, vendor } from '../../../base/settings';

/** A number in E.164, a short code, or an alphanumeric sender, which has a letter. */
const SENDER = /^(\+[1-9]\d{6,14}|\d{3,8}|(?=.*[A-Za-z])[\w &+-]{1,11})$/;

// prettier-ignore
export const ACCOUNT = rows({
  TWILIO_ACCOUNT_SID: { kind: z.string().startsWith('AC', 'must be the Account SID, which begins with AC'),
    says: 'The account, also for `twilio-verify`: its SID, and its auth token.' },
  TWILIO_AUTH_TOKEN: {
    kind: z.string().regex(/^[A-Za-z0-9]{32,}$/, "must be the account's auth token, which has 32 letters and digits"),
    secret: true },
  TWILIO_API_URL: { kind: httpUrl, https: 'codes and the account are sent there',
    says: "Replaces Twilio's addresses, for tests." },
});

// prettier-ignore
const ROWS = rows({
  ...ACCOUNT,
  TWILIO_FROM: {
    kind: z.string().regex(SENDER, 'must be a number with + and its country code, a short code, or a name of up to 11 characters'),
    says: 'Number such as `+447400000000`, short code or name that messages come from. Set this or the next one.' },
  TWILIO_MESSAGING_SERVICE_SID: { kind: z.string().startsWith('MG', 'must begin with MG'),
    says: 'Messaging service that sends in its place: `MG…`' },
});

interface Shared {
  channels: string[];
  receiptsUrl: string | undefined;
}

export const TWILIO = vendor(ROWS, (env, need, { channels, receiptsUrl }: Shared, mistakes) => {
  const settings = {
    accountSid: need('TWILIO_ACCOUNT_SID'),
    authToken: need('TWILIO_AUTH_TOKEN'),
    apiUrl: env.TWILIO_API_URL,
    from: env.TWILIO_MESSAGING_SERVICE_SID
      ? env.TWILIO_FROM
      : need('TWILIO_FROM', (why) => `or TWILIO_MESSAGING_SERVICE_SID instead: ${why}`),
    messagingServiceSid: env.TWILIO_MESSAGING_SERVICE_SID,
    receiptsUrl,
  };
  if (channels.includes('voice') && !env.TWILIO_FROM?.startsWith('+'))
    mistakes.push('TWILIO_FROM: set it to a number: twilio voice calls from it, and a messaging service cannot call');
  return settings;
});
