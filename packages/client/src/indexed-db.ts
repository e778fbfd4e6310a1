import type { ClientStorage } from './storage.ts';

const STORE = 'values';

/** What is used of IndexedDB, so that the types hold where there is no DOM. */
interface Idb {
  open(name: string, version: number): OpenRequest;
}

interface Request<Result = unknown> {
  result: Result;
  error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}

interface OpenRequest extends Request<Database> {
  onupgradeneeded: (() => void) | null;
}

interface Database {
  createObjectStore(name: string): unknown;
  transaction(name: string, mode: 'readonly' | 'readwrite'): Transaction;
}

interface Transaction {
  objectStore(name: string): {
    get(key: string): Request<string | undefined>;
    put(value: string, key: string): Request;
    delete(key: string): Request;
  };
  error: unknown;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
}

/** In the database of a browser, which all tabs of a site share. */
export function indexedDbStorage(name = 'user-account-service'): ClientStorage {
  let opened: Promise<Database> | undefined;
  const database = () => {
    opened ??= open(name);
    // The next one tries again.
    opened.catch(() => (opened = undefined));
    return opened;
  };

  const write = async (put: (values: ReturnType<Transaction['objectStore']>) => unknown) => {
    const transaction = (await database()).transaction(STORE, 'readwrite');
    put(transaction.objectStore(STORE));
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(asError(transaction.error));
    });
  };

  return {
    getItem: async (key) => {
      const values = (await database()).transaction(STORE, 'readonly').objectStore(STORE);
      return (await resultOf(values.get(key))) ?? null;
    },
    setItem: (key, value) => write((values) => values.put(value, key)),
    removeItem: (key) => write((values) => values.delete(key)),
  };
}

function open(name: string): Promise<Database> {
  const { indexedDB } = globalThis as unknown as { indexedDB: Idb };
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return resultOf(request);
}

function resultOf<Result>(request: Request<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(asError(request.error));
  });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('IndexedDB has failed');
}
