import { BrokenOff } from './answer.ts';
import { givesWholeAnswers } from './platform.ts';

export interface Reply {
  status: number;
  headers: Headers;
  /** The body as it arrives. A reader who starts must read all of it, or leave the loop, which aborts the request. */
  texts: AsyncGenerator<string>;
}

export interface Limits {
  timeoutMs: number;
  /** Time that the service may take in addition before it answers. */
  waitMs?: number;
  /** Ends the request. */
  signal?: AbortSignal | undefined;
  /** Whether the whole answer may take long. */
  isLarge?: boolean;
}

/** Time limits for an answer that the platform gives only as a whole: its progress cannot be seen. */
const WHOLE_TIMES = 10;
/** Longest wait for a whole answer, in time limits, and its maximum size. A full sync of a large account has 52 MB. */
const WHOLE = { small: { times: 4, bytes: 16_777_216 }, large: { times: 40, bytes: 268_435_456 } };

/**
 * Makes one request. Throws BrokenOff when the answer does not begin, or its body does not continue, within the time
 * limit, and when the whole answer takes too long or is too large.
 */
export async function exchange(
  fetch: typeof globalThis.fetch,
  url: string,
  init: RequestInit,
  { timeoutMs, waitMs = 0, isLarge = false, signal }: Limits,
): Promise<Reply> {
  const most = isLarge ? WHOLE.large : WHOLE.small;
  const timeLimit = new TimeLimit(timeoutMs, most.times, waitMs);
  timeLimit.renew(isLarge && givesWholeAnswers() ? WHOLE_TIMES : 1, waitMs);
  if (signal?.aborted) timeLimit.end();
  signal?.addEventListener('abort', () => timeLimit.end());
  try {
    const response = await fetch(url, { ...init, signal: timeLimit.signal });
    return { status: response.status, headers: response.headers, texts: textsOf(response, timeLimit, most.bytes) };
  } catch (error) {
    throw timeLimit.brokenOff(error);
  }
}

export async function textOf({ texts }: Reply): Promise<string> {
  let all = '';
  for await (const text of texts) all += text;
  return all;
}

async function* textsOf(response: Response, timeLimit: TimeLimit, mostBytes: number): AsyncGenerator<string> {
  // React Native has a decoder since 0.85; some of its fetch implementations had streams before that.
  const { TextDecoder } = globalThis as { TextDecoder?: typeof globalThis.TextDecoder };
  const reader = TextDecoder && response.body?.getReader();
  try {
    if (!TextDecoder || !reader) {
      timeLimit.renew(WHOLE_TIMES);
      yield await response.text();
      return;
    }
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let bytes = 0;
    for (;;) {
      timeLimit.renew();
      const { done, value } = await reader.read();
      timeLimit.pause();
      if (done) break;
      bytes += value.byteLength;
      if (bytes > mostBytes) {
        const message = `the answer has more than ${mostBytes} bytes`;
        throw new BrokenOff('bad_answer', message, response.status);
      }
      yield decoder.decode(value, { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    throw timeLimit.brokenOff(error);
  } finally {
    timeLimit.end();
  }
}

/** Aborts a request when nothing arrives for too long. */
class TimeLimit {
  readonly #controller = new AbortController();
  readonly #ms: number;
  /** Time left for the whole answer. */
  #leftMs: number;
  #since = 0;
  #longestMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(ms: number, times: number, waitMs: number) {
    this.#ms = ms;
    this.#leftMs = times * ms + waitMs;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  renew(times = 1, waitMs = 0): void {
    this.pause();
    this.#since = Date.now();
    this.#longestMs = Math.min(times * this.#ms + waitMs, this.#leftMs);
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      this.#controller.abort();
    }, this.#longestMs);
  }

  /** Stops the clock while the reader uses what has arrived. */
  pause(): void {
    // The clock may have been set in between.
    const waitedMs = Math.max(0, Math.min(Date.now() - this.#since, this.#longestMs));
    if (this.#timer !== undefined) this.#leftMs -= waitedMs;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Aborts the rest of the answer. */
  end(): void {
    this.pause();
    this.#controller.abort();
  }

  brokenOff(error: unknown): BrokenOff {
    this.pause();
    if (error instanceof BrokenOff) return error;
    if (this.#isOver) return new BrokenOff('timeout', `no answer within ${this.#ms} ms`);
    return new BrokenOff('network', `no connection, or half an answer (${causeOf(error)})`);
  }
}

/** Returns only the code of an error: its message may contain addresses, or data that was sent. */
function causeOf(error: unknown): string {
  const { cause, name } = (error ?? {}) as { cause?: { code?: unknown }; name?: unknown };
  return typeof cause?.code === 'string' ? cause.code : typeof name === 'string' ? name : 'unknown';
}
