import { createHash, randomBytes } from 'node:crypto';

export const NO_SUCH_TOKEN = 'verification_token: no such token, or it has expired or been used';

/** Returns 128 random bits. They cannot be guessed, so the stored hash needs neither salt nor key. */
export function newVerificationToken(): string {
  return randomBytes(16).toString('base64url');
}

export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
