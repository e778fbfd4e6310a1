import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { asError } from '../base/errors';
import { isOutage } from './outage';
import { connectionOptions } from './pool';

const REPORT_EVERY_MS = 5_000;
const TRY_EVERY_MS = 500;

/**
 * Waits for a database that cannot be reached, since it may still be starting, and throws the last error. Throws at
 * once what waiting cannot mend, such as a wrong password.
 */
export async function awaitDatabase(url: string, patienceMs: number, report: (why: Error) => void): Promise<void> {
  const end = performance.now() + patienceMs;
  for (let reportedAt = -Infinity; ;) {
    const failure = await failureToConnect(url);
    if (failure === undefined) return;
    const now = performance.now();
    if (now >= end || !isOutage(failure)) throw failure;
    if (now - reportedAt >= REPORT_EVERY_MS) {
      report(failure);
      reportedAt = now;
    }
    await sleep(Math.min(TRY_EVERY_MS, end - now));
  }
}

async function failureToConnect(url: string): Promise<Error | undefined> {
  const client = new Client(connectionOptions(url));
  // Without a listener, a broken connection would end the process.
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
