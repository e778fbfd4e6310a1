import type { Answer } from './answer.ts';

/**
 * Operations that are not retried. Without an answer, or after a 503, they may or may not have been done, and a retry
 * does not tell: docs/api.md says how to continue after each. All others are retried.
 */
export const ASKED_ONCE = new Set([
  '/user/register',
  '/user/send_code',
  '/user/reset_password',
  '/user/set_password',
  '/user/change_password',
  '/user/change_phone',
  '/user/close_account',
  '/group/create',
  '/group/transfer',
]);

/** For each operation, the status of a retry that says that the first attempt was successful. */
export const DONE_BEFORE = new Map([
  ['/friendship/delete', 404],
  ['/friendship/withdraw', 404],
  ['/group/quit', 404],
  ['/group/dismiss', 404],
  ['/user/logout', 401],
]);

/** A longer `Retry-After` is returned to the app, which decides. */
const LONGEST_WAIT_SECONDS = 5;
const FIRST_WAIT_SECONDS = 0.5;

/** Makes a request, and retries it if it is unknown whether it was done, and a retry is safe. */
export async function repeating<Result>(
  path: string,
  repeats: number,
  ask: () => Promise<Answer<Result>>,
): Promise<Answer<Result | undefined>> {
  let answer = await ask();
  for (let count = 0; count < repeats && isUnknown(answer) && !ASKED_ONCE.has(path); count += 1) {
    const seconds = (!answer.ok && answer.retryAfter) || FIRST_WAIT_SECONDS * 2 ** count;
    if (seconds > LONGEST_WAIT_SECONDS) return answer;
    // Clients must not all retry at once when the service is back.
    const jitter = 1 + Math.random() / 2;
    await new Promise((resolve) => setTimeout(resolve, seconds * jitter * 1_000));
    answer = await ask();
    if (!answer.ok && answer.code === DONE_BEFORE.get(path))
      return { ok: true, result: undefined, requestId: answer.requestId };
  }
  return answer;
}

/** Returns whether it is unknown if a request was done: no answer, or one that a proxy gave for the service. */
export function isUnknown(answer: Answer<unknown>): boolean {
  return !answer.ok && (answer.code === 0 || (answer.code >= 502 && answer.code <= 504));
}
