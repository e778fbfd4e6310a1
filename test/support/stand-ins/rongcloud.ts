import { createHash } from 'node:crypto';
import { Gate } from '../gate';
import { startVendorServer, type RecordedRequest, type Reply, type Trouble, type VendorServer } from './vendor-server';

export interface RongCloudError {
  status: number;
  code: number;
}

export type RongCloudBehaviour = 'accept' | RongCloudError | Trouble;

export interface RongCloudStandIn extends VendorServer {
  appKey: string;
  appSecret: string;
  /** Sets its behaviour for all later requests. */
  behave(behaviour: RongCloudBehaviour): void;
  /** Holds the next request for this path before anything is done for it. */
  holdRequest(path: string): Gate;
  /** Holds the answer to the next request for this path, after it was done. */
  holdAnswer(path: string): Gate;
  /** The users whose tokens were ended. */
  expired: string[];
  /** Whether a client with this token could connect. */
  isValid(token: string): boolean;
  /** The latest profile of a user that it received. */
  profile(userId: string): { name: string; portraitUri: string } | undefined;
}

const APP_KEY = 'z3v5yqkbv8v30';
const APP_SECRET = 'Uv7pQe2sXw9Rk1';
const CLOCK_SKEW_MS = 60_000;
const PATHS = ['/user/getToken.json', '/user/refresh.json', '/user/token/expire.json'];

/**
 * Imitates the three calls of RongCloud's server API that the service makes: a token, a changed profile, the end of
 * tokens.
 */
export async function startRongCloudStandIn(): Promise<RongCloudStandIn> {
  let behaviour: RongCloudBehaviour = 'accept';
  let issued = 0;
  const expired: string[] = [];
  const tokens = new Map<string, { userId: string; issuedAt: number }>();
  const expiredBefore = new Map<string, number>();
  const requestsHeld = new Map<string, Gate>();
  const answersHeld = new Map<string, Gate>();
  const profiles = new Map<string, { name: string; portraitUri: string }>();

  const accepted = ({ path, form }: RecordedRequest): Reply => {
    const userId = form.get('userId') ?? '';
    if (path === '/user/token/expire.json') {
      expired.push(userId);
      expiredBefore.set(userId, Math.max(Number(form.get('time')), expiredBefore.get(userId) ?? 0));
      return { status: 200, json: { code: 200 } };
    }
    const name = form.get('name') ?? '';
    if (path === '/user/refresh.json' && !profiles.has(userId)) return error(400, 1002);
    profiles.set(userId, { name, portraitUri: form.get('portraitUri') ?? profiles.get(userId)?.portraitUri ?? '' });
    if (path === '/user/refresh.json') return { status: 200, json: { code: 200 } };
    issued += 1;
    const token = `token-${issued}-of-${userId}@stand-in`;
    tokens.set(token, { userId, issuedAt: Date.now() });
    return { status: 200, json: { code: 200, userId, token } };
  };

  const replyTo = (request: RecordedRequest): Reply => {
    const refused = refusal(request);
    if (refused !== undefined) return refused;
    if (behaviour === 'accept') return accepted(request);
    if (typeof behaviour === 'string') return { trouble: behaviour };
    return error(behaviour.status, behaviour.code);
  };

  const server = await startVendorServer(200, async (request) => {
    await waitAtGate(requestsHeld, request.path);
    const reply = replyTo(request);
    await waitAtGate(answersHeld, request.path);
    return reply;
  });
  return {
    ...server,
    appKey: APP_KEY,
    appSecret: APP_SECRET,
    behave(next) {
      behaviour = next;
    },
    profile: (userId) => profiles.get(userId),
    holdRequest: (path) => addGate(requestsHeld, path),
    holdAnswer: (path) => addGate(answersHeld, path),
    expired,
    isValid(token) {
      const known = tokens.get(token);
      return known !== undefined && known.issuedAt >= (expiredBefore.get(known.userId) ?? 0);
    },
  };
}

function addGate(gates: Map<string, Gate>, path: string): Gate {
  const gate = new Gate();
  gates.set(path, gate);
  return gate;
}

/** Makes one request wait. Later requests pass. */
async function waitAtGate(gates: Map<string, Gate>, path: string): Promise<void> {
  const gate = gates.get(path);
  gates.delete(path);
  await gate?.wait();
}

function refusal({ method, path, headers, form }: RecordedRequest): Reply | undefined {
  if (method !== 'POST' || !PATHS.includes(path)) return error(404, 404);
  if (!isSigned(headers)) return error(401, 1004);
  if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return error(400, 1002);
  if (!/^[A-Za-z0-9+=_-]{1,64}$/.test(form.get('userId') ?? '')) return error(400, 1002);
  if (path === '/user/token/expire.json') return /^\d{13}$/.test(form.get('time') ?? '') ? undefined : error(400, 1002);
  if (!form.get('name')) return error(400, 1002);
  if (form.has('portraitUri') && !form.get('portraitUri')) return error(400, 1002);
  return undefined;
}

function isSigned(headers: RecordedRequest['headers']): boolean {
  const [nonce, timestamp] = [String(headers['nonce']), String(headers['timestamp'])];
  const expected = createHash('sha1')
    .update(APP_SECRET + nonce + timestamp)
    .digest('hex');
  return (
    headers['app-key'] === APP_KEY &&
    headers['signature'] === expected &&
    nonce.length <= 18 &&
    Math.abs(Number(timestamp) - Date.now()) < CLOCK_SKEW_MS
  );
}

function error(status: number, code: number): Reply {
  return { status, json: { code, errorMessage: `refused, secret ${APP_SECRET}`, url: '/user' } };
}
