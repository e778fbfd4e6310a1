import { Buffer } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The session id of a Cookie header, or undefined when nobody who knows the secret has signed it. */
export function sessionId(header, name, secret) {
  const found = header?.split('; ').find((part) => part.startsWith(`${name}=s%3A`));
  if (found === undefined) return undefined;
  const [value, given = ''] = decodeURIComponent(found.slice(name.length + 5)).split('.');
  const right = Buffer.from(signatureOf(value, secret));
  const tried = Buffer.from(given);
  return tried.length === right.length && timingSafeEqual(tried, right) ? value : undefined;
}

/** As cookie-signature signs, for express-session. */
export function signatureOf(value, secret) {
  return createHmac('sha256', secret).update(value).digest('base64').replace(/=+$/, '');
}
