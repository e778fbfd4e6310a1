/** Time-out, with a code that the error handler treats as an outage. */
class TimedOut extends Error {
  override readonly name = 'TimedOut';
  readonly code = 'ETIMEDOUT';

  constructor(milliseconds: number) {
    super(`it took longer than ${milliseconds} ms`);
  }
}

const STEPS = 4;

/**
 * Calls `end` after `milliseconds`, and returns a function that cancels this. Waits in steps, and a pause of the whole
 * process counts as one step only: answers that arrived during the pause are read before the time is over.
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
