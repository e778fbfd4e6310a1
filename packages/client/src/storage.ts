/**
 * Storage for what has to survive a restart. `localStorage`, and `AsyncStorage` of React Native, can be used as they
 * are. Several calls may run at once. A failed call throws, or rejects.
 */
export interface ClientStorage {
  /** Returns the value that was set last, or null. */
  getItem(key: string): string | null | Promise<string | null>;
  /** Sets all of the value or nothing, even if the process dies. The value is stored once the promise is fulfilled. */
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
  /**
   * Names the storage for other tabs: stores of one name take turns. It is empty if the storage belongs to this page
   * only. All storages without it count as one.
   */
  readonly sharedAs?: string | undefined;
}

/** Returns a storage that lasts until the process ends. */
export function memoryStorage(): ClientStorage {
  const values = new Map<string, string>();
  return {
    sharedAs: '',
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => values.set(key, value),
    removeItem: (key) => values.delete(key),
  };
}
