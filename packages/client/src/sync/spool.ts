import { BrokenOff, notJson } from '../answer.ts';
import type { ClientStorage } from '../storage.ts';
import { RowReader, type RowText } from './row-reader.ts';
import { isListName, LISTS, type ListName, type Lists, type SyncUser } from './rows.ts';
import { parseStored, StoreDamaged } from './table.ts';
import { newToken } from './token.ts';

/** Maximum rows of one list in one stored value. */
const CHUNK_ROWS = 250;

/** A whole answer. Its rows are in storage, but not yet in a table. */
export interface SpooledAnswer {
  spool: string;
  /** Number of chunks of each list. */
  chunks: [ListName, number][];
  version: number;
  user: SyncUser;
}

/** Reads an answer into storage while it arrives. Nothing of it is used until all of it has arrived. */
export class Spool {
  readonly #storage: ClientStorage;
  readonly #marker: string;
  readonly #name: string;
  readonly #chunks = new Map<ListName, number>();
  #rows: string[] = [];
  #list: ListName | undefined;

  constructor(storage: ClientStorage, prefix: string) {
    this.#storage = storage;
    this.#marker = markerKey(prefix);
    this.#name = `${this.#marker}:${newToken()}`;
  }

  async read(texts: AsyncIterable<string>): Promise<SpooledAnswer> {
    const reader = new RowReader();
    for await (const text of texts) {
      for (const row of reader.push(text)) {
        if (row.list !== this.#list || this.#rows.length === CHUNK_ROWS) await this.#flush();
        this.#add(row);
      }
    }
    await this.#flush();
    return { spool: this.#name, chunks: [...this.#chunks], ...headOf(reader.rest) };
  }

  #add({ list, text }: RowText): void {
    // A newer service may have more lists.
    if (!isListName(list)) return;
    this.#list = list;
    this.#rows.push(text);
  }

  async #flush(): Promise<void> {
    const list = this.#list;
    if (list === undefined || this.#rows.length === 0) return;
    const text = `[${this.#rows.join(',')}]`;
    if (!hasKeys(list, parse(text))) throw new BrokenOff('bad_answer', `a row of ${list} has no key`, 200);
    this.#rows = [];
    if (this.#chunks.size === 0) await this.#storage.setItem(this.#marker, this.#name);
    const count = this.#chunks.get(list) ?? 0;
    await this.#storage.setItem(chunkKey(this.#name, list, count), text);
    this.#chunks.set(list, count + 1);
  }
}

export async function chunk<Name extends ListName>(
  storage: ClientStorage,
  { spool }: SpooledAnswer,
  list: Name,
  index: number,
): Promise<Lists[Name][]> {
  const text = await storage.getItem(chunkKey(spool, list, index));
  if (text === null) throw new StoreDamaged('half of an answer is gone');
  return parseStored(text) as Lists[Name][];
}

/** Removes what is left of the last spool, unless it is `wanted`. */
export async function discardSpool(storage: ClientStorage, prefix: string, wanted?: SpooledAnswer): Promise<void> {
  const spool = await storage.getItem(markerKey(prefix));
  if (spool === null || spool === wanted?.spool) return;
  for (const list of Object.keys(LISTS)) {
    const keys: string[] = [];
    const next = () => chunkKey(spool, list, keys.length);
    while ((await storage.getItem(next())) !== null) keys.push(next());
    // The last one first: after a crash, the others are still found from the first one on.
    for (const key of keys.reverse()) await storage.removeItem(key);
  }
  await storage.removeItem(markerKey(prefix));
}

/** Returns the key of the last spool's name. */
function markerKey(prefix: string): string {
  return `${prefix}:spool`;
}

function chunkKey(spool: string, list: string, index: number): string {
  return `${spool}:${list}:${index}`;
}

function headOf(rest: string): Pick<SpooledAnswer, 'version' | 'user'> {
  const { code, result } = parse(rest) as { code?: unknown; result?: Record<string, unknown> };
  const { version, user } = result ?? {};
  const isWhole = Object.keys(LISTS).every((list) => Array.isArray(result?.[list]));
  if (
    code !== 200 ||
    !isWhole ||
    !Number.isSafeInteger(version) ||
    typeof (user as SyncUser | undefined)?.id !== 'string'
  )
    throw new BrokenOff('bad_answer', 'this is not an answer of sync', 200);
  return { version: version as number, user: user as SyncUser };
}

function hasKeys(list: ListName, rows: unknown): boolean {
  const keyOf = LISTS[list].keyOf as (row: unknown) => unknown;
  try {
    return (rows as unknown[]).every((row) => typeof keyOf(row) === 'string');
  } catch {
    return false;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson(text);
  }
}
