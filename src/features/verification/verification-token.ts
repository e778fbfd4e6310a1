import { randomBytes } from 'node:crypto';
import { tokenHash } from '../../base/secrets';
import type { Queues } from '../../load/queues';

export const NO_SUCH_TOKEN = 'verification_token: no such token, or it has expired or been used';

/** Returns 128 random bits. */
export function newVerificationToken(): string {
  return randomBytes(16).toString('base64url');
}

/** Runs requests with the same token one at a time, so that a later one finds what the first one did. */
export function oneAtATime<T>(
  { verificationTokens }: Pick<Queues, 'verificationTokens'>,
  token: string,
  work: (hash: Buffer) => Promise<T>,
): Promise<T> {
  const hash = tokenHash(token);
  return verificationTokens.run(hash.toString('base64url'), () => work(hash));
}
