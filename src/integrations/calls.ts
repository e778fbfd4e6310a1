/** End of a call to a vendor. */
export interface EndedCall {
  /** Host of the vendor. Its paths are left out, since they contain the ids of accounts. */
  host: string;
  seconds: number;
  /** Undefined if there was no answer. */
  status: number | undefined;
  failure: unknown;
}

export type CallObserver = (call: EndedCall) => void;

/** Makes a call, and tells the observer when it has ended. */
export async function observed<Answer>(
  observe: CallObserver | undefined,
  url: string,
  call: () => Promise<Answer>,
  statusOf: (answer: Answer) => number,
): Promise<Answer> {
  const begun = performance.now();
  let status: number | undefined;
  let failure: unknown;
  try {
    const answer = await call();
    status = statusOf(answer);
    return answer;
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    observe?.({ host: new URL(url).host, seconds: (performance.now() - begun) / 1_000, status, failure });
  }
}
