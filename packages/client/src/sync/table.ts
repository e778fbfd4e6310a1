import type { ClientStorage } from '../storage.ts';

/** Thrown when a stored value is gone, or cannot be read. */
export class StoreDamaged extends Error {}

/** The difference after a change: rows that are new or have another value, and keys that were removed. */
export interface Changed<Row> {
  put: Row[];
  removed: string[];
}

/** Rows by key. A key without a row is removed. */
export type Changes<Row> = ReadonlyMap<string, Row | undefined>;

/** Maximum rows in one stored value, which is written again when one of them changes. */
const PAGE_ROWS = 100;

/** One stored value: the rows from its first key up to the first key of the next page. */
interface Page {
  id: number;
  first: string;
}

interface Index {
  nextId: number;
  pages: Page[];
}

/** Keeps rows in the order of their keys, in pages, so that no stored value is large. */
export class Table<Row> {
  readonly #storage: ClientStorage;
  readonly #name: string;
  readonly #keyOf: (row: Row) => string;

  constructor(storage: ClientStorage, name: string, keyOf: (row: Row) => string) {
    this.#storage = storage;
    this.#name = name;
    this.#keyOf = keyOf;
  }

  async rows(): Promise<Row[]> {
    const { pages } = await this.#index();
    const rows: Row[] = [];
    for (const page of pages) rows.push(...(await this.#rowsOf(page)));
    return rows;
  }

  /** Applies changes. After a crash in the middle, applying them again leads to the same table. */
  async apply(changes: Changes<Row>): Promise<Changed<Row>> {
    const changed: Changed<Row> = { put: [], removed: [] };
    const { nextId, pages: before } = await this.#index();
    const after: Page[] = [];
    const fresh: Page[] = [];
    const obsolete: Page[] = [];
    for (const [page, concerning] of byPage(before, changes)) {
      const rows = page && concerning.size > 0 ? await this.#rowsOf(page) : [];
      const byKey = new Map(rows.map((row) => [this.#keyOf(row), row]));
      const isChanged = merge(byKey, concerning, changed);
      if (page && (!isChanged || (byKey.size > 0 && byKey.size <= PAGE_ROWS))) {
        after.push(page);
        if (isChanged) await this.#write(page, byKey);
        continue;
      }
      if (page) obsolete.push(page);
      for (const part of inParts(byKey)) {
        const added = { id: nextId + fresh.length, first: firstKeyOf(part) };
        await this.#write(added, part);
        fresh.push(added);
        after.push(added);
      }
    }
    // The pages first, so that the index never names a missing page.
    if (fresh.length + obsolete.length > 0) await this.#writeIndex({ nextId: nextId + fresh.length, pages: after });
    for (const page of obsolete) await this.#storage.removeItem(this.#keyOfPage(page.id));
    return changed;
  }

  /** Makes an empty table. Without this call, and after `clear`, the table does not exist. */
  async begin(): Promise<void> {
    await this.clear();
    await this.#writeIndex({ nextId: 0, pages: [] });
  }

  async clear(): Promise<void> {
    const count = await this.#pageCount();
    // The last one first: after a crash, the others are still found from the first one on.
    for (let id = count - 1; id >= 0; id -= 1) await this.#storage.removeItem(this.#keyOfPage(id));
    await this.#storage.removeItem(this.#name);
  }

  /** Returns the rows that can still be read of a table that may be damaged, including old rows. */
  async remains(): Promise<Row[]> {
    const count = await this.#pageCount();
    const rows: Row[] = [];
    for (let id = 0; id < count; id += 1) rows.push(...(await this.#rowsOf({ id }).catch(ifDamaged([]))));
    return rows;
  }

  /** Returns the number of pages. Without the index, it counts them up to the first missing page. */
  async #pageCount(): Promise<number> {
    const index = await this.#index().catch(ifDamaged(undefined));
    let count = index?.nextId ?? 0;
    if (!index) while ((await this.#storage.getItem(this.#keyOfPage(count))) !== null) count += 1;
    return count;
  }

  async #index(): Promise<Index> {
    return parseStored((await this.#storage.getItem(this.#name)) ?? '') as Index;
  }

  #writeIndex(index: Index): unknown {
    return this.#storage.setItem(this.#name, JSON.stringify(index));
  }

  async #rowsOf({ id }: Pick<Page, 'id'>): Promise<Row[]> {
    return parseStored((await this.#storage.getItem(this.#keyOfPage(id))) ?? '') as Row[];
  }

  #write({ id }: Page, rows: ReadonlyMap<string, Row>): unknown {
    return this.#storage.setItem(this.#keyOfPage(id), JSON.stringify(inOrder(rows).map(([, row]) => row)));
  }

  #keyOfPage(id: number): string {
    return `${this.#name}:${id}`;
  }
}

export function parseStored(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new StoreDamaged('a stored value cannot be read');
  }
}

/** Returns a handler of errors that replaces a damaged value. */
function ifDamaged<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof StoreDamaged) return value;
    throw error;
  };
}

/** Returns each page with the changes of its keys. Without any page, returns all changes with undefined. */
function* byPage<Row>(pages: Page[], changes: Changes<Row>): Generator<[Page | undefined, Changes<Row>]> {
  const keys = [...changes.keys()].sort();
  let at = 0;
  for (const [index, page] of pages.entries()) {
    const end = pages[index + 1]?.first;
    const concerning = new Map<string, Row | undefined>();
    for (let key = keys[at]; key !== undefined && (end === undefined || key < end); key = keys[(at += 1)])
      concerning.set(key, changes.get(key));
    yield [page, concerning];
  }
  if (at < keys.length) yield [undefined, changes];
}

/** Changes the rows, and returns whether any of them is different now. */
function merge<Row>(rows: Map<string, Row>, changes: Changes<Row>, changed: Changed<Row>): boolean {
  const before = changed.put.length + changed.removed.length;
  for (const [key, row] of changes) {
    if (row === undefined) {
      if (rows.delete(key)) changed.removed.push(key);
    } else if (JSON.stringify(rows.get(key)) !== JSON.stringify(row)) {
      rows.set(key, row);
      changed.put.push(row);
    }
  }
  return changed.put.length + changed.removed.length > before;
}

/** Splits rows into pages, each with room for more rows. */
function inParts<Row>(rows: ReadonlyMap<string, Row>): Map<string, Row>[] {
  const most = rows.size <= PAGE_ROWS ? PAGE_ROWS : (PAGE_ROWS * 3) / 4;
  const all = inOrder(rows);
  const parts: Map<string, Row>[] = [];
  for (let from = 0; from < all.length; from += most) parts.push(new Map(all.slice(from, from + most)));
  return parts;
}

function inOrder<Row>(rows: ReadonlyMap<string, Row>): [string, Row][] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
}

function firstKeyOf(rows: ReadonlyMap<string, unknown>): string {
  const [first = ''] = rows.keys();
  return first;
}
