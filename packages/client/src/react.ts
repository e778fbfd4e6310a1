import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import type { Client } from './client.ts';
import type { StoreChanges } from './sync/changes.ts';
import type { SyncBlacklistEntry, SyncFriend, SyncMembership, SyncMember, SyncUser } from './sync/rows.ts';
import type { SyncStore } from './sync/store.ts';
import type { Changed } from './sync/table.ts';

/** The part of a store that a hook reads, and the changes after which it reads again. The key may be a group's id. */
interface Part<Value> {
  read(store: SyncStore, key: string): Promise<Value>;
  isIn(changes: StoreChanges, key: string): boolean;
}

const USER: Part<SyncUser | undefined> = {
  read: (store) => store.user(),
  isIn: ({ user }) => user !== undefined,
};
const FRIENDS: Part<SyncFriend[]> = { read: (store) => store.friends(), isIn: ({ friends }) => hasRows(friends) };
const BLACKLIST: Part<SyncBlacklistEntry[]> = {
  read: (store) => store.blacklist(),
  isIn: ({ blacklist }) => hasRows(blacklist),
};
const GROUPS: Part<SyncMembership[]> = { read: (store) => store.groups(), isIn: ({ groups }) => hasRows(groups) };
const MEMBERS: Part<SyncMember[]> = {
  read: (store, groupId) => store.members(groupId),
  isIn: ({ members }, groupId) => members.includes(groupId),
};

/** Returns whether a user is signed in; undefined until the first login, sync, check or refusal. */
export function useSession(client: Client): boolean | undefined {
  const subscribe = useCallback((told: () => void) => client.onSession(told), [client]);
  return useSyncExternalStore(
    subscribe,
    () => client.isSignedIn,
    () => undefined,
  );
}

/** Returns the user of the store. Like the hooks below, it is undefined until the store was read, then up to date. */
export function useUser(store: SyncStore): SyncUser | undefined {
  return usePart(store, USER);
}

export function useFriends(store: SyncStore): SyncFriend[] | undefined {
  return usePart(store, FRIENDS);
}

export function useBlacklist(store: SyncStore): SyncBlacklistEntry[] | undefined {
  return usePart(store, BLACKLIST);
}

export function useGroups(store: SyncStore): SyncMembership[] | undefined {
  return usePart(store, GROUPS);
}

export function useMembers(store: SyncStore, groupId: string): SyncMember[] | undefined {
  return usePart(store, MEMBERS, groupId);
}

/** Reads a part of a store. Throws errors of the storage while the component renders, for an error boundary. */
function usePart<Value>(store: SyncStore, part: Part<Value>, key = ''): Value | undefined {
  const [shown, show] = useState<{ store: SyncStore; key: string; value: Value }>();
  useEffect(() => {
    let last = 0;
    const read = async () => {
      last += 1;
      const mine = last;
      try {
        const value = await part.read(store, key);
        if (mine === last) show({ store, key, value });
      } catch (error) {
        show(() => {
          throw error;
        });
      }
    };
    void read();
    const stop = store.onChange((changes) => {
      if (changes.everything || part.isIn(changes, key)) void read();
    });
    return () => {
      last += 1;
      stop();
    };
  }, [store, part, key]);
  // After a change of store or group, the old rows are not shown until the new ones are read.
  return shown?.store === store && shown.key === key ? shown.value : undefined;
}

function hasRows({ put, removed }: Changed<unknown>): boolean {
  return put.length + removed.length > 0;
}
