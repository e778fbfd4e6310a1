/**
 * Where a client keeps what has to survive a restart. `localStorage` is such a storage as it is, and so is
 * `AsyncStorage` of React Native.
 */
export interface ClientStorage {
  getItem(key: string): string | null | Promise<string | null>;
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
