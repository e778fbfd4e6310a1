import { createHmac } from 'node:crypto';
import { isSameText } from '../base/secrets';

export interface SignedMessage {
  /** Stays the same when it is sent again. */
  id: string;
  body: string;
  /** When it is sent, in milliseconds since 1970. */
  at: number;
}

/** A new secret, in the form of Standard Webhooks, is this and 32 random bytes in base64. */
export const SECRET_PREFIX = 'whsec_';

/** Time for which a signature is good, before and after its timestamp. */
const TOLERANCE_SECONDS = 300;

/** Whether a signed timestamp, in seconds since 1970, is not old: an old one may be replayed. */
export function isRecent(seconds: string, now = Date.now() / 1_000): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(now - Number(seconds)) <= TOLERANCE_SECONDS;
}

/** Returns the headers of a message by Standard Webhooks 1.0, with a signature by each secret. */
export function signedHeaders(secrets: string[], { id, body, at }: SignedMessage): Record<string, string> {
  const seconds = String(Math.floor(at / 1_000));
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': secrets.map((secret) => signature(secret, `${id}.${seconds}.${body}`)).join(' '),
  };
}

/** Maximum signatures of a message. Each is compared with those of all secrets. */
const MOST_SIGNATURES = 5;

/** Whether a header has the form of signatures. */
export function hasSignature(header: (name: string) => string): boolean {
  const given = header('webhook-signature').split(' ', MOST_SIGNATURES + 1);
  return given.length <= MOST_SIGNATURES && given.some((one) => /^v1,[A-Za-z0-9+/]{43}=$/.test(one));
}

/** Whether one of the secrets has signed the body, and not long ago. */
export function isSigned(
  secrets: string[],
  header: (name: string) => string,
  body: string,
  now = Date.now() / 1_000,
): boolean {
  const [id, seconds, given] = [header('webhook-id'), header('webhook-timestamp'), header('webhook-signature')];
  if (!isRecent(seconds, now)) return false;
  const expected = secrets.map((secret) => signature(secret, `${id}.${seconds}.${body}`));
  return given.split(' ').some((one) => expected.some((right) => isSameText(one, right)));
}

function signature(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
