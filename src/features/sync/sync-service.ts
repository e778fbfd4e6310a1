import type {
  GroupToRead,
  SyncBlacklistEntry,
  SyncFriendship,
  SyncMember,
  SyncMembership,
  SyncRepository,
  SyncUser,
} from './sync-repository';
import type { Turns } from './turns';

export interface Changes {
  /** What the client sends next time. */
  version: number;
  user: SyncUser;
  blacklist: SyncBlacklistEntry[];
  friends: SyncFriendship[];
  groups: SyncMembership[];
  /** Chunk by chunk: all members of a user with many large groups are far more than fits in memory at once. */
  members: AsyncIterable<SyncMember[]>;
}

/** Rows that one statement reads and one chunk of the answer holds. */
const CHUNK = 2_000;

export class SyncService {
  constructor(
    private readonly repository: SyncRepository,
    private readonly turns: Turns,
  ) {}

  /** Everything that has changed since the version `known`, which an earlier answer gave. */
  async changes(userId: string, known: number): Promise<Changes> {
    const { horizon, clock } = await this.repository.horizon();
    // Versions stay behind the clock, so this one is from another life of the database: the client starts over.
    const since = known > clock ? 0 : known;
    const [user, blacklist, friends, groups, groupsToRead] = await Promise.all([
      this.repository.user(userId),
      this.repository.blacklist(userId, since),
      this.repository.friendships(userId, since),
      this.repository.memberships(userId, since),
      this.repository.groupsToRead(userId, since),
    ]);
    return { version: horizon, user, blacklist, friends, groups, members: this.members(groupsToRead, since) };
  }

  /** A turn is held while the database is read, not while a slow phone is written to. */
  private async *members(groups: GroupToRead[], since: number): AsyncGenerator<SyncMember[]> {
    for (const chunk of chunks(groups)) {
      const [first] = chunk;
      if (chunk.length === 1 && first && first.expected > CHUNK) yield* this.pages(first, since);
      else yield await this.turns.take(() => this.repository.members(chunk, since));
    }
  }

  private async *pages(group: GroupToRead, since: number): AsyncGenerator<SyncMember[]> {
    let after: string | undefined = '';
    while (after !== undefined) {
      const from: string = after;
      const page: SyncMember[] = await this.turns.take(() => this.repository.membersPage(group, since, from, CHUNK));
      yield page;
      after = page.length === CHUNK ? page.at(-1)?.memberId : undefined;
    }
  }
}

/** As many groups together as are expected to fill a chunk; one that alone is larger stands by itself. */
function chunks(groups: GroupToRead[]): GroupToRead[][] {
  const result: GroupToRead[][] = [];
  let current: GroupToRead[] = [];
  let room = 0;
  for (const group of groups) {
    if (group.expected > room) {
      current = [];
      result.push(current);
      room = CHUNK;
    }
    current.push(group);
    room -= group.expected;
  }
  return result;
}
