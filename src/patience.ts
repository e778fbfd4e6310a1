/** The code makes it an outage to whoever waits for an answer. */
class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
  readonly code = 'ETIMEDOUT';

  constructor(milliseconds: number) {
    super(`it took longer than ${milliseconds} ms`);
  }
}

/** Resolves with `work`, or rejects after `milliseconds`. `work` is not cancelled; its late result is ignored. */
export async function withinPatience<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TookTooLong(milliseconds)), milliseconds);
  });
  try {
    return await Promise.race([work, patience]);
  } finally {
    clearTimeout(timer);
  }
}
