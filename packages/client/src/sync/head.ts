import type { ClientStorage } from '../storage.ts';
import type { SyncUser } from './rows.ts';
import type { Spooled } from './spool.ts';
import { newToken } from './token.ts';

/** What a store knows of its tables. */
export interface Head {
  /** Another one with each write, by which a store notices that another one has written. */
  revision: string;
  version: number;
  names: boolean;
  user?: SyncUser | undefined;
  /** An answer that is being folded in. After a crash it is folded in again. */
  folding?: Spooled | undefined;
  /** Everything is being removed; after a crash it goes on. */
  clearing?: boolean | undefined;
}

/** Another store has written into this storage meanwhile. */
export class StorageInUse extends Error {}

/** The head in storage, which other stores may write, too. */
export class StoredHead {
  readonly #storage: ClientStorage;
  readonly #key: string;
  /** Of the head that was noticed or written last; null before. */
  #revision: string | undefined | null = null;

  constructor(storage: ClientStorage, prefix: string) {
    this.#storage = storage;
    this.#key = `${prefix}:head`;
  }

  /** Undefined where there was none, and before it was noticed. */
  get revision(): string | undefined {
    return this.#revision ?? undefined;
  }

  async read(): Promise<Head | undefined> {
    const text = await this.#storage.getItem(this.#key);
    if (text === null) return undefined;
    try {
      return JSON.parse(text) as Head;
    } catch {
      return undefined;
    }
  }

  /** Whether it is another one than was noticed or written last. */
  async notice(): Promise<{ head: Head | undefined; isForeign: boolean }> {
    const head = await this.read();
    const isForeign = this.#revision !== null && head?.revision !== this.#revision;
    this.#revision = head?.revision;
    return { head, isForeign };
  }

  async write(head: Omit<Head, 'revision'>): Promise<Head> {
    const written = { ...head, revision: newToken() };
    await this.#storage.setItem(this.#key, JSON.stringify(written));
    this.#revision = written.revision;
    return written;
  }

  /** Another tab or process would have written another one. */
  async expectOwn({ revision }: Head): Promise<void> {
    if ((await this.read())?.revision !== revision) throw new StorageInUse('another store uses this storage');
  }
}
