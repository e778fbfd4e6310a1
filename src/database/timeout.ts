/** Its code makes it an outage to the error handler. */
class TimedOut extends Error {
  override readonly name = 'TimedOut';
  readonly code = 'ETIMEDOUT';

  constructor(milliseconds: number) {
    super(`it took longer than ${milliseconds} ms`);
  }
}

/** Resolves with `work`, or rejects after `milliseconds`. `work` is not cancelled; its late result is ignored. */
export async function withTimeout<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TimedOut(milliseconds)), milliseconds);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
