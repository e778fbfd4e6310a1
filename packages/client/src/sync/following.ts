import type { Answer } from '../answer.ts';

interface Followed {
  /** Brings the store up to date, and says whether something has changed. */
  sync: () => Promise<Answer<boolean>>;
  /** Resolves when something has changed after the store's version, or nothing has for a while. */
  change: () => Promise<Answer<unknown>>;
}

/** Longer than any answer that has not waited. */
const WAITED_MS = 10_000;
const LONGEST_PAUSE_SECONDS = 60;

/** Keeps a store up to date until `isOver` says so. After rounds that bring nothing it pauses, longer each time. */
export async function follow({ sync, change }: Followed, isOver: () => boolean): Promise<void> {
  let fruitless = 0;
  while (!isOver()) {
    const synced = await sync();
    if (isOver()) return;
    const begun = Date.now();
    const answer = synced.ok ? await change() : synced;
    const hasWaited = Date.now() - begun >= WAITED_MS;
    fruitless = synced.ok && (synced.result || hasWaited) ? 0 : fruitless + 1;
    if (fruitless > 0 || !answer.ok) await pause(secondsAfter(answer, fruitless), isOver);
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
