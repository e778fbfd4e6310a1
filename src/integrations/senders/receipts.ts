import { createHash, createHmac } from 'node:crypto';
import { validateRequest } from 'twilio/lib/webhooks/webhooks';
import { z } from 'zod';
import { isSameText } from '../../base/secrets';
import { hasSignature, isRecent, isSigned } from '../standard-webhooks';
import type { SenderSettings } from './choose-senders';
import type { SenderName } from './kinds';

/** End of a message, as its provider tells it. */
export interface Receipt {
  reference: string;
  outcome: 'delivered' | 'failed';
}

/** A provider's request, as it came. */
export interface ReceiptCall {
  /** Returns a header, or an empty text. */
  header: (name: string) => string;
  body: string;
}

export interface ReceiptReader {
  /** Maximum bytes of a body. Default: 64 KiB. */
  maxBytes?: number;
  /** Whether the headers have the form of a signature. If not, the body is not read. */
  mayBeSigned(header: ReceiptCall['header']): boolean;
  /** Returns undefined if the provider has not signed the request, or signed it long ago. */
  read(call: ReceiptCall): Receipt[] | undefined;
  /** Answers a provider who asks, before the first receipt, whether the address is ours. */
  greet?: (query: Record<string, unknown>) => string | undefined;
}

type Makers = { [Name in SenderName]?: (settings: NonNullable<SenderSettings[Name]>) => ReceiptReader | undefined };

/** The words of providers for what became of a message. Other words are of messages under way. */
const OUTCOMES: Record<string, Receipt['outcome']> = {
  delivered: 'delivered',
  read: 'delivered',
  // A call that was answered and has ended.
  completed: 'delivered',
  failed: 'failed',
  undelivered: 'failed',
  busy: 'failed',
  'no-answer': 'failed',
  canceled: 'failed',
  expired: 'failed',
  revoked: 'failed',
};

const ofWhatsApp = z.object({
  entry: z.array(
    z.object({
      changes: z.array(
        z.object({
          value: z.object({ statuses: z.array(z.object({ id: z.string(), status: z.string() })).optional() }),
        }),
      ),
    }),
  ),
});
const ofTelegram = z.object({ request_id: z.string(), delivery_status: z.object({ status: z.string() }) });
const ofEndpoint = z.object({ reference: z.string(), status: z.string() });

/** Twilio sends some twenty short fields. Its check sorts them several times. */
const TWILIO_MAX_BYTES = 8 * 1_024;
const TWILIO_MAX_FIELDS = 100;

const MAKERS: Makers = {
  twilio: ({ authToken, receiptsUrl }) =>
    receiptsUrl === undefined
      ? undefined
      : {
          maxBytes: TWILIO_MAX_BYTES,
          mayBeSigned: (header) => /^[A-Za-z0-9+/]{27}=$/.test(header('X-Twilio-Signature')),
          read: ({ header, body }) => {
            if (body.split('&').length > TWILIO_MAX_FIELDS) return undefined;
            const form = Object.fromEntries(new URLSearchParams(body));
            if (!validateRequest(authToken, header('X-Twilio-Signature'), receiptsUrl, form)) return undefined;
            return receiptsOf(form.MessageSid ?? form.CallSid, form.MessageStatus ?? form.CallStatus);
          },
        },
  whatsapp: ({ appSecret, verifyToken }) =>
    appSecret === undefined
      ? undefined
      : {
          mayBeSigned: (header) => /^sha256=[0-9a-f]{64}$/.test(header('X-Hub-Signature-256')),
          read: ({ header, body }) => {
            const right = `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`;
            if (!isSameText(header('X-Hub-Signature-256'), right)) return undefined;
            const changes = jsonOf(ofWhatsApp, body)?.entry.flatMap((entry) => entry.changes) ?? [];
            const statuses = changes.flatMap(({ value }) => value.statuses ?? []);
            return statuses.flatMap(({ id, status }) => receiptsOf(id, status));
          },
          greet: ({ 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge }) => {
            const isRight = typeof token === 'string' && isSameText(token, verifyToken ?? '');
            return mode === 'subscribe' && isRight && typeof challenge === 'string' ? challenge : undefined;
          },
        },
  telegram: ({ token }) => ({
    mayBeSigned: (header) => /^[0-9a-f]{64}$/.test(header('X-Request-Signature')),
    read: ({ header, body }) => {
      const seconds = header('X-Request-Timestamp');
      if (!isRecent(seconds)) return undefined;
      const key = createHash('sha256').update(token).digest();
      const right = createHmac('sha256', key).update(`${seconds}\n${body}`).digest('hex');
      if (!isSameText(header('X-Request-Signature'), right)) return undefined;
      const told = jsonOf(ofTelegram, body);
      return receiptsOf(told?.request_id, told?.delivery_status.status);
    },
  }),
  http: ({ secrets }) => ({
    mayBeSigned: hasSignature,
    read: ({ header, body }) => {
      if (!isSigned(secrets, header, body)) return undefined;
      const told = jsonOf(ofEndpoint, body);
      return receiptsOf(told?.reference, told?.status);
    },
  }),
};

/** Returns the readers of receipts of the senders that are used, and that tell what became of messages. */
export function receiptReaders(settings: SenderSettings): Map<SenderName, ReceiptReader> {
  const readers = new Map<SenderName, ReceiptReader>();
  for (const name of Object.keys(settings) as SenderName[]) {
    const reader = readerOf(name, settings);
    if (reader) readers.set(name, reader);
  }
  return readers;
}

function readerOf<Name extends SenderName>(name: Name, settings: SenderSettings): ReceiptReader | undefined {
  const own = settings[name];
  return own && MAKERS[name]?.(own);
}

function receiptsOf(reference: string | undefined, word: string | undefined): Receipt[] {
  const outcome = Object.hasOwn(OUTCOMES, word ?? '') ? OUTCOMES[word ?? ''] : undefined;
  return reference && outcome ? [{ reference, outcome }] : [];
}

function jsonOf<Result>(schema: z.ZodType<Result>, body: string): Result | undefined {
  try {
    return schema.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}
