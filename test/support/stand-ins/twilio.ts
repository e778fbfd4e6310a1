import { startVendorServer, type RecordedRequest, type Reply, type Trouble, type VendorServer } from './vendor-server';

export interface TwilioError {
  status: number;
  code: number;
}

/** `accept`, an error in Twilio's form, a message that is created and failed at once, or a broken connection. */
export type TwilioBehaviour = 'accept' | TwilioError | { failedWith: number } | Trouble;

export interface TwilioStandIn extends VendorServer {
  accountSid: string;
  authToken: string;
  /** Sets its behaviour for all later requests. */
  behave(behaviour: TwilioBehaviour): void;
  /** Sets what is left of the account's credit. */
  leave(balance: string): void;
}

const ACCOUNT_SID = 'AC0123456789abcdef0123456789abcdef';
const AUTH_TOKEN = 'fedcba9876543210fedcba9876543210';
const ACCOUNT = `/2010-04-01/Accounts/${ACCOUNT_SID}`;
const MESSAGES = `${ACCOUNT}/Messages.json`;
const BALANCE = `${ACCOUNT}/Balance.json`;
export const TWILIO_ACCOUNT = { sid: ACCOUNT_SID, token: AUTH_TOKEN };

/** Imitates the calls of Twilio's API that the service makes: a new message, and the account's balance. */
export async function startTwilioStandIn(): Promise<TwilioStandIn> {
  let behaviour: TwilioBehaviour = 'accept';
  let balance = '12.345';
  const server = await startVendorServer(201, (request) => {
    const { method, path, form } = request;
    const isBalance = method === 'GET' && path === BALANCE;
    const success = isBalance ? { account_sid: ACCOUNT_SID, balance, currency: 'USD' } : message(form, 'queued', null);
    return refusal(request, isBalance) ?? replyFor(behaviour, form, { status: isBalance ? 200 : 201, json: success });
  });
  return {
    ...server,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    behave(next) {
      behaviour = next;
    },
    leave(amount) {
      balance = amount;
    },
  };
}

function refusal({ method, path, headers, form }: RecordedRequest, isBalance: boolean): Reply | undefined {
  const expected = `Basic ${Buffer.from(`${ACCOUNT_SID}:${AUTH_TOKEN}`).toString('base64')}`;
  if (!isBalance && (method !== 'POST' || path !== MESSAGES)) return error(404, 20404, form);
  if (headers.authorization !== expected) return error(401, 20003, form);
  if (isBalance) return undefined;
  if (headers['content-type'] !== 'application/x-www-form-urlencoded') return error(400, 20001, form);
  if (!form.get('To')) return error(400, 21604, form);
  if (!form.get('From') && !form.get('MessagingServiceSid')) return error(400, 21603, form);
  if (!form.get('Body')) return error(400, 21602, form);
  return undefined;
}

function replyFor(behaviour: TwilioBehaviour, form: URLSearchParams, success: Reply): Reply {
  if (behaviour === 'accept') return success;
  if (typeof behaviour === 'string') return { trouble: behaviour };
  if ('failedWith' in behaviour) return { status: 201, json: message(form, 'failed', behaviour.failedWith) };
  return error(behaviour.status, behaviour.code, form);
}

/** Returns an error whose message repeats what was sent, as Twilio's does. */
function error(status: number, code: number, form: URLSearchParams): Reply {
  const json = {
    code,
    message: `The 'To' number ${form.get('To')} cannot take '${form.get('Body')}' (account ${ACCOUNT_SID})`,
    more_info: `https://www.twilio.com/docs/errors/${code}`,
    status,
  };
  return { status, json };
}

function message(form: URLSearchParams, status: string, errorCode: number | null) {
  const now = new Date().toUTCString();
  return {
    sid: 'SM0123456789abcdef0123456789abcdef',
    account_sid: ACCOUNT_SID,
    api_version: '2010-04-01',
    body: form.get('Body'),
    to: form.get('To'),
    from: form.get('From'),
    messaging_service_sid: form.get('MessagingServiceSid'),
    status,
    error_code: errorCode,
    error_message: null,
    num_segments: '1',
    num_media: '0',
    direction: 'outbound-api',
    price: null,
    price_unit: 'USD',
    date_created: now,
    date_updated: now,
    date_sent: null,
    uri: `/2010-04-01/Accounts/${ACCOUNT_SID}/Messages/SM0123456789abcdef0123456789abcdef.json`,
    subresource_uris: {},
  };
}
