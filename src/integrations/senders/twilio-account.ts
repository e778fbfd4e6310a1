import twilio, { type Twilio } from 'twilio';
import type { CallObserver } from '../calls';
import { EXCHANGE_MS, NumberRefused, SendingTimedOut, type Credit } from './sender';
import { TwilioHttpClient } from './twilio-http-client';

export interface TwilioAccount {
  accountSid: string;
  authToken: string;
  /** Replaces Twilio's own addresses. */
  apiUrl?: string | undefined;
  timeoutMs?: number | undefined;
  observe?: CallObserver | undefined;
}

/** Depends on the SDK's HTTP client: its codes for a time-out. test/integrations/sms.test.ts makes one happen. */
const TIMED_OUT = new Set(['ERR_CANCELED', 'ECONNABORTED', 'ETIMEDOUT']);
/** Codes of a connection that broke after the request: Twilio may have taken it. */
const BROKEN = new Set(['ECONNRESET', 'EPIPE']);

const NOT_TAKEN = 'did not take the message';

/** Loads Twilio's SDK, which takes a moment. */
export function openTwilio({ accountSid, authToken, apiUrl, timeoutMs = EXCHANGE_MS, observe }: TwilioAccount): Twilio {
  const httpClient = new TwilioHttpClient(timeoutMs, apiUrl, observe);
  return twilio(accountSid, authToken, { httpClient, autoRetry: false });
}

export async function creditOf(client: Twilio): Promise<Credit> {
  const { balance, currency } = await client.balance.fetch().catch((error: unknown) => {
    throw sanitised(error, new Set(), 'did not tell its balance');
  });
  if (typeof balance !== 'string' || !/^-?[\d.]+$/.test(balance))
    throw new Error('Twilio gave an answer that is not a balance');
  return { amount: Number(balance), currency };
}

/** Replaces an error of the SDK, which is not even a cause: it contains the number, the text and the credentials. */
export function sanitised(error: unknown, refused: ReadonlySet<number>, what = NOT_TAKEN): Error {
  const { status, code } = fieldsOf(error);
  if (typeof code === 'string' && TIMED_OUT.has(code)) return new SendingTimedOut('Twilio gave no answer in time');
  if (typeof code === 'string' && BROKEN.has(code)) return new SendingTimedOut(`Twilio gave no answer (code ${code})`);
  return failure(status, code, refused, what);
}

export function failure(status: unknown, code: unknown, refused: ReadonlySet<number>, what = NOT_TAKEN): Error {
  if (typeof code === 'number' && refused.has(code)) {
    return new NumberRefused(`Twilio refused the number (code ${code})`, code);
  }
  const known = [
    typeof status === 'number' ? `HTTP status ${status}` : '',
    // A number is Twilio's code; a word such as ECONNREFUSED is the system's. Anything else might be free text.
    typeof code === 'number' || (typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code)) ? `code ${code}` : '',
  ].filter(Boolean);
  return new Error(`Twilio ${what} (${known.join(', ') || 'no detail'})`);
}

export function fieldsOf(error: unknown): { status?: unknown; code?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}
