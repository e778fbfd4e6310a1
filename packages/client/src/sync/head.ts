import type { ClientStorage } from '../storage.ts';
import type { SyncUser } from './rows.ts';
import type { SpooledAnswer } from './spool.ts';
import { newToken } from './token.ts';

/** The state of a store's tables. */
export interface Head {
  /** Changes with each write, so that a store notices a write of another store. */
  revision: string;
  version: number;
  names: boolean;
  user?: SyncUser | undefined;
  /** An answer that is being applied. After a crash it is applied again. */
  folding?: SpooledAnswer | undefined;
  /** Set while everything is being removed; after a crash that continues. */
  clearing?: boolean | undefined;
}

/** Thrown when another store has written into this storage. */
export class StorageInUse extends Error {}

/** The head in storage, which other stores may also write. */
export class StoredHead {
  readonly #storage: ClientStorage;
  readonly #key: string;
  /** Revision of the head that was last noticed or written; null before the first one. */
  #revision: string | undefined | null = null;

  constructor(storage: ClientStorage, prefix: string) {
    this.#storage = storage;
    this.#key = `${prefix}:head`;
  }

  /** The known revision; undefined if there is no head, or it was not read yet. */
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

  /** Reads the head, and returns whether it differs from the one that was last noticed or written. */
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

  /** Throws if another tab or process has written another head. */
  async expectOwn({ revision }: Head): Promise<void> {
    if ((await this.read())?.revision !== revision) throw new StorageInUse('another store uses this storage');
  }
}
