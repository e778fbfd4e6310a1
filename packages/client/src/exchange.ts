import { BrokenOff } from './answer.ts';
import { givesWholeAnswers } from './platform.ts';

export interface Reply {
  status: number;
  headers: Headers;
  /** The body as it comes. Whoever begins to take it takes all of it, or leaves the loop: then it is given up. */
  texts: AsyncGenerator<string>;
}

export interface Limits {
  timeoutMs: number;
  /** Whether it may take long until all of the answer is there. */
  isLarge?: boolean;
}

/** Of what is given as a whole nobody sees whether it is still coming. */
const WHOLE_TIMES = 10;
/** Longest waits for all of an answer, in time limits, and its most bytes: a full sync of a large account has 52 MB. */
const WHOLE = { small: { times: 4, bytes: 16_777_216 }, large: { times: 40, bytes: 268_435_456 } };

/**
 * One request. It throws BrokenOff when the answer does not begin, or its body does not go on, within the time limit, and
 * when all of it takes too long or too many bytes.
 */
export async function exchange(
  fetch: typeof globalThis.fetch,
  url: string,
  init: RequestInit,
  { timeoutMs, isLarge = false }: Limits,
): Promise<Reply> {
  const most = isLarge ? WHOLE.large : WHOLE.small;
  const patience = new Patience(timeoutMs, most.times);
  patience.renew(isLarge && givesWholeAnswers() ? WHOLE_TIMES : 1);
  try {
    const response = await fetch(url, { ...init, signal: patience.signal });
    return { status: response.status, headers: response.headers, texts: textsOf(response, patience, most.bytes) };
  } catch (error) {
    throw patience.brokenOff(error);
  }
}

export async function textOf({ texts }: Reply): Promise<string> {
  let all = '';
  for await (const text of texts) all += text;
  return all;
}

async function* textsOf(response: Response, patience: Patience, mostBytes: number): AsyncGenerator<string> {
  // React Native has a decoder since 0.85, and some of its fetches have had streams before.
  const { TextDecoder } = globalThis as { TextDecoder?: typeof globalThis.TextDecoder };
  const reader = TextDecoder && response.body?.getReader();
  try {
    if (!TextDecoder || !reader) {
      patience.renew(WHOLE_TIMES);
      yield await response.text();
      return;
    }
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let bytes = 0;
    for (;;) {
      patience.renew();
      const { done, value } = await reader.read();
      patience.pause();
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
    throw patience.brokenOff(error);
  } finally {
    patience.end();
  }
}

/** Gives a request up when nothing comes for too long. */
class Patience {
  readonly #controller = new AbortController();
  readonly #ms: number;
  /** What is left for all of the answer. */
  #leftMs: number;
  #since = 0;
  #longestMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(ms: number, times: number) {
    this.#ms = ms;
    this.#leftMs = times * ms;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  renew(times = 1): void {
    this.pause();
    this.#since = Date.now();
    this.#longestMs = Math.min(times * this.#ms, this.#leftMs);
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      this.#controller.abort();
    }, this.#longestMs);
  }

  /** While somebody works with what has come. */
  pause(): void {
    // Somebody may have set the clock meanwhile.
    const waitedMs = Math.max(0, Math.min(Date.now() - this.#since, this.#longestMs));
    if (this.#timer !== undefined) this.#leftMs -= waitedMs;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** What is still to come is given up. */
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

/** Its code alone: messages of connections hold addresses and, some of them, what was sent. */
function causeOf(error: unknown): string {
  const { cause, name } = (error ?? {}) as { cause?: { code?: unknown }; name?: unknown };
  return typeof cause?.code === 'string' ? cause.code : typeof name === 'string' ? name : 'unknown';
}
