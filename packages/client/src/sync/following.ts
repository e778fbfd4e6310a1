import type { Answer } from '../answer.ts';
import { isUnknown } from '../repeating.ts';

interface Followed {
  /** Brings the store up to date, and says whether something has changed. */
  sync: () => Promise<Answer<boolean>>;
  /** Resolves when something has changed after the store's version, or nothing has for a while. */
  change: () => Promise<Answer<unknown>>;
}

/** A service that does not wait answers at once. */
const AT_ONCE_MS = 500;
const MOST_AT_ONCE = 5;
/** Pauses after a failure, and between the syncs of a service that does not wait. */
const LONGEST_PAUSE_SECONDS = 60;

/** Keeps a store up to date until `isOver` says so. After a failure it pauses, a little longer each time. */
export async function follow({ sync, change }: Followed, isOver: () => boolean): Promise<void> {
  let [failures, atOnce] = [0, 0];
  while (!isOver()) {
    const synced = await sync();
    if (isOver()) return;
    if (synced.ok && synced.result) atOnce = 0;
    if (atOnce >= MOST_AT_ONCE) await pause(LONGEST_PAUSE_SECONDS, isOver);
    const begun = Date.now();
    const answer = synced.ok ? await change() : synced;
    atOnce = Date.now() - begun < AT_ONCE_MS ? atOnce + 1 : 0;
    failures = answer.ok ? 0 : failures + 1;
    if (!answer.ok) await pause(secondsAfter(answer, failures), isOver);
  }
}

function secondsAfter(answer: Answer<unknown>, failures: number): number {
  const soon = isUnknown(answer) ? 2 ** (failures - 1) : LONGEST_PAUSE_SECONDS;
  return Math.min(LONGEST_PAUSE_SECONDS, (!answer.ok && answer.retryAfter) || soon);
}

/** Clients must not all ask at once when the service is back. */
async function pause(seconds: number, isOver: () => boolean): Promise<void> {
  const end = Date.now() + seconds * (1 + Math.random() / 2) * 1_000;
  while (!isOver() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 500));
}
