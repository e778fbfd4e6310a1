import type { Answer } from '../answer.ts';

/** How a store that follows makes a call. */
export interface FollowingCall {
  /** Seconds to wait for a change. */
  wait: number;
  /** Ends the call. */
  signal: AbortSignal;
}

/** Knows whether there is a session. */
export interface SessionSource {
  readonly isSignedIn?: boolean | undefined;
  /** Tells when a session begins or ends. Call the returned function to stop that. */
  onSession?(listener: () => void): () => void;
}

interface Followed {
  session: SessionSource;
  /** Brings the store up to date, and returns whether something has changed. */
  sync: (call: FollowingCall) => Promise<Answer<boolean>>;
  /** Runs one job at a time for all stores of a storage. */
  alone: (job: () => Promise<void>) => Promise<void>;
}

/** The longest that the service allows. Proxies often end requests after 60. */
const WAIT_SECONDS = 50;
/** Longer than any answer that has not waited. */
const WAITED_MS = 10_000;
const LONGEST_PAUSE_SECONDS = 60;

/** Keeps a store up to date until it is closed. It rests between sessions. */
export class Following {
  readonly #followed: Followed;
  readonly #leave: (() => void) | undefined;
  #call = new AbortController();
  #wake: () => void = () => undefined;
  #isOver = false;

  constructor(followed: Followed) {
    this.#followed = followed;
    this.#leave = followed.session.onSession?.(() => this.#wake());
    void this.#run();
  }

  close(): void {
    this.#isOver = true;
    this.#leave?.();
    this.#call.abort();
    this.#wake();
  }

  async #run(): Promise<void> {
    while (!this.#isOver)
      if (this.#hasSession()) await this.#followed.alone(() => this.#inSession());
      else await this.#sleep();
  }

  #hasSession(): boolean {
    return this.#followed.session.isSignedIn !== false;
  }

  /** After rounds that bring nothing there are pauses, longer each time. */
  async #inSession(): Promise<void> {
    let [wait, fruitless] = [0, 0];
    while (!this.#isOver && this.#hasSession()) {
      const begun = Date.now();
      const answer = await this.#sync(wait);
      const hasWaited = wait > 0 && Date.now() - begun >= WAITED_MS;
      const isFruitful = answer.ok && (answer.result || hasWaited);
      // A wait that a proxy has ended is fruitless, but the next one will not end sooner.
      fruitless = isFruitful ? 0 : (hasWaited ? 0 : fruitless) + 1;
      wait = answer.ok ? WAIT_SECONDS : 0;
      if (fruitless > 0 && this.#hasSession()) await this.#sleep(secondsAfter(answer, fruitless));
    }
  }

  async #sync(wait: number): Promise<Answer<boolean>> {
    this.#call = new AbortController();
    try {
      return await this.#followed.sync({ wait, signal: this.#call.signal });
    } finally {
      // An answer that was overtaken is not read.
      this.#call.abort();
    }
  }

  /** Resolves after these seconds, when a session begins or ends, and when all is over. */
  #sleep(seconds?: number): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      // Clients must not all ask at once when the service is back.
      const ms = (seconds ?? 0) * (1 + Math.random() / 2) * 1_000;
      const timer = seconds === undefined ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** An older service does not wait, and one whose database has a long transaction may repeat its rows at once. */
function secondsAfter(answer: Answer<unknown>, fruitless: number): number {
  return Math.min(LONGEST_PAUSE_SECONDS, (!answer.ok && answer.retryAfter) || 2 ** (fruitless - 2));
}
