/** Its code makes it an outage to the error handler. */
class TimedOut extends Error {
  override readonly name = 'TimedOut';
  readonly code = 'ETIMEDOUT';

  constructor(milliseconds: number) {
    super(`it took longer than ${milliseconds} ms`);
  }
}

const STEPS = 4;

/**
 * Calls `end` after `milliseconds`, and returns what stops that. The time is waited for in steps, and as long as this
 * process stands still counts as one of them: so the answers that have come meanwhile are read before it is over.
 */
export function afterTime(milliseconds: number, end: () => void): () => void {
  let left = STEPS;
  let timer: NodeJS.Timeout;
  const step = () => {
    timer = setTimeout(() => {
      left -= 1;
      if (left > 0) step();
      else end();
    }, milliseconds / STEPS);
  };
  step();
  return () => clearTimeout(timer);
}

/** Resolves with `work`, or rejects after `milliseconds`. `work` is not cancelled; its late result is ignored. */
export async function withTimeout<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let stop: (() => void) | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    stop = afterTime(milliseconds, () => reject(new TimedOut(milliseconds)));
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    stop?.();
  }
}
