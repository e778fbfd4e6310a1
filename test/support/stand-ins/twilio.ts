import { randomInt } from 'node:crypto';
import { startVendorServer, type RecordedRequest, type Reply, type Trouble, type VendorServer } from './vendor-server';

export interface TwilioError {
  status: number;
  code: number;
}

/** `compare`, a state whatever the code is, an error in Twilio's form, or a broken connection. */
export type TwilioCheckBehaviour = 'compare' | { state: string } | TwilioError | Trouble;

/** `accept`, `refuse` (the number), an error in Twilio's form, a message that is created and failed at once, or a broken connection. */
export type TwilioBehaviour = 'accept' | 'refuse' | TwilioError | { failedWith: number } | Trouble;

export interface TwilioStandIn extends VendorServer {
  accountSid: string;
  authToken: string;
  verifyServiceSid: string;
  /** Sets its behaviour for all later requests but checks. */
  behave(behaviour: TwilioBehaviour): void;
  behaveAtChecks(behaviour: TwilioCheckBehaviour): void;
  /** Returns the code that Verify has sent to a number and that still waits for a check. */
  verifyCodeFor(to: string): string;
  /** Lets Verify forget a verification, as it does after ten minutes. */
  forget(to: string): void;
  /** Sets what is left of the account's credit. */
  leave(balance: string): void;
}

const ACCOUNT_SID = 'AC0123456789abcdef0123456789abcdef';
const AUTH_TOKEN = 'fedcba9876543210fedcba9876543210';
const ACCOUNT = `/2010-04-01/Accounts/${ACCOUNT_SID}`;
const MESSAGES = `${ACCOUNT}/Messages.json`;
const CALLS = `${ACCOUNT}/Calls.json`;
const BALANCE = `${ACCOUNT}/Balance.json`;
const VERIFY_SERVICE_SID = 'VA0123456789abcdef0123456789abcdef';
const VERIFICATIONS = `/v2/Services/${VERIFY_SERVICE_SID}/Verifications`;
const CHECKS = `/v2/Services/${VERIFY_SERVICE_SID}/VerificationCheck`;
/** Some locales that Verify writes and does not speak. */
const UNSPOKEN_LOCALES = ['et', 'hr', 'lt'];
/** Maximum messages of one verification, and maximum checks. */
const MOST_OF_VERIFY = 5;
export const TWILIO_ACCOUNT = { sid: ACCOUNT_SID, token: AUTH_TOKEN };

/** A verification that waits for its code. */
interface Pending {
  code: string;
  sent: number;
  checked: number;
}

/** Imitates the calls of Twilio's API that the service makes: messages, calls, Verify, and the account's balance. */
export async function startTwilioStandIn(): Promise<TwilioStandIn> {
  let behaviour: TwilioBehaviour = 'accept';
  let checks: TwilioCheckBehaviour = 'compare';
  let balance = '12.345';
  let count = 0;
  const pending = new Map<string, Pending>();
  const verify = {
    start: (form: URLSearchParams): Reply => {
      const to = form.get('To') ?? '';
      const started = pending.get(to) ?? { code: newCode(), sent: 0, checked: 0 };
      if (started.sent >= MOST_OF_VERIFY) return error(429, 60203, form);
      pending.set(to, { ...started, sent: started.sent + 1 });
      return { status: 201, json: verification(form, 'pending') };
    },
    check: (form: URLSearchParams): Reply => {
      const to = form.get('To') ?? '';
      if (typeof checks === 'object' && 'state' in checks)
        return { status: 201, json: verification(form, checks.state) };
      if (typeof checks === 'object') return error(checks.status, checks.code, form);
      if (checks !== 'compare') return { trouble: checks };
      const started = pending.get(to);
      if (!started) return error(404, 20404, form);
      if (started.checked >= MOST_OF_VERIFY) return error(429, 60202, form);
      started.checked += 1;
      const isRight = form.get('Code') === started.code;
      if (isRight) pending.delete(to);
      return { status: 201, json: verification(form, isRight ? 'approved' : 'pending') };
    },
  };
  const server = await startVendorServer(201, (request) => {
    const { path, form } = request;
    const refused = refusal(request);
    if (refused) return refused;
    if (path === CHECKS) return verify.check(form);
    if (behaviour === 'accept' && path === VERIFICATIONS) return verify.start(form);
    if (behaviour === 'refuse') return error(400, path === VERIFICATIONS ? 60205 : 21211, form);
    count += 1;
    return replyFor(behaviour, form, successOf(path, form, count));
  });

  function successOf(path: string, form: URLSearchParams, number: number): Reply {
    if (path === BALANCE) return { status: 200, json: { account_sid: ACCOUNT_SID, balance, currency: 'USD' } };
    return { status: 201, json: path === CALLS ? call(form, number) : message(form, 'queued', null, number) };
  }

  return {
    ...server,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    verifyServiceSid: VERIFY_SERVICE_SID,
    behave(next) {
      behaviour = next;
    },
    behaveAtChecks(next) {
      checks = next;
    },
    verifyCodeFor(to) {
      const code = pending.get(to)?.code;
      if (code === undefined) throw new Error(`Verify waits for no code of ${to}`);
      return code;
    },
    forget(to) {
      pending.delete(to);
    },
    leave(amount) {
      balance = amount;
    },
  };
}

function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0');
}

/** Mistakes in a request, in the order in which Twilio looks for them. */
function refusal({ method, path, headers, form }: RecordedRequest): Reply | undefined {
  const expected = `Basic ${Buffer.from(`${ACCOUNT_SID}:${AUTH_TOKEN}`).toString('base64')}`;
  const isKnown = method === 'GET' ? path === BALANCE : path in MISTAKES;
  if (!isKnown) return error(404, 20404, form);
  if (headers.authorization !== expected) return error(401, 20003, form);
  if (method === 'GET') return undefined;
  if (headers['content-type'] !== 'application/x-www-form-urlencoded') return error(400, 20001, form);
  const mistake = MISTAKES[path]?.(form);
  return mistake === undefined ? undefined : error(400, mistake, form);
}

const MISTAKES: Record<string, (form: URLSearchParams) => number | undefined> = {
  [MESSAGES]: inMessage,
  [CALLS]: inCall,
  [VERIFICATIONS]: inVerification,
  [CHECKS]: inCheck,
};

function inMessage(form: URLSearchParams): number | undefined {
  if (!form.get('To')) return 21604;
  if (!form.get('From') && !form.get('MessagingServiceSid')) return 21603;
  return form.get('Body') ? undefined : 21602;
}

function inCall(form: URLSearchParams): number | undefined {
  if (!form.get('To')) return 21201;
  if (!/^\+\d+$/.test(form.get('From') ?? '')) return 21212;
  return form.get('Twiml') ? undefined : 21205;
}

function inVerification(form: URLSearchParams): number | undefined {
  const isRight =
    /^\+\d{7,15}$/.test(form.get('To') ?? '') && ['sms', 'call', 'whatsapp'].includes(form.get('Channel') ?? '');
  if (!isRight) return 60200;
  if (form.has('AppHash') && form.get('Channel') !== 'sms') return 60602;
  const isSpoken = !UNSPOKEN_LOCALES.includes(form.get('Locale') ?? '');
  return isSpoken || form.get('Channel') !== 'call' ? undefined : 60331;
}

function inCheck(form: URLSearchParams): number | undefined {
  return /^\d{4,10}$/.test(form.get('Code') ?? '') && form.get('To') ? undefined : 60200;
}

function replyFor(behaviour: Exclude<TwilioBehaviour, 'refuse'>, form: URLSearchParams, success: Reply): Reply {
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

function sid(kind: string, number: number): string {
  return kind + number.toString(16).padStart(32, '0');
}

function verification(form: URLSearchParams, status: string) {
  const now = new Date().toISOString();
  return {
    sid: 'VE0123456789abcdef0123456789abcdef',
    service_sid: VERIFY_SERVICE_SID,
    account_sid: ACCOUNT_SID,
    to: form.get('To'),
    channel: form.get('Channel') ?? 'sms',
    status,
    valid: status === 'approved',
    date_created: now,
    date_updated: now,
  };
}

function call(form: URLSearchParams, number: number) {
  return {
    sid: sid('CA', number),
    account_sid: ACCOUNT_SID,
    to: form.get('To'),
    from: form.get('From'),
    status: 'queued',
    direction: 'outbound-api',
    price: null,
    price_unit: 'USD',
    start_time: null,
    end_time: null,
    uri: `${ACCOUNT}/Calls/${sid('CA', number)}.json`,
    subresource_uris: {},
  };
}

function message(form: URLSearchParams, status: string, errorCode: number | null, number = 1) {
  const now = new Date().toUTCString();
  return {
    sid: sid('SM', number),
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
    uri: `/2010-04-01/Accounts/${ACCOUNT_SID}/Messages/${sid('SM', number)}.json`,
    subresource_uris: {},
  };
}
