import { solveChallenge, type Challenge, type Solution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { rememberSecret } from './secrets';

/** Solves a challenge, as ALTCHA's widget does, trying keys from `counterStart`. */
export async function solutionOf(challenge: Challenge, counterStart = 0): Promise<Solution> {
  const solution = await solveChallenge({ challenge, deriveKey, counterStart, timeout: 300_000 });
  if (!solution) throw new Error('the challenge was not solved in time');
  return solution;
}

/** Returns the payload that ALTCHA's widget gives: JSON in Base64. */
export function payloadOf(challenge: Challenge, solution: Solution): string {
  return rememberSecret(Buffer.from(JSON.stringify({ challenge, solution })).toString('base64'));
}
