import { Tabs } from '../tabs.ts';
import type { StoredHead } from './head.ts';
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

type InTurn = <T>(job: () => Promise<T>) => Promise<T>;

/** Of a write in one tab, for the others, which know more than they were told where they had another head before it. */
interface Told {
  before: string | undefined;
  after: string | undefined;
  changes: StoreChanges;
}

/** Tells listeners here and in other tabs. What a listener throws is no failure of sync. */
export class News {
  /** Whether listeners have been told less than has changed. */
  isEverything = false;
  readonly #head: StoredHead;
  readonly #listeners = new Set<Listener>();
  readonly #onError: (error: unknown) => void;
  readonly #tabs: Tabs<Told>;

  /** What other tabs tell is looked up in storage, in turn with those who read and write there. */
  constructor(
    head: StoredHead,
    { prefix, onError, inTurn }: { prefix: string; onError: (error: unknown) => void; inTurn: InTurn },
  ) {
    this.#head = head;
    this.#onError = onError;
    this.#tabs = new Tabs(`store:${prefix}`, (told) => void inTurn(() => this.#hear(told)).catch(() => undefined));
  }

  /** Until the function that it returns is called. */
  add(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Of a write that has followed on the head of this revision. */
  tell(before: string | undefined, changes: StoreChanges): void {
    this.isEverything = false;
    this.#tellHere(changes);
    const rows = changes.everything ? nothing() : {};
    this.#tabs.tell({ before, after: this.#head.revision, changes: { ...changes, ...rows } });
  }

  close(): void {
    this.#tabs.close();
  }

  async #hear({ before, after, changes }: Told): Promise<void> {
    const known = this.#head.revision;
    const { head, isForeign } = await this.#head.notice();
    // It may be of another storage, with the same prefix.
    if (!isForeign && !this.isEverything) return;
    const everything = this.isEverything || changes.everything || known !== before || head?.revision !== after;
    if (isForeign) this.isEverything = false;
    this.#tellHere({ ...changes, everything });
  }

  /** Of changes that are none nobody is told. */
  #tellHere(changes: StoreChanges): void {
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
