/** Thrown when something took too long. It may still be running. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
  readonly code = 'ETIMEDOUT';

  constructor(milliseconds: number) {
    super(`it took longer than ${milliseconds} ms`);
  }
}

/** Resolves with `work`, or rejects after `milliseconds`. Events that came while this process was blocked go first. */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => setImmediate(() => reject(new TookTooLong(milliseconds))), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
