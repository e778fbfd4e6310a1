import { groupsEver } from '../../database/groups-ever';
import { POSITION, type Position, type ReadAt } from '../../database/replica';
import { columnList, statement, together, type Source } from '../../database/statement';
import { PROFILE_COLUMNS, type Profile } from '../users/profile';
import * as groups from './sync-groups';
import type { FoundMembership, GroupToRead, SyncMember, SyncMembership } from './sync-groups';
import * as relations from './sync-relations';
import { CHUNK, FEW, type Asked, type Asking, type SyncBlacklistEntry, type SyncFriendship } from './sync-relations';

export interface SyncUser extends Profile {
  version: number;
}

export interface SyncTime {
  /** Version up to which any later statement sees all writes. */
  horizon: number;
  /** Upper bound of all versions. */
  clock: number;
}

/** The version that a client has, and its options. */
export interface Wanted {
  since: number;
  /** Whether to send the names of friends and of users on the blacklist. */
  names: boolean;
}

export interface SyncRows {
  user: SyncUser;
  /** Undefined if there are many: they are then read by pages. */
  blacklist: SyncBlacklistEntry[] | undefined;
  /** Like `blacklist`. */
  friends: SyncFriendship[] | undefined;
  groups: SyncMembership[];
  /** Whether there are many ended memberships: `groups` then has none of them, and they are read by pages. */
  manyEnded: boolean;
  /** Undefined if there are many: they are then read group by group. */
  members: SyncMember[] | undefined;
}

/** The clock reveals a version from an earlier state of the database. */
const TIME = 'sync_horizon() AS horizon, sync_clock() AS clock';
/** Its horizon is null on several servers, each of which has to be asked. */
export const syncTime = statement<Pick<SyncTime, 'clock'> & { horizon: number | null }>(
  'sync-horizon',
  `SELECT ${TIME}`,
  { distributed: 'SELECT NULL AS horizon, sync_clock() AS clock' },
);
export const timeOfStandby = statement<SyncTime & Position>('sync-horizon-of-standby', `SELECT ${TIME}, ${POSITION}`);

const USER = `SELECT ${columnList({ ...PROFILE_COLUMNS, version: 'version' })} FROM users WHERE id = :userId`;

/** Rows that each sync reads. A long list has some rows more than are sent from here. */
interface Found {
  users: SyncUser[];
  blacklist: SyncBlacklistEntry[];
  friends: SyncFriendship[];
  groups: FoundMembership[];
  members: SyncMember[];
}

const ALWAYS = { users: USER, groups: groups.MEMBERSHIPS, members: groups.FEW_MEMBERS };

const plainRows = statement<Found, Asked>('sync-rows', together({ ...ALWAYS, ...relations.PLAIN_LISTS }), {
  distributed: apart(relations.plainLists),
});
const namedRows = statement<Found, Asked>('sync-named-rows', together({ ...ALWAYS, ...relations.NAMED_LISTS }), {
  distributed: apart(relations.namedLists),
});

const user = statement<SyncUser, 'userId'>('sync-user', USER);

/** Returns steps that read the user, the lists and the groups at the same time. */
function apart(lists: (on: Source, asked: Asking) => Promise<Pick<Found, 'blacklist' | 'friends'>>) {
  return async (on: Source, asked: Asking): Promise<Found[]> => {
    const reads = [user(on, asked), lists(on, asked), groups.membershipsAndMembers(on, asked)] as const;
    const [users, related, joined] = await Promise.all(reads);
    return [{ users, ...related, ...joined }];
  };
}

/** The reads of one sync, each a plain autocommit statement. docs/data.md says why that is enough. */
export class SyncRepository {
  /** `at` must be the server of the horizon, or the primary. */
  constructor(private readonly at: ReadAt) {}

  async rows(userId: string, { since, names }: Wanted): Promise<SyncRows> {
    const read = names ? namedRows : plainRows;
    const [found] = await this.at(({ reads }) => read(reads, { userId, since }));
    const [owner] = found?.users ?? [];
    if (found === undefined || owner === undefined) throw new Error('sync found no user');
    const { blacklist, friends, members } = found;
    const few = names ? FEW : CHUNK;
    const living = found.groups.filter(({ hasEnded }) => !hasEnded);
    const manyEnded = found.groups.length - living.length > CHUNK;
    return {
      user: owner,
      blacklist: blacklist.length <= few ? blacklist : undefined,
      friends: friends.length <= few ? friends : undefined,
      groups: manyEnded ? living : found.groups,
      manyEnded,
      members: members.length <= FEW ? members : undefined,
    };
  }

  /** Returns a page in the order of the friends' ids, which never change: no write moves an entry past a page. */
  async blacklistPage(userId: string, { since, names }: Wanted, after: string): Promise<SyncBlacklistEntry[]> {
    const page = names ? relations.pageOfNamedBlacklist : relations.pageOfBlacklist;
    return this.at(({ db }) => page(db, { userId, since, after }));
  }

  /** Returns a page in the order of `blacklistPage`. */
  async friendsPage(userId: string, { since, names }: Wanted, after: string): Promise<SyncFriendship[]> {
    const page = names ? relations.pageOfNamedFriendships : relations.pageOfFriendships;
    return this.at(({ db }) => page(db, { userId, since, after }));
  }

  /** Returns a page in the order of `endedKey`. */
  async endedPage(userId: string, since: number, after: string): Promise<SyncMembership[]> {
    const [afterVersion, afterId] = (after || '0|').split('|');
    return this.at(async ({ db }) =>
      groups.pageOfEnded(db, { userId, since, groupIds: await groupsEver(db, userId), afterVersion, afterId }),
    );
  }

  async groupsToRead(userId: string, since: number): Promise<GroupToRead[]> {
    return this.at(({ db }) => groups.groupsToRead(db, { userId, since }));
  }

  async members(toRead: GroupToRead[], since: number): Promise<SyncMember[]> {
    const groupIds = toRead.map(({ groupId }) => groupId);
    const floors = toRead.map(({ floor }) => floor);
    return this.at(({ db }) => groups.membersOfGroups(db, { groupIds, floors, since }));
  }

  /** Returns a page of a group that is too large for one statement, in the order of its members' ids. */
  async membersPage({ groupId, floor }: GroupToRead, since: number, after: string): Promise<SyncMember[]> {
    return this.at(({ db }) => groups.pageOfMembers(db, { groupId, floor, since, after }));
  }
}
