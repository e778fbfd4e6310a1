import type { SyncUser } from './rows.ts';
import { newChanged, type Folded } from './tables.ts';

/** What is different since the last sync. */
export interface StoreChanges extends Folded {
  /**
   * Set when more may be different than is told here, so that everything is to be read anew: at the first good sync,
   * after another user has logged in, after a crash, when the store was damaged, and when another store has written into
   * this storage.
   */
  everything: boolean;
  /** Set when the user's own name or portrait is different. */
  user: SyncUser | undefined;
}

export type Listener = (changes: StoreChanges) => void | Promise<void>;

/** Whoever is told of changes. What one of them throws is no failure of sync. */
export class Listeners {
  readonly #listeners = new Set<Listener>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Until the function that it returns is called. */
  add(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Of changes that are none nobody is told. */
  tell(changes: StoreChanges): void {
    if (!hasChanges(changes)) return;
    for (const listener of this.#listeners)
      void Promise.resolve(changes).then(listener).catch(this.#onError).catch(console.error);
  }
}

/** Of an answer without rows. */
export function nothing(): Folded {
  return { blacklist: newChanged(), friends: newChanged(), groups: newChanged(), members: [] };
}

function hasChanges({ everything, user, members, ...tables }: StoreChanges): boolean {
  const rows = Object.values(tables).flatMap(({ put, removed }) => [...put, ...removed]);
  return everything || user !== undefined || members.length + rows.length > 0;
}
