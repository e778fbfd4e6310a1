import type { Answer } from '../answer.ts';
import { memoryStorage, type ClientStorage } from '../storage.ts';
import { ChangeNotifier, hasChanges, nothing, type Listener, type StoreChanges } from './changes.ts';
import { Following, type FollowingCall } from './following.ts';
import { StorageInUse, StoredHead, type Head } from './head.ts';
import { alone } from './lock.ts';
import { SyncOnReturn } from './returns.ts';
import type { SyncBlacklistEntry, SyncFriend, SyncMembership, SyncMember, SyncUser } from './rows.ts';
import type { SyncSource } from './source.ts';
import { discardSpool, Spool, type SpooledAnswer } from './spool.ts';
import type { SyncStoreOptions } from './store-options.ts';
import { failureOf, type Synced } from './synced.ts';
import { StoreDamaged } from './table.ts';
import { Tables, type TableChanges } from './tables.ts';

type Ask<Reason extends string> = (head: Head) => Promise<Answer<AsyncIterable<string>, Reason>>;

/** Keeps the user, the blacklist, friends, groups and their members in storage, up to date by sync. */
export class SyncStore<Reason extends string = string> {
  readonly #source: SyncSource<Reason>;
  readonly #storage: ClientStorage;
  readonly #names: boolean;
  readonly #prefix: string;
  readonly #tables: Tables;
  readonly #head: StoredHead;
  readonly #news: ChangeNotifier;
  readonly #returns: SyncOnReturn;
  readonly #leave: (() => void) | undefined;
  readonly #followings = new Set<Following>();
  #syncing: Promise<Synced<Reason>> | undefined;
  /** Serialises reading and applying, so that half of an answer is never read. */
  #last: Promise<unknown> = Promise.resolve();
  #opened: Promise<void> | undefined;
  #isDamaged = false;

  constructor(
    source: SyncSource<Reason>,
    {
      storage = memoryStorage(),
      names = false,
      prefix = 'sync',
      syncOnReturn = true,
      onListenerError = (error) => console.error(error),
    }: SyncStoreOptions = {},
  ) {
    this.#source = source;
    this.#storage = storage;
    this.#names = names;
    this.#prefix = prefix;
    this.#tables = new Tables(storage, prefix);
    this.#head = new StoredHead(storage, prefix);
    const oneAtATime = <T>(job: () => Promise<T>) => this.#oneAtATime(job);
    this.#news = new ChangeNotifier(this.#head, { prefix, onError: onListenerError, oneAtATime });
    this.#returns = new SyncOnReturn(syncOnReturn, () => void this.sync());
    this.#leave = source.addStore?.(this);
  }

  /** Brings the store up to date. Calls during a sync get its answer. */
  sync(): Promise<Synced<Reason>> {
    this.#syncing ??= this.#catchUp((head) => this.#changesSince(head)).finally(() => (this.#syncing = undefined));
    return this.#syncing;
  }

  /**
   * Keeps the store up to date, moments after each change, until the returned function is called. If several tabs of a
   * browser follow on one storage, one asks, and its rows are there for all. It rests while no user is signed in, and
   * logs in only while it is not known whether one is.
   */
  follow(): () => void {
    const following = new Following({
      session: this.#source,
      sync: async (call) => {
        const synced = await this.#follow(call).catch(failureOf);
        return synced.ok ? { ...synced, result: hasChanges(synced.result) } : synced;
      },
      alone: (job) => alone(this.#storage, `${this.#prefix}:follow`, job),
    });
    this.#followings.add(following);
    return () => {
      this.#followings.delete(following);
      following.close();
    };
  }

  /** Tells the listener of each sync that has changed something. Call the returned function to stop. */
  onChange(listener: Listener): () => void {
    return this.#news.add(listener);
  }

  /** Returns the version that the next sync sends. Like the methods below, it rejects with errors of the storage. */
  async version(): Promise<number> {
    return (await this.#head.read())?.version ?? 0;
  }

  user(): Promise<SyncUser | undefined> {
    return this.#oneAtATime(async () => (await this.#noticedHead())?.user);
  }

  /** Returns rows in the order of their ids. */
  blacklist(): Promise<SyncBlacklistEntry[]> {
    return this.#read(() => this.#tables.blacklist.rows());
  }

  /** Returns all friends except the deleted ones. */
  friends(): Promise<SyncFriend[]> {
    return this.#read(() => this.#tables.friends.rows());
  }

  groups(): Promise<SyncMembership[]> {
    return this.#read(() => this.#tables.groups.rows());
  }

  members(groupId: string): Promise<SyncMember[]> {
    return this.#read(() => this.#tables.members(groupId));
  }

  /** Removes everything, as a logout does: the next sync starts again. */
  clear(): Promise<void> {
    return this.#alone(() =>
      this.#oneAtATime(async () => {
        await this.#clear();
        this.#returns.forget();
        this.#news.tell(undefined, { ...nothing(), everything: true, user: undefined });
        this.#news.isEverything = true;
      }),
    );
  }

  /** Stops following, and listening to other tabs and to the events of the page. */
  close(): void {
    for (const following of this.#followings) following.close();
    this.#news.close();
    this.#returns.close();
    this.#leave?.();
  }

  #changesSince({ version }: Head, following?: FollowingCall): Promise<Answer<AsyncIterable<string>, Reason>> {
    return this.#source.changesSince(version, { names: this.#names, following });
  }

  /** Waits for a change before it runs, and applies the answer there, unless anything was written in between. */
  async #follow(call: FollowingCall): Promise<Synced<Reason>> {
    if (call.wait === 0 && this.#source.isSignedIn === undefined) return this.sync();
    const known = call.wait > 0 ? await this.#head.read() : undefined;
    let waited = known && (await this.#changesSince(known, call));
    return this.#catchUp(async (head) => {
      const isOvertaken = waited?.ok && head.revision !== known?.revision;
      const answer = isOvertaken ? undefined : waited;
      waited = undefined;
      return answer ?? this.#changesSince(head, { ...call, wait: 0 });
    });
  }

  async #catchUp(ask: Ask<Reason>): Promise<Synced<Reason>> {
    const synced = await this.#alone(() => this.#tried(ask));
    this.#returns.remember(synced);
    return synced;
  }

  async #tried(ask: Ask<Reason>, isRepaired = false): Promise<Synced<Reason>> {
    try {
      return await this.#syncOnce(ask);
    } catch (error) {
      this.#opened = undefined;
      if (error instanceof StoreDamaged && !isRepaired) {
        this.#isDamaged = true;
        return this.#tried(ask, true);
      }
      return failureOf(error);
    }
  }

  async #syncOnce(ask: Ask<Reason>): Promise<Synced<Reason>> {
    const head = await this.#oneAtATime(() => this.#begin());
    try {
      const answer = await ask(head);
      if (!answer.ok) return answer;
      const spooled = await new Spool(this.#storage, this.#prefix).read(answer.result);
      if (head.user === undefined || head.user.id === spooled.user.id)
        return { ...answer, result: await this.#oneAtATime(() => this.#foldIn(head, spooled)) };
    } finally {
      await this.#discard();
    }
    // Another user has logged in: this answer lacks all that this user had before that version.
    await this.#oneAtATime(() => this.#clear());
    return this.#syncOnce(ask);
  }

  /** Completes what a crash has left unfinished, and clears what cannot be continued. */
  async #begin(): Promise<Head> {
    let head = await this.#noticedHead();
    if (!head || head.clearing || head.names !== this.#names || this.#isDamaged) head = await this.#clear();
    if (head.folding) {
      await this.#fold(head, head.folding);
      head = await this.#head.write(headOf(head.folding, head));
      this.#news.isEverything = true;
    }
    await discardSpool(this.#storage, this.#prefix);
    if (head.user === undefined) this.#news.isEverything = true;
    return head;
  }

  async #foldIn(head: Head, spooled: SpooledAnswer): Promise<StoreChanges> {
    await this.#head.expectOwn(head);
    const hasRows = spooled.chunks.length > 0;
    const folding = hasRows ? await this.#head.write({ ...head, folding: spooled }) : head;
    const folded = hasRows ? await this.#fold(folding, spooled) : nothing();
    const user = isSame(head.user, spooled.user) ? undefined : spooled.user;
    if (hasRows || user !== undefined || head.version !== spooled.version)
      await this.#head.write(headOf(spooled, head));
    const changes = { ...folded, user, everything: this.#news.isEverything };
    this.#news.tell(head.revision, changes);
    return changes;
  }

  async #fold(head: Head, spooled: SpooledAnswer): Promise<TableChanges> {
    const folded = await this.#tables.fold(spooled);
    // Two stores at once may each have undone a part of what the other wrote.
    await this.#head.expectOwn(head).catch(async (error: unknown) => {
      if (error instanceof StorageInUse) await this.#clear();
      throw error;
    });
    return folded;
  }

  async #clear(): Promise<Head> {
    const head = { version: 0, names: this.#names };
    await this.#head.write({ ...head, clearing: true });
    await this.#tables.clear();
    this.#isDamaged = false;
    this.#news.isEverything = true;
    return this.#head.write(head);
  }

  async #discard(): Promise<void> {
    const head = await this.#head.read();
    await discardSpool(this.#storage, this.#prefix, head?.folding);
  }

  async #read<Row>(rows: () => Promise<Row[]>): Promise<Row[]> {
    const read = async () => ((await this.#noticedHead()) ? rows() : []);
    try {
      this.#opened ??= this.#open();
      await this.#opened;
      return await this.#oneAtATime(read);
    } catch (error) {
      this.#opened = undefined;
      if (!(error instanceof StoreDamaged)) throw error;
    }
    // Another tab may have been writing. If that is not the cause, the next sync starts again.
    return this.#alone(() => this.#oneAtATime(() => this.#goOn().then(read))).catch((error: unknown) => {
      if (!(error instanceof StoreDamaged)) throw error;
      this.#isDamaged = true;
      return [];
    });
  }

  /** Applies the rest of an answer after a crash in the middle of it, before anything is read. */
  async #open(): Promise<void> {
    if (await this.#hasBegun()) await this.#alone(() => this.#oneAtATime(() => this.#goOn()));
  }

  async #goOn(): Promise<void> {
    if (await this.#hasBegun()) await this.#begin();
  }

  async #hasBegun(): Promise<boolean> {
    const { folding, clearing } = (await this.#head.read()) ?? {};
    return folding !== undefined || clearing === true;
  }

  /** Reads the head. If another store has written, listeners have missed changes: the next sync tells them. */
  async #noticedHead(): Promise<Head | undefined> {
    const { head, isForeign } = await this.#head.notice();
    if (isForeign) this.#news.isEverything = true;
    return head;
  }

  #alone<T>(job: () => Promise<T>): Promise<T> {
    return alone(this.#storage, this.#prefix, job);
  }

  #oneAtATime<T>(job: () => Promise<T>): Promise<T> {
    const done = this.#last.then(job);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function headOf({ version, user }: SpooledAnswer, { names }: Head): Omit<Head, 'revision'> {
  return { version, user, names };
}

function isSame(before: SyncUser | undefined, after: SyncUser): boolean {
  return before?.nickname === after.nickname && before.portraitUri === after.portraitUri;
}
