import type { Answer } from '../answer.ts';
import { isUnknown } from '../repeating.ts';

interface Target {
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

interface Page extends Target {
  document?: Target & { visibilityState: string };
}

/** Somebody who goes from tab to tab asks for nothing at each. */
const FRESH_MS = 30_000;

/**
 * Synchronises when the connection is there again, and when somebody looks at the page again. Pages alone are told of
 * both.
 */
export class Returns {
  /** When the last sync went well, 0 when it did not; undefined while nobody wants another one. */
  #syncedAt: number | undefined;
  #page: Page | undefined;
  readonly #sync: () => void;
  readonly #onReturn = () => {
    const isStale = this.#syncedAt !== undefined && Date.now() - this.#syncedAt >= FRESH_MS;
    // The others do it when somebody looks at them.
    if (isStale && this.#page?.document?.visibilityState === 'visible') this.#sync();
  };

  constructor(isWanted: boolean, sync: () => void) {
    this.#sync = sync;
    const page = globalThis as unknown as Page;
    if (!isWanted || !page.addEventListener || !page.document?.addEventListener) return;
    this.#page = page;
    page.addEventListener('online', this.#onReturn);
    page.document.addEventListener('visibilitychange', this.#onReturn);
  }

  /** After a refusal nobody is asked for a password because a page is looked at again. */
  remember(synced: Answer<unknown>): void {
    if (synced.ok || synced.retryAfter !== undefined) this.#syncedAt = Date.now();
    else this.#syncedAt = isUnknown(synced) ? 0 : undefined;
  }

  forget(): void {
    this.#syncedAt = undefined;
  }

  close(): void {
    this.#page?.removeEventListener('online', this.#onReturn);
    this.#page?.document?.removeEventListener('visibilitychange', this.#onReturn);
  }
}
