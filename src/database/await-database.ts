import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { asError } from '../base/errors';
import { isOutage } from './outage';
import { connectionOptions } from './pool';

const TELL_EVERY_MS = 5_000;
const TRY_EVERY_MS = 500;

/**
 * Waits for a database that cannot be reached yet, since it may be starting too, and throws what was wrong last. What
 * no waiting mends, such as a wrong password, it throws at once.
 */
export async function awaitDatabase(url: string, patienceMs: number, tell: (why: Error) => void): Promise<void> {
  const end = performance.now() + patienceMs;
  for (let toldAt = -Infinity; ;) {
    const failure = await failureToConnect(url);
    if (failure === undefined) return;
    const now = performance.now();
    if (now >= end || !isOutage(failure)) throw failure;
    if (now - toldAt >= TELL_EVERY_MS) {
      tell(failure);
      toldAt = now;
    }
    await sleep(Math.min(TRY_EVERY_MS, end - now));
  }
}

async function failureToConnect(url: string): Promise<Error | undefined> {
  const client = new Client(connectionOptions(url));
  // A connection that breaks must not end the process by itself.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT');
    return undefined;
  } catch (error) {
    return asError(error, 'unknown error');
  } finally {
    await client.end().catch(() => undefined);
  }
}
