import type { z } from 'zod';

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

/** Returns a receipt, if the word is of a message's end. */
export function receiptsOf(reference: string | undefined, word: string | undefined): Receipt[] {
  const outcome = Object.hasOwn(OUTCOMES, word ?? '') ? OUTCOMES[word ?? ''] : undefined;
  return reference && outcome ? [{ reference, outcome }] : [];
}

/** Returns a body of JSON, if it has the form. */
export function jsonOf<Result>(schema: z.ZodType<Result>, body: string): Result | undefined {
  try {
    return schema.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}
