import { validateRequest } from 'twilio/lib/webhooks/webhooks';
import { receiptsOf, type ReceiptReader } from '../receipts';
import type { TwilioOptions } from './sender';

/** Twilio sends some twenty short fields. Its check sorts them several times. */
const MAX_BYTES = 8 * 1_024;
const MAX_FIELDS = 100;

export function receiptsOfTwilio({ authToken, receiptsUrl }: TwilioOptions): ReceiptReader | undefined {
  if (receiptsUrl === undefined) return undefined;
  return {
    maxBytes: MAX_BYTES,
    mayBeSigned: (header) => /^[A-Za-z0-9+/]{27}=$/.test(header('X-Twilio-Signature')),
    read: ({ header, body }) => {
      if (body.split('&').length > MAX_FIELDS) return undefined;
      const form = Object.fromEntries(new URLSearchParams(body));
      if (!validateRequest(authToken, header('X-Twilio-Signature'), receiptsUrl, form)) return undefined;
      return receiptsOf(form.MessageSid ?? form.CallSid, form.MessageStatus ?? form.CallStatus);
    },
  };
}
