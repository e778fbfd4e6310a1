import twilio, { type Twilio } from 'twilio';
import { Breaker } from '../../load/breaker';
import type { CallObserver } from '../calls';
import { NumberRefused, SendingTimedOut, type Credit, type Message, type Sender } from './sender';
import { TwilioHttpClient } from './twilio-http-client';

export interface TwilioOptions {
  accountSid: string;
  authToken: string;
  /** The sending number; one of `from` and `messagingServiceSid` is needed. */
  from?: string | undefined;
  messagingServiceSid?: string | undefined;
  /** Replaces Twilio's own address. */
  apiUrl?: string | undefined;
  timeoutMs?: number | undefined;
  observe?: CallObserver | undefined;
}

/**
 * Twilio's codes for a `To` that no setting of ours can reach. Leaves out 21408 (country not enabled) and 21608 (trial
 * account), which the operator must see as failures.
 */
const REFUSED_NUMBERS = new Set([
  21211, // not a valid number
  21214, // cannot be reached
  21217, // does not appear to be valid
  21265, // a short code
  21266, // the sending number itself
  21268, // a premium number
  21610, // the recipient answered STOP
  21612, // not reachable by SMS from the sender
  21614, // not a mobile number
  21635, // a landline
  30003, // unreachable handset
  30004, // blocked
  30005, // unknown or inactive
  30006, // a landline, or its carrier takes no SMS
]);

/** Depends on the SDK's HTTP client: its codes for a time-out. test/integrations/sms.test.ts makes one happen. */
const TIMED_OUT = new Set(['ERR_CANCELED', 'ECONNABORTED', 'ETIMEDOUT']);

const NOT_TAKEN = 'did not take the message';

/** Importing this module loads Twilio's SDK, which takes a moment: import it only where Twilio is used. */
export class TwilioSender implements Sender {
  private readonly client: Twilio;
  private readonly breaker = new Breaker('Twilio', (error) => error instanceof SendingTimedOut);
  private readonly sender: { messagingServiceSid: string } | { from: string };

  constructor(options: TwilioOptions) {
    const { accountSid, authToken, from, messagingServiceSid, apiUrl, timeoutMs = 10_000, observe } = options;
    if (messagingServiceSid) this.sender = { messagingServiceSid };
    else if (from) this.sender = { from };
    else throw new Error('Twilio needs a number or a messaging service to send from');
    const httpClient = new TwilioHttpClient(timeoutMs, apiUrl, observe);
    this.client = twilio(accountSid, authToken, { httpClient, autoRetry: false });
  }

  async send({ to, body }: Message): Promise<void> {
    const message = await this.breaker.run(() => this.create(to, body));
    // The SDK turns JSON that is not Twilio's into an empty message instead of an error.
    if (typeof message.sid !== 'string') throw new Error('Twilio gave an answer that is not a message');
    if (message.status === 'failed' || message.status === 'undelivered') throw failure(undefined, message.errorCode);
  }

  async credit(): Promise<Credit> {
    const { balance, currency } = await this.client.balance.fetch().catch((error: unknown) => {
      // Like that of a message, the SDK's error contains the credentials.
      throw sanitised(error, 'did not tell its balance');
    });
    if (typeof balance !== 'string' || !/^-?[\d.]+$/.test(balance))
      throw new Error('Twilio gave an answer that is not a balance');
    return { amount: Number(balance), currency };
  }

  private async create(to: string, body: string) {
    try {
      return await this.client.messages.create({ ...this.sender, to, body });
    } catch (error) {
      // The SDK's error is not even a cause: it contains the number, the text and the credentials.
      throw sanitised(error);
    }
  }
}

function sanitised(error: unknown, what = NOT_TAKEN): Error {
  const { status, code } = fields(error);
  if (typeof code === 'string' && TIMED_OUT.has(code)) return new SendingTimedOut('Twilio gave no answer in time');
  return failure(status, code, what);
}

function failure(status: unknown, code: unknown, what = NOT_TAKEN): Error {
  if (typeof code === 'number' && REFUSED_NUMBERS.has(code)) {
    return new NumberRefused(`Twilio refused the number (code ${code})`, code);
  }
  const known = [
    typeof status === 'number' ? `HTTP status ${status}` : '',
    // A number is Twilio's code; a word such as ECONNREFUSED is the system's. Anything else might be free text.
    typeof code === 'number' || (typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code)) ? `code ${code}` : '',
  ].filter(Boolean);
  return new Error(`Twilio ${what} (${known.join(', ') || 'no detail'})`);
}

function fields(error: unknown): { status?: unknown; code?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}
