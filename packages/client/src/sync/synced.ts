import { BrokenOff, failure, type Answer, type ClientReason, type Failure } from '../answer.ts';
import type { StoreChanges } from './changes.ts';
import { StorageInUse } from './head.ts';

/** Reasons beside the service's. `storage_in_use` says that another store has written into this storage. */
export type StoreReason = ClientReason | 'storage_in_use';

export type Synced<Reason extends string> = Answer<StoreChanges, Reason | StoreReason>;

export function failureOf(error: unknown): Failure<StoreReason> {
  if (error instanceof BrokenOff) return failure(error.reason, error.message, { code: error.code });
  const message = error instanceof Error ? error.message : 'the storage has failed';
  return failure(error instanceof StorageInUse ? 'storage_in_use' : 'storage', message);
}
