import { randomBytes } from 'node:crypto';

export const NO_SUCH_TOKEN = 'verification_token: no such token, or it has expired or been used';

/** Returns 128 random bits. */
export function newVerificationToken(): string {
  return randomBytes(16).toString('base64url');
}
