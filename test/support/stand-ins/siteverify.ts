import { randomBytes } from 'node:crypto';
import { Gate } from '../gate';
import { rememberSecret } from '../secrets';
import { startVendorServer, type RecordedRequest, type Reply, type Trouble, type VendorServer } from './vendor-server';

/** `accept`, the same error codes for every token, another status with a page, or a broken connection. */
export type SiteverifyBehaviour = 'accept' | { errorCodes: string[] } | { status: number } | Trouble;

export interface SiteverifyStandIn extends VendorServer {
  siteKey: string;
  secretKey: string;
  verifyUrl: string;
  /** Returns a token as the widget gives it for a solved captcha. */
  token(): string;
  /** Sets its behaviour for all later requests. */
  behave(behaviour: SiteverifyBehaviour): void;
  /** Sets its behaviour for this token only. */
  behaveAt(token: string, behaviour: SiteverifyBehaviour): void;
  /** Holds the answer for this token until the gate is opened. */
  holdAt(token: string): Gate;
}

const SITE_KEY = '0x4AAAAAAABkMYinukE8nzYS';
const SECRET_KEY = '0x4AAAAAAABkMYinukE8nzYSVl8IUoXlT4B';

/** Imitates the siteverify of Cloudflare Turnstile. hCaptcha's has another code for a token that is used again. */
export async function startSiteverifyStandIn(): Promise<SiteverifyStandIn> {
  let behaviour: SiteverifyBehaviour = 'accept';
  const at = new Map<string, SiteverifyBehaviour>();
  const gates = new Map<string, Gate>();
  const open = new Set<string>();
  const spent = new Set<string>();

  const verdict = (token: string): Reply => {
    if (spent.has(token)) return failure('timeout-or-duplicate');
    if (!open.delete(token)) return failure('invalid-input-response');
    spent.add(token);
    const json = { success: true, 'error-codes': [], challenge_ts: new Date().toISOString(), hostname: 'a.example' };
    return { status: 200, json };
  };

  const server = await startVendorServer(200, async (request) => {
    const token = request.form.get('response') ?? '';
    await gates.get(token)?.wait();
    const own = at.get(token) ?? behaviour;
    if (typeof own === 'string' && own !== 'accept') return { trouble: own };
    if (typeof own === 'object')
      return 'status' in own ? { status: own.status, json: 'no' } : failure(...own.errorCodes);
    return refusal(request) ?? verdict(token);
  });
  return {
    ...server,
    siteKey: SITE_KEY,
    secretKey: rememberSecret(SECRET_KEY),
    verifyUrl: `${server.url}/turnstile/v0/siteverify`,
    token() {
      const token = rememberSecret(`0.${randomBytes(600).toString('base64url')}`);
      open.add(token);
      return token;
    },
    behave(next) {
      behaviour = next;
    },
    behaveAt(token, its) {
      at.set(token, its);
    },
    holdAt(token) {
      const gate = new Gate();
      gates.set(token, gate);
      return gate;
    },
  };
}

function refusal({ method, path, headers, form }: RecordedRequest): Reply | undefined {
  if (method !== 'POST' || path !== '/turnstile/v0/siteverify') return { status: 404, json: {} };
  if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return failure('bad-request');
  if (!form.get('secret')) return failure('missing-input-secret');
  if (form.get('secret') !== SECRET_KEY) return failure('invalid-input-secret');
  return form.get('response') ? undefined : failure('missing-input-response');
}

function failure(...codes: string[]): Reply {
  return { status: 200, json: { success: false, 'error-codes': codes, messages: [`refused, secret ${SECRET_KEY}`] } };
}
