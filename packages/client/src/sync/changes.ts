import { Tabs } from '../tabs.ts';
import type { StoredHead } from './head.ts';
import type { SyncUser } from './rows.ts';
import { newChanged, type TableChanges } from './tables.ts';

/** The changes since the last sync. */
export interface StoreChanges extends TableChanges {
  /**
   * Set when more may have changed than is listed here, so that everything has to be read again: at the first
   * successful sync, after another user has logged in, after a crash, when the store was damaged, and when another
   * store has written into this storage.
   */
  everything: boolean;
  /** Set when the user's own name or portrait has changed. */
  user: SyncUser | undefined;
}

export type Listener = (changes: StoreChanges) => void | Promise<void>;

type OneAtATime = <T>(job: () => Promise<T>) => Promise<T>;

/** A message about a write in one tab. Another tab that had another head before it has missed changes. */
interface TabMessage {
  before: string | undefined;
  after: string | undefined;
  changes: StoreChanges;
}

/** Tells listeners here and in other tabs. An error thrown by a listener does not fail the sync. */
export class ChangeNotifier {
  /** Whether listeners have missed changes. */
  isEverything = false;
  readonly #head: StoredHead;
  readonly #listeners = new Set<Listener>();
  readonly #onError: (error: unknown) => void;
  readonly #tabs: Tabs<TabMessage>;

  /** Checks messages of other tabs against the storage, one at a time with reads and writes there. */
  constructor(
    head: StoredHead,
    { prefix, onError, oneAtATime }: { prefix: string; onError: (error: unknown) => void; oneAtATime: OneAtATime },
  ) {
    this.#head = head;
    this.#onError = onError;
    this.#tabs = new Tabs(`store:${prefix}`, (told) => void oneAtATime(() => this.#hear(told)).catch(() => undefined));
  }

  /** Adds a listener. Call the returned function to remove it. */
  add(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells of a write. `before` is the revision of the head before it. */
  tell(before: string | undefined, changes: StoreChanges): void {
    this.isEverything = false;
    this.#tellHere(changes);
    const rows = changes.everything ? nothing() : {};
    this.#tabs.tell({ before, after: this.#head.revision, changes: { ...changes, ...rows } });
  }

  close(): void {
    this.#tabs.close();
  }

  async #hear({ before, after, changes }: TabMessage): Promise<void> {
    const known = this.#head.revision;
    const { head, isForeign } = await this.#head.notice();
    // The message may be about another storage with the same prefix.
    if (!isForeign && !this.isEverything) return;
    const everything = this.isEverything || changes.everything || known !== before || head?.revision !== after;
    if (isForeign) this.isEverything = false;
    this.#tellHere({ ...changes, everything });
  }

  /** Tells the listeners here, unless there are no changes. */
  #tellHere(changes: StoreChanges): void {
    if (!hasChanges(changes)) return;
    for (const listener of this.#listeners)
      void Promise.resolve(changes).then(listener).catch(this.#onError).catch(console.error);
  }
}

/** Returns the changes of an answer without rows. */
export function nothing(): TableChanges {
  return { blacklist: newChanged(), friends: newChanged(), groups: newChanged(), members: [] };
}

export function hasChanges({ everything, user, members, ...tables }: StoreChanges): boolean {
  const rows = Object.values(tables).flatMap(({ put, removed }) => [...put, ...removed]);
  return everything || user !== undefined || members.length + rows.length > 0;
}
