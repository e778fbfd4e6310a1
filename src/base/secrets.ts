import { createHash, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Derives a key for one purpose: what it signs or encrypts is worthless for any other. */
export function derivedKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}

/** Returns the stored hash of a random token. Tokens cannot be guessed, so it needs neither salt nor key. */
export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Compares in constant time, so that the time does not tell how much of a signature is right. */
export function isSameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
