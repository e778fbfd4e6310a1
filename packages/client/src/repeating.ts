import type { Answer } from './answer.ts';

/**
 * After no answer, or a 503, these may have been done or not, and asking again does not tell: docs/api.md says for each
 * how to go on. All others are repeated.
 */
export const ASKED_ONCE = new Set([
  '/user/register',
  '/user/send_code',
  '/user/reset_password',
  '/user/change_password',
  '/user/change_phone',
  '/user/close_account',
  '/group/create',
  '/group/transfer',
]);

/** The status that says, when these are asked again, that it was done the first time. */
export const DONE_BEFORE = new Map([
  ['/friendship/delete', 404],
  ['/friendship/withdraw', 404],
  ['/group/quit', 404],
  ['/group/dismiss', 404],
  ['/user/logout', 401],
]);

/** Whoever is told to wait longer is told so, and decides. */
const LONGEST_WAIT_SECONDS = 5;
const FIRST_WAIT_SECONDS = 0.5;

/** Asks, and asks again what is safe to ask again, when it is not known whether it was done. */
export async function repeating<Result>(
  path: string,
  repeats: number,
  ask: () => Promise<Answer<Result>>,
): Promise<Answer<Result | undefined>> {
  let answer = await ask();
  for (let count = 0; count < repeats && isUnknown(answer) && !ASKED_ONCE.has(path); count += 1) {
    const seconds = (!answer.ok && answer.retryAfter) || FIRST_WAIT_SECONDS * 2 ** count;
    if (seconds > LONGEST_WAIT_SECONDS) return answer;
    // Not all clients at once, when the service is back.
    const jitter = 1 + Math.random() / 2;
    await new Promise((resolve) => setTimeout(resolve, seconds * jitter * 1_000));
    answer = await ask();
    if (!answer.ok && answer.code === DONE_BEFORE.get(path))
      return { ok: true, result: undefined, requestId: answer.requestId };
  }
  return answer;
}

/** Also where a proxy has answered for the service. */
export function isUnknown(answer: Answer<unknown>): boolean {
  return !answer.ok && (answer.code === 0 || (answer.code >= 502 && answer.code <= 504));
}
