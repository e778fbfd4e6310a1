import {
  CHUNK,
  type GroupToRead,
  type SyncBlacklistEntry,
  type SyncFriendship,
  type SyncMember,
  type SyncMembership,
  type SyncRepository,
  type SyncUser,
} from './sync-repository';
import { Turns } from './turns';

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

/** Until an answer begins … */
const PATIENCE_MS = 3_000;
/** … and from chunk to chunk: what has been sent would be for nothing. */
const PATIENCE_BEGUN_MS = 30_000;

export class SyncService {
  private readonly turns = new Turns();

  constructor(private readonly repository: SyncRepository) {}

  /** Everything that has changed since the version `known`, which an earlier answer gave. */
  async changes(userId: string, known: number): Promise<Changes> {
    const { clock, horizon, members, ...rows } = await this.repository.rows(userId, known);
    // Versions stay behind the clock, so this one is from another life of the database, and the client is told everything.
    // Not as at version 0, where it would hold nothing: it is told of what has ended, too.
    if (known > clock) return this.changes(userId, 1);
    return { ...rows, version: horizon, members: members ? inOneChunk(members) : this.members(userId, known) };
  }

  /**
   * One chunk at a time for all who ask, so that small requests are not kept waiting. A turn lasts while the database is
   * read, not while a slow phone is written to.
   */
  private async *members(userId: string, since: number): AsyncGenerator<SyncMember[]> {
    const groups = await this.turns.take(PATIENCE_MS, () => this.repository.groupsToRead(userId, since));
    for (const chunk of chunks(groups)) {
      const [first] = chunk;
      if (chunk.length === 1 && first && first.expected > CHUNK) yield* this.pages(first, since);
      else yield await this.turns.take(PATIENCE_BEGUN_MS, () => this.repository.members(chunk, since));
    }
  }

  private async *pages(group: GroupToRead, since: number): AsyncGenerator<SyncMember[]> {
    let after: string | undefined = '';
    while (after !== undefined) {
      const from: string = after;
      const page: SyncMember[] = await this.turns.take(PATIENCE_BEGUN_MS, () =>
        this.repository.membersPage(group, since, from, CHUNK),
      );
      yield page;
      after = page.length === CHUNK ? page.at(-1)?.memberId : undefined;
    }
  }
}

async function* inOneChunk(members: SyncMember[]): AsyncGenerator<SyncMember[]> {
  yield members;
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
