import type { Knex } from 'knex';

/**
 * Returns how often PostgreSQL slept for a tenth of a second until the work was done. A busy machine takes longer for
 * each sleep, like for the work.
 */
export async function tenthsUntil(done: Promise<unknown>, db: Knex): Promise<number> {
  let [isDone, tenths] = [false, 0];
  const ended = () => void (isDone = true);
  void done.then(ended, ended);
  for (; !isDone; tenths += 1) await db.raw('SELECT pg_sleep(0.1)');
  return tenths;
}

/** Expects what is left of a lifetime in seconds, which began at a moment after `begun` of Date.now(). */
export function expectLeft(left: number | undefined, seconds: number, begun: number): void {
  expect(left).toBeLessThanOrEqual(seconds);
  expect(left).toBeGreaterThan(seconds - 1 - (Date.now() - begun) / 1_000);
}

/** Waits for real time, in tests about time. Other tests wait with `until`. */
export function realTime(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
