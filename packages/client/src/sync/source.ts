import type { Answer } from '../answer.ts';
import type { FollowingCall, SessionSource } from './following.ts';

export interface AskedChanges {
  names: boolean;
  /** Set by a store that follows. No user has asked for such a call: it must not log in. */
  following?: FollowingCall | undefined;
}

/** The source of a store's changes: a client is one. */
export interface SyncSource<Reason extends string = string> extends SessionSource {
  /** Returns the answer of `/user/sync/{version}` while it arrives. It throws BrokenOff when it ends too early. */
  changesSince(version: number, asked: AskedChanges): Promise<Answer<AsyncIterable<string>, Reason>>;
  /** Adds the store, which the source may then clear and close. Call the returned function to stop that. */
  addStore?(store: KeptStore): () => void;
}

export interface KeptStore {
  clear(): Promise<void>;
  close(): void;
}
