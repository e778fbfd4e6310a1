import type { Logger } from 'pino';
import { isLostConnection } from './outage';

/** Failures that follow each other within this time are a series. */
const SERIES_MS = 60_000;

/** Logs the first failure of each series. Lost connections are left out, since their watch tells of them. */
export function loggingFailures(logger: Pick<Logger, 'warn'>, line: string): (error: unknown) => void {
  let failedAt = -Infinity;
  return (error) => {
    if (isLostConnection(error)) return;
    const now = performance.now();
    if (now - failedAt > SERIES_MS) logger.warn({ err: error }, line);
    failedAt = now;
  };
}
