import { z } from 'zod';
import { NumberRefused, type Message, type Sender, type Sent } from '../sender';
import { notTaken, VendorCall, type CallOptions } from '../vendor-call';

export interface TelegramOptions extends CallOptions {
  token: string;
  /** Time after which a code that was not delivered is not delivered any more. */
  ttlSeconds: number;
  apiUrl: string;
  /** Where Telegram tells what became of a message. */
  receiptsUrl?: string | undefined;
}

const PEER = 'Telegram';

/** Telegram's words for a number without an account that takes codes. */
const REFUSED_NUMBERS = new Set(['PHONE_NUMBER_INVALID', 'PHONE_NUMBER_NOT_FOUND', 'PHONE_NUMBER_NOT_AVAILABLE']);

/** Limits of Telegram for the time of a code. */
const [LEAST_TTL, MOST_TTL] = [30, 3_600];

const answer = z.union([
  z.object({ ok: z.literal(true), result: z.object({ request_id: z.string().min(1) }) }),
  z.object({ ok: z.literal(false), error: z.string() }),
]);

/**
 * Sends codes by the Telegram Gateway. It is not asked beforehand whether it can: the question costs what a message
 * costs, and a refusal costs nothing.
 */
export class TelegramSender implements Sender {
  private readonly call: VendorCall;

  constructor(private readonly options: TelegramOptions) {
    this.call = new VendorCall(PEER, options);
  }

  async send({ to, code }: Message): Promise<Sent> {
    if (code === undefined) throw new Error(`${PEER} takes codes only`);
    const { token, ttlSeconds, apiUrl, receiptsUrl } = this.options;
    const ttl = Math.min(MOST_TTL, Math.max(LEAST_TTL, ttlSeconds));
    const { status, body } = await this.call.post(
      `${apiUrl}/sendVerificationMessage`,
      JSON.stringify({ phone_number: to, code, ttl, callback_url: receiptsUrl }),
      { Authorization: `Bearer ${token}` },
    );
    const { data } = answer.safeParse(body);
    if (data?.ok && status === 200) return { reference: data.result.request_id };
    const error = data?.ok === false ? data.error : '';
    if (REFUSED_NUMBERS.has(error)) throw new NumberRefused(`${PEER} refused the number (code ${error})`, error);
    // A word of capitals is a code. Anything else might be free text.
    throw notTaken(PEER, status, /^[A-Z_\d]{1,40}$/.test(error) ? error : undefined);
  }
}
