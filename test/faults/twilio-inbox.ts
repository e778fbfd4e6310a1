import type { TwilioStandIn } from '../support/stand-ins/twilio';
import type { Setting } from './world';

/** Returns the setting of a world whose messages go to a stand-in of Twilio. */
export function throughTwilio({ url, accountSid, authToken, requests }: TwilioStandIn): Pick<Setting, 'env' | 'inbox'> {
  return {
    env: {
      SMS_PROVIDER: 'twilio',
      TWILIO_API_URL: url,
      TWILIO_ACCOUNT_SID: accountSid,
      TWILIO_AUTH_TOKEN: authToken,
      TWILIO_FROM: '+15005550006',
    },
    inbox: {
      codeFor: (phone) => {
        const message = requests.findLast(({ form }) => form.get('To') === phone);
        return /\d{6}/.exec(message?.form.get('Body') ?? '')?.[0];
      },
    },
  };
}
