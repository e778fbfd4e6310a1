import type { Answer } from '../answer.ts';

/** The longest that the service allows. Proxies often end requests after 60. */
const WAIT_SECONDS = 50;
/** Longer than any answer that has not waited. */
const WAITED_MS = 10_000;
const LONGEST_PAUSE_SECONDS = 60;

/**
 * Keeps a store up to date until `isOver` says so. `sync` waits at most these seconds for a change, and returns whether
 * there was one. After rounds that bring nothing there are pauses, longer each time.
 */
export async function follow(sync: (wait: number) => Promise<Answer<boolean>>, isOver: () => boolean): Promise<void> {
  let [wait, fruitless] = [0, 0];
  while (!isOver()) {
    const begun = Date.now();
    const answer = await sync(wait);
    const hasWaited = wait > 0 && Date.now() - begun >= WAITED_MS;
    const isFruitful = answer.ok && (answer.result || hasWaited);
    // A wait that a proxy has ended is fruitless, but the next one will not end sooner.
    fruitless = isFruitful ? 0 : (hasWaited ? 0 : fruitless) + 1;
    wait = answer.ok ? WAIT_SECONDS : 0;
    if (fruitless > 0) await pause(secondsAfter(answer, fruitless), isOver);
  }
}

/** An older service does not wait, and one whose database has a long transaction may repeat its rows at once. */
function secondsAfter(answer: Answer<unknown>, fruitless: number): number {
  return Math.min(LONGEST_PAUSE_SECONDS, (!answer.ok && answer.retryAfter) || 2 ** (fruitless - 2));
}

/** Clients must not all ask at once when the service is back. */
async function pause(seconds: number, isOver: () => boolean): Promise<void> {
  const end = Date.now() + seconds * (1 + Math.random() / 2) * 1_000;
  while (!isOver() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 500));
}
