import { z } from 'zod';
import { rows, vendor } from '../../../base/settings';
import { ACCOUNT } from '../twilio/settings';

// prettier-ignore
const ROWS = rows({
  ...ACCOUNT,
  TWILIO_VERIFY_SERVICE_SID: { kind: z.string().startsWith('VA', 'must begin with VA'),
    says: 'The Verify service: `VA…`' },
});

export const TWILIO_VERIFY = vendor(ROWS, (env, need) => ({
  accountSid: need('TWILIO_ACCOUNT_SID'),
  authToken: need('TWILIO_AUTH_TOKEN'),
  apiUrl: env.TWILIO_API_URL,
  serviceSid: need('TWILIO_VERIFY_SERVICE_SID'),
}));
