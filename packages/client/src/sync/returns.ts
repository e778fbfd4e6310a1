import type { Answer } from '../answer.ts';
import { isUnknown } from '../repeating.ts';

interface Target {
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

interface Page extends Target {
  document?: Target & { visibilityState: string };
}

/** A user who switches between tabs must not cause a sync at each switch. */
const FRESH_MS = 30_000;

/** Synchronises when the connection is back, and when the page becomes visible again. Only pages get these events. */
export class SyncOnReturn {
  /** Time of the last successful sync; 0 if it failed; undefined while no other sync is wanted. */
  #syncedAt: number | undefined;
  #page: Page | undefined;
  readonly #sync: () => void;
  readonly #onReturn = () => {
    const isStale = this.#syncedAt !== undefined && Date.now() - this.#syncedAt >= FRESH_MS;
    // Hidden pages synchronise when they become visible.
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

  /** Remembers a sync. After a refusal no sync follows: a page that becomes visible must not ask for a password. */
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
