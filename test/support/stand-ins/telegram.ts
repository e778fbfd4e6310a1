import { rememberSecret } from '../secrets';
import { startVendorServer, type RecordedRequest, type Reply, type Trouble, type VendorServer } from './vendor-server';

/** `accept`, an error in Telegram's form, another status with a page, or a broken connection. */
export type TelegramBehaviour = 'accept' | { error: string } | { status: number } | Trouble;

export interface TelegramStandIn extends VendorServer {
  token: string;
  /** Sets its behaviour for all later requests. */
  behave(behaviour: TelegramBehaviour): void;
}

const TOKEN = rememberSecret('AAFzcmV0LXRlbGVncmFtLWdhdGV3YXktdG9rZW4tMDEyMzQ1');

interface Sending {
  phone_number?: string;
  code?: string;
  ttl?: number;
}

/** Imitates sendVerificationMessage of the Telegram Gateway. Its refusals too have the status 200. */
export async function startTelegramStandIn(): Promise<TelegramStandIn> {
  let behaviour: TelegramBehaviour = 'accept';
  let count = 0;
  const server = await startVendorServer(200, (request): Reply => {
    const mistake = mistakeIn(request);
    if (mistake !== undefined) return refused(mistake);
    if (typeof behaviour === 'string' && behaviour !== 'accept') return { trouble: behaviour };
    if (typeof behaviour === 'object')
      return 'error' in behaviour ? refused(behaviour.error) : { status: behaviour.status, json: 'a page' };
    count += 1;
    const result = {
      request_id: `tg-${count}`,
      phone_number: (JSON.parse(request.body) as Sending).phone_number,
      request_cost: 0.01,
      remaining_balance: 4.2,
      delivery_status: { status: 'sent', updated_at: Math.floor(Date.now() / 1_000) },
    };
    return { status: 200, json: { ok: true, result } };
  });
  return {
    ...server,
    token: TOKEN,
    behave(next) {
      behaviour = next;
    },
  };
}

function mistakeIn({ method, path, headers, body }: RecordedRequest): string | undefined {
  if (method !== 'POST' || path !== '/sendVerificationMessage') return 'UNKNOWN_METHOD';
  if (headers.authorization !== `Bearer ${TOKEN}`) return 'ACCESS_TOKEN_INVALID';
  const { phone_number = '', code = '', ttl = 0 } = JSON.parse(body) as Sending;
  if (!/^\+\d{7,15}$/.test(phone_number)) return 'PHONE_NUMBER_INVALID';
  if (!/^\d{4,8}$/.test(code)) return 'CODE_INVALID';
  return Number.isInteger(ttl) && ttl >= 30 && ttl <= 3_600 ? undefined : 'TTL_INVALID';
}

function refused(error: string): Reply {
  return { status: 200, json: { ok: false, error } };
}
