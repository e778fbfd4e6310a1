import type { Caller } from '../../base/caller';
import { OWNER, type OwnerReads, type Reader } from '../../database/owner-reads';
import type { Horizons } from '../../database/horizons';
import { pagesOf } from '../../database/pages';
import type { Reading } from '../../database/replica';
import type { Leave } from '../../load/queue';
import type { Queues } from '../../load/queues';
import { groupsOf, type LiveSync, type LiveSyncs } from './live-syncs';
import { endedKey, type GroupToRead, type SyncMember, type SyncMembership } from './sync-groups';
import { CHUNK, type SyncBlacklistEntry, type SyncFriendship } from './sync-relations';
import { SyncRepository, syncTime, timeOfStandby, type SyncTime, type SyncUser, type Wanted } from './sync-repository';

export interface Changes {
  /** Version that the client sends with its next call. */
  version: number;
  /** Nothing has changed since the version that the client sent. */
  isEmpty: boolean;
  /** All changes are later than `version`, since an older transaction is open: the next answer repeats them. */
  isRepeated: boolean;
  user: SyncUser;
  blacklist: SyncBlacklistEntry[];
  friends: SyncFriendship[];
  groups: SyncMembership[];
  /** Members in chunks: all members of many large groups do not fit in memory at once. */
  members: AsyncIterable<SyncMember[]>;
}

/** Longest wait before the answer begins. Later pages may wait longer: aborting would waste the part already sent. */
const BEFORE_ANSWER = { waitMs: 3_000 };

export class SyncService {
  constructor(
    private readonly reading: Reading,
    private readonly horizons: Horizons,
    private readonly queues: Pick<Queues, 'longSyncs' | 'syncPages' | 'liveSyncs' | 'liveSyncsInAll'>,
    private readonly lives: LiveSyncs,
  ) {}

  /** Returns a sync that hears of changes from now on. The session is found before. */
  async live(reader: Reader & { reads: OwnerReads; caller: Pick<Caller, 'address'> }): Promise<LiveSync> {
    const groups = await groupIds(reader);
    const { userId, caller } = reader;
    const live = await this.lives.open(userId, groups, (end) => this.takePlace(userId, caller.address, end));
    // The session may have ended before it could hear of that.
    reader.reads.checkAgain();
    return live;
  }

  private takePlace(userId: string, address: string, end: () => void): Leave {
    const leaveOwn = this.queues.liveSyncs.take(userId);
    try {
      const leave = this.queues.liveSyncsInAll.take(address, { abort: end });
      return () => {
        leave();
        leaveOwn();
      };
    } catch (error) {
      leaveOwn();
      throw error;
    }
  }

  /** Returns the version of a sync that would begin now, and lets `live` hear of the groups of now. */
  async presentVersion(reader: Reader, live: LiveSync): Promise<number> {
    this.lives.attend(live, await groupIds(reader));
    return (await this.begin(reader)).horizon;
  }

  /** Returns all changes since the version `since`, which an earlier answer gave. */
  async changes(reader: Reader, { since: known, names }: Wanted): Promise<Changes> {
    const { clock, horizon, repository } = await this.begin(reader);
    const { userId } = reader;
    // No version is beyond the clock. If the client's is, it is from an earlier state of the database, and the client is
    // sent everything. From version 1, not 0, so that ended rows are sent too.
    const since = known > clock ? 1 : known;
    const wanted = { since, names };
    const { user, groups, manyEnded, blacklist, friends, members } = await repository.rows(userId, wanted);
    const chunks = members ? inOneChunk(members) : this.chunks(repository, userId, since);
    const readBlacklist = (after: string) => repository.blacklistPage(userId, wanted, after);
    const readFriends = (after: string) => repository.friendsPage(userId, wanted, after);
    const readEnded = (after: string) => repository.endedPage(userId, since, after);
    const memberships = groups.map(({ groupVersion }) => ({ version: groupVersion }));
    const lists = [blacklist, friends, members, manyEnded ? undefined : memberships];
    const isFinal = ({ version }: { version: number }) => since < version && version <= horizon;
    return {
      user,
      version: horizon,
      isEmpty: user.version <= since && lists.every((list) => list?.length === 0),
      isRepeated: !isFinal(user) && lists.every((list) => list && !list.some(isFinal)),
      blacklist: blacklist ?? (await this.inPages(userId, readBlacklist, friendKey)),
      friends: friends ?? (await this.inPages(userId, readFriends, friendKey)),
      // A membership that ends between the reads is in both: the last row is right.
      groups: manyEnded ? [...groups, ...(await this.inPages(userId, readEnded, endedKey))] : groups,
      members: blacklist && friends && !manyEnded && members ? chunks : this.inPlace(userId, chunks),
    };
  }

  /**
   * Finds the session, and the horizon of the server where the answer reads. The session is always found at the primary:
   * one that has ended may still be at the standby.
   */
  private async begin({ reads }: Reader): Promise<SyncTime & { repository: SyncRepository }> {
    const { atPrimary, readAt, replica } = this.reading;
    if (replica?.present === 'serving' && !this.horizons.areSeveral) {
      const time = await replica.beside(reads, (standby) => timeOfStandby(standby, {}));
      // Right after an outage, the standby may not have what was heard of at the primary.
      if (time && time.horizon >= this.lives.seenUntil) return { ...time, repository: new SyncRepository(readAt()) };
    }
    const [time] = await syncTime(reads, {});
    if (time === undefined) throw new Error('sync found no horizon');
    // An event that was heard is at or below a horizon of all servers, which another instance may have asked for later.
    const horizon = time.horizon ?? Math.max(await this.horizons.present(), this.lives.seenUntil);
    return { ...time, horizon, repository: new SyncRepository(atPrimary) };
  }

  /** Takes a place when the first chunk is read, and frees it after the last one. */
  private async *inPlace(userId: string, chunks: AsyncGenerator<SyncMember[]>): AsyncGenerator<SyncMember[]> {
    const leave = this.queues.longSyncs.take(userId);
    try {
      yield* chunks;
    } finally {
      leave();
    }
  }

  /** Reads a long list, in turns with all other reads, like members. */
  private async inPages<Row>(
    userId: string,
    read: (after: string) => Promise<Row[]>,
    keyOf: (row: Row) => string,
  ): Promise<Row[]> {
    const rows: Row[] = [];
    const inTurn = (after: string) => this.queues.syncPages.run(userId, () => read(after), BEFORE_ANSWER);
    for await (const page of pagesOf(CHUNK, inTurn, keyOf)) rows.push(...page);
    return rows;
  }

  /**
   * Reads one chunk at a time for all clients together, so that small requests do not wait long. A job in the queue
   * covers the read of the database, not the transfer to a slow phone.
   */
  private async *chunks(repository: SyncRepository, userId: string, since: number): AsyncGenerator<SyncMember[]> {
    const { syncPages } = this.queues;
    const groups = await syncPages.run(userId, () => repository.groupsToRead(userId, since), BEFORE_ANSWER);
    // An empty chunk lets the answer begin now.
    yield [];
    for (const chunk of inChunks(groups)) {
      const [first] = chunk;
      if (chunk.length === 1 && first && first.expected > CHUNK) yield* this.pages(repository, userId, first, since);
      else yield await syncPages.run(userId, () => repository.members(chunk, since));
    }
  }

  private pages(
    repository: SyncRepository,
    userId: string,
    group: GroupToRead,
    since: number,
  ): AsyncGenerator<SyncMember[]> {
    const read = (after: string) =>
      this.queues.syncPages.run(userId, () => repository.membersPage(group, since, after));
    return pagesOf(CHUNK, read, ({ memberId }) => memberId);
  }
}

/** The session is found before. */
async function groupIds({ reads }: Reader): Promise<string[]> {
  return (await groupsOf(reads, { userId: OWNER })).map(({ id }) => id);
}

const friendKey = ({ friendId }: { friendId: string }) => friendId;

async function* inOneChunk(members: SyncMember[]): AsyncGenerator<SyncMember[]> {
  yield members;
}

/** Joins groups until their expected members fill a chunk. A larger group is a chunk of its own. */
function inChunks(groups: GroupToRead[]): GroupToRead[][] {
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
