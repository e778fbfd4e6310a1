import type { ClientStorage } from './storage.ts';

const STORE = 'values';

/** The part of IndexedDB that is used, so that the types work without those of the DOM. */
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
  close(): void;
  onclose: (() => void) | null;
  onversionchange: (() => void) | null;
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

/** Returns a storage in the browser's database, which all tabs of a site share. */
export function indexedDbStorage(name = 'user-account-service'): ClientStorage {
  let opened: Promise<Database> | undefined;
  /** Forgets a closed connection, so that the next call opens another one. */
  const forget = (connection: Promise<Database> | undefined) => {
    if (opened === connection) opened = undefined;
  };

  const connect = () => {
    const connection = open(name, () => forget(connection));
    connection.catch(() => forget(connection));
    return connection;
  };

  const within = async <T>(
    mode: 'readonly' | 'readwrite',
    use: (transaction: Transaction) => Promise<T>,
    isRepeated = false,
  ): Promise<T> => {
    const connection = (opened ??= connect());
    try {
      return await use((await connection).transaction(STORE, mode));
    } catch (error) {
      // Browsers also close connections, and some of them do not report it.
      if (isRepeated || (error as { name?: unknown }).name !== 'InvalidStateError') throw error;
      forget(connection);
      return within(mode, use, true);
    }
  };

  const write = (put: (values: ReturnType<Transaction['objectStore']>) => unknown) =>
    within('readwrite', (transaction) => {
      put(transaction.objectStore(STORE));
      return new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(asError(transaction.error));
      });
    });

  return {
    sharedAs: `indexed-db:${name}`,
    getItem: async (key) => {
      const found = await within('readonly', (transaction) => resultOf(transaction.objectStore(STORE).get(key)));
      return found ?? null;
    },
    setItem: (key, value) => write((values) => values.put(value, key)),
    removeItem: (key) => write((values) => values.delete(key)),
  };
}

async function open(name: string, forget: () => void): Promise<Database> {
  const { indexedDB } = globalThis as unknown as { indexedDB: Idb };
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  const database = await resultOf(request);
  database.onclose = forget;
  database.onversionchange = () => {
    database.close();
    forget();
  };
  return database;
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
