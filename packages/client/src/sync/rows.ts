import { FriendStatus } from '../numbers.ts';
import type { Schemas } from '../operations.ts';

export type SyncUser = Schemas['SyncUser'];
export type SyncBlacklistEntry = Schemas['SyncBlacklistEntry'];
export type SyncFriend = Schemas['SyncFriend'];
export type SyncMembership = Schemas['SyncMembership'];
export type SyncMember = Schemas['SyncMember'];

/** The rows of each list of an answer, in the order in which the lists are applied. */
export interface Lists {
  blacklist: SyncBlacklistEntry;
  friends: SyncFriend;
  groups: SyncMembership;
  group_members: SyncMember;
}

export type ListName = keyof Lists;

interface List<Row> {
  keyOf: (row: Row) => string;
  hasEnded: (row: Row) => boolean;
}

export const LISTS: { [Name in ListName]: List<Lists[Name]> } = {
  blacklist: { keyOf: ({ friendId }) => friendId, hasEnded: ({ status }) => !status },
  friends: { keyOf: ({ friendId }) => friendId, hasEnded: ({ status }) => status === FriendStatus.deleted },
  groups: { keyOf: ({ group }) => group.id, hasEnded: ({ isDeleted }) => isDeleted },
  group_members: { keyOf: ({ memberId }) => memberId, hasEnded: ({ isDeleted }) => isDeleted },
};

const NAMES = new Set(Object.keys(LISTS));

export function isListName(name: string): name is ListName {
  return NAMES.has(name);
}

/** Returns the changes of a table for rows that were sent: a row that has ended is removed. */
export function changesOf<Name extends ListName>(
  name: Name,
  rows: Lists[Name][],
): Map<string, Lists[Name] | undefined> {
  const { keyOf, hasEnded } = LISTS[name];
  return new Map(rows.map((row) => [keyOf(row), hasEnded(row) ? undefined : row]));
}
