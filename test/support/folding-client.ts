/** The result of POST /user/sync/:version. */
export interface SyncResult {
  version: number;
  user: SyncUser;
  blacklist: SyncBlacklistEntry[];
  friends: SyncFriend[];
  groups: SyncMembership[];
  group_members: SyncMember[];
}

export interface SyncUser {
  id: string;
  nickname: string;
  portraitUri: string;
  timestamp: number;
}

export interface Names {
  nickname: string;
  portraitUri: string;
}

export interface SyncBlacklistEntry {
  friendId: string;
  status: boolean;
  timestamp: number;
  user?: Names;
}

export interface SyncFriend {
  friendId: string;
  displayName: string;
  status: number;
  timestamp: number;
  user?: Names;
}

export interface SyncMembership {
  displayName: string;
  role: number;
  isDeleted: boolean;
  group: { id: string; name: string; portraitUri: string; timestamp: number };
}

export interface SyncMember {
  groupId: string;
  memberId: string;
  displayName: string;
  role: number;
  isDeleted: boolean;
  timestamp: number;
  user: Names;
}

/** The state that a client shows: without tombstones, and sorted by key so that two states can be compared. */
export interface SyncState {
  user: SyncUser | undefined;
  blacklist: SyncBlacklistEntry[];
  friends: SyncFriend[];
  groups: (SyncMembership & { members: SyncMember[] })[];
}

const FRIENDSHIP_DELETED = 30;

/**
 * Keeps a copy of a user's data only by sync. It follows docs/sync.md step by step, and uses nothing that only the
 * source says: when the two differ, the tests that use it fail.
 */
export class FoldingClient {
  /** The version that the next sync sends. */
  version = 0;
  private user: SyncUser | undefined;
  private readonly blacklist = new Map<string, SyncBlacklistEntry>();
  private readonly friends = new Map<string, SyncFriend>();
  private readonly groups = new Map<string, SyncMembership>();
  private readonly members = new Map<string, Map<string, SyncMember>>();

  constructor(private readonly ask: (version: number) => Promise<SyncResult>) {}

  /** Updates the copy, and returns the answer used. */
  async sync(): Promise<SyncResult> {
    const result = await this.ask(this.version);
    this.fold(result);
    return result;
  }

  state(): SyncState {
    return {
      user: this.user,
      blacklist: inOrder(this.blacklist),
      friends: inOrder(this.friends),
      groups: inOrder(this.groups).map((membership) => ({
        ...membership,
        members: inOrder(this.members.get(membership.group.id) ?? new Map<string, SyncMember>()),
      })),
    };
  }

  private fold(result: SyncResult): void {
    if (this.version === 0)
      for (const table of [this.blacklist, this.friends, this.groups, this.members]) table.clear();
    this.user = result.user;
    for (const entry of result.blacklist) putOrRemove(this.blacklist, entry.friendId, entry, !entry.status);
    for (const friend of result.friends)
      putOrRemove(this.friends, friend.friendId, friend, friend.status === FRIENDSHIP_DELETED);
    for (const membership of result.groups) {
      putOrRemove(this.groups, membership.group.id, membership, membership.isDeleted);
      if (membership.isDeleted) this.members.delete(membership.group.id);
    }
    for (const member of result.group_members)
      if (this.groups.has(member.groupId))
        putOrRemove(this.membersOf(member.groupId), member.memberId, member, member.isDeleted);
    this.version = result.version;
  }

  private membersOf(groupId: string): Map<string, SyncMember> {
    const members = this.members.get(groupId) ?? new Map<string, SyncMember>();
    this.members.set(groupId, members);
    return members;
  }
}

/** Replaces the whole row, or removes it if the new one says that it has ended. */
function putOrRemove<T>(rows: Map<string, T>, key: string, row: T, hasEnded: boolean): void {
  if (hasEnded) rows.delete(key);
  else rows.set(key, row);
}

function inOrder<T>(rows: Map<string, T>): T[] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
