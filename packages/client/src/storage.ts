/**
 * Where a client keeps what has to survive a restart. `localStorage` is such a storage as it is, and so is
 * `AsyncStorage` of React Native. Several calls may be under way at once. What has failed throws, or rejects.
 */
export interface ClientStorage {
  /** What was set last, and null where nothing is. */
  getItem(key: string): string | null | Promise<string | null>;
  /** Sets all of the value or nothing of it, also when the process dies. It has done so when its promise is fulfilled. */
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

/** Keeps everything until the process ends. */
export function memoryStorage(): ClientStorage {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => values.set(key, value),
    removeItem: (key) => values.delete(key),
  };
}
