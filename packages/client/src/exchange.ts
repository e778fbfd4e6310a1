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

/**
 * One request. It throws BrokenOff when the answer does not begin, or its body does not go on, within the time limit.
 */
export async function exchange(
  fetch: typeof globalThis.fetch,
  url: string,
  init: RequestInit,
  { timeoutMs, isLarge = false }: Limits,
): Promise<Reply> {
  const patience = new Patience(timeoutMs);
  patience.renew(isLarge && givesWholeAnswers() ? WHOLE_TIMES : 1);
  try {
    const response = await fetch(url, { ...init, signal: patience.signal });
    return { status: response.status, headers: response.headers, texts: textsOf(response, patience) };
  } catch (error) {
    throw patience.brokenOff(error);
  }
}

export async function textOf({ texts }: Reply): Promise<string> {
  let all = '';
  for await (const text of texts) all += text;
  return all;
}

async function* textsOf(response: Response, patience: Patience): AsyncGenerator<string> {
  // React Native has a decoder since 0.85, and some of its fetches have had streams before.
  const reader = 'TextDecoder' in globalThis ? response.body?.getReader() : undefined;
  try {
    if (!reader) {
      patience.renew(WHOLE_TIMES);
      yield await response.text();
      return;
    }
    const decoder = new TextDecoder('utf-8', { fatal: true });
    for (;;) {
      patience.renew();
      const { done, value } = await reader.read();
      patience.pause();
      if (done) break;
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
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(ms: number) {
    this.#ms = ms;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  renew(times = 1): void {
    this.pause();
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      this.#controller.abort();
    }, times * this.#ms);
  }

  /** While somebody works with what has come. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** What is still to come is given up. */
  end(): void {
    this.pause();
    this.#controller.abort();
  }

  brokenOff(error: unknown): BrokenOff {
    this.pause();
    if (this.#isOver) return new BrokenOff('timeout', `no answer within ${this.#ms} ms`);
    return new BrokenOff('network', `no connection, or half an answer (${causeOf(error)})`);
  }
}

/** Its code alone: messages of connections hold addresses and, some of them, what was sent. */
function causeOf(error: unknown): string {
  const { cause, name } = (error ?? {}) as { cause?: { code?: unknown }; name?: unknown };
  return typeof cause?.code === 'string' ? cause.code : typeof name === 'string' ? name : 'unknown';
}
