import type { ClientStorage } from '../storage.ts';

export interface SyncStoreOptions {
  /** Where the rows are kept. Default: in memory, so that everything is requested again after a restart. */
  storage?: ClientStorage | undefined;
  /** Whether to ask for names of friends and of users on the blacklist. */
  names?: boolean | undefined;
  /** Prefix of its keys, for several stores in one storage. */
  prefix?: string | undefined;
  /** Whether a page synchronises when it is online again, and when it becomes visible again. Default: true. */
  syncOnReturn?: boolean | undefined;
  /** Called with an error thrown by a listener, which does not fail the sync. Default: console.error. */
  onListenerError?: ((error: unknown) => void) | undefined;
}
