import { groupsEver, NO_GROUPS } from '../../database/groups-ever';
import type { Server } from '../../database/replica';
import { statement, type Source } from '../../database/statement';
import { peopleOf } from '../users/names';
import type { Names } from '../users/profile';
import {
  BLACKLIST,
  CHUNK,
  FEW,
  FRIENDSHIPS,
  PLAIN_LISTS,
  RENAMED_FRIENDS,
  type Asked,
  type SyncBlacklistEntry,
  type SyncFriendship,
  type SyncRelation,
} from './sync-relations';
import {
  AMONG,
  ENDED,
  GROUPS_OF_USER,
  IS_FOR_CLIENT,
  MEMBER,
  presentMemberships,
  SyncRepository,
  USER,
  type Found,
  type GroupToRead,
  type SyncMember,
  type SyncMembership,
  type SyncUser,
  type Wanted,
} from './sync-repository';

const user = statement<SyncUser, 'userId'>('sync-user', USER);
const changedEntries = statement<SyncBlacklistEntry, Asked>('sync-changed-blacklist', PLAIN_LISTS.blacklist);
const changedFriends = statement<SyncFriendship, Asked>('sync-changed-friends', PLAIN_LISTS.friends);

/** Entries that hold are read whatever their version: their users may have new names. */
const entriesToName = statement<SyncBlacklistEntry, Asked | 'after'>(
  'sync-blacklist-to-name',
  `${BLACKLIST} AND (status OR version > :since) AND friend_id > :after ORDER BY friend_id LIMIT ${CHUNK}`,
  { prepared: false },
);

const friendsToName = statement<SyncFriendship, Asked>(
  'sync-friends-to-name',
  `${FRIENDSHIPS} AND version > :since UNION ALL ${RENAMED_FRIENDS} LIMIT ${FEW + 1}`,
);

const pageOfFriendsToName = statement<SyncFriendship, Asked | 'after'>(
  'sync-page-of-friends-to-name',
  `${FRIENDSHIPS} AND (version > :since OR named_version > :since) AND friend_id > :after
    ORDER BY friend_id LIMIT ${CHUNK}`,
  { prepared: false },
);

type Membership = SyncMembership & { hasEnded: boolean };

const present = statement<Membership, Asked | 'groupIds'>(
  'sync-present-memberships',
  `${presentMemberships('JOIN groups g ON g.id = me.group_id')} ${AMONG}`,
  { prepared: false },
);
const ended = statement<Membership, Asked | 'groupIds'>(
  'sync-ended-memberships',
  `${ENDED} ${AMONG} ORDER BY member_id, version LIMIT ${CHUNK + 1}`,
  { prepared: false },
);

const ownGroups = statement<{ group_id: string; floor: number }, Asked | 'groupIds'>(
  'sync-own-groups',
  `${GROUPS_OF_USER} ${AMONG}`,
  { prepared: false },
);

type Unnamed = Omit<SyncMember, keyof Names>;

const FROM_GROUPS = `FROM group_members m WHERE m.group_id = ANY (:groupIds::text[]) AND m.version > :floor::bigint`;

/** Members of groups that have the same floor. */
const membersAbove = statement<Unnamed, 'groupIds' | 'floor' | 'since' | 'most'>(
  'sync-members-above',
  `SELECT ${MEMBER} ${FROM_GROUPS} AND ${IS_FOR_CLIENT} LIMIT :most::integer`,
  { prepared: false },
);

const countsAbove = statement<{ groupId: string; expected: number }, 'groupIds' | 'floor'>(
  'sync-counts-above',
  `SELECT m.group_id AS "groupId", least(count(*), ${CHUNK + 1}) AS expected ${FROM_GROUPS} GROUP BY m.group_id`,
  { prepared: false },
);

const pageOfMembers = statement<Unnamed, 'groupId' | 'floor' | 'since' | 'after'>(
  'sync-page-of-members-to-name',
  `SELECT ${MEMBER} FROM group_members m
    WHERE group_id = :groupId AND version > :floor::bigint AND ${IS_FOR_CLIENT} AND member_id > :after
    ORDER BY member_id LIMIT ${CHUNK}`,
  { prepared: false },
);

/** More than a group of any size has. */
const ALL = 2_147_483_647;

interface Group {
  groupId: string;
  floor: number;
}

/**
 * The reads of a sync where users and groups are on several servers: what one user has by a statement each, then names.
 */
export class DistributedSyncRepository extends SyncRepository {
  protected override async found(userId: string, { since, names }: Wanted): Promise<Found> {
    return this.at(async (server) => {
      const on = server.reads;
      const asked = { userId, since };
      const lists = names
        ? Promise.all([this.namedEntries(on, asked, '', FEW), friendsToName(on, asked).then((rows) => named(on, rows))])
        : Promise.all([changedEntries(on, asked), changedFriends(on, asked)]);
      const [users, [blacklist, friends], circles] = await Promise.all([
        user(on, { userId }),
        lists,
        this.circles(server, asked),
      ]);
      return { users, blacklist, friends, ...circles };
    });
  }

  private async circles(server: Server, asked: { userId: string; since: number }) {
    const on = server.reads;
    const { userId, since } = asked;
    const groupIds = await groupsEver(on, userId);
    if (groupIds === NO_GROUPS) return { groups: [], members: [] };
    const among = { ...asked, groupIds };
    const members = ownGroups(on, among).then((rows) => this.membersIn(server, rows.map(asGroup), since, FEW + 1));
    const [living, over, found] = await Promise.all([present(on, among), ended(on, among), members]);
    return { groups: [...living, ...over], members: found };
  }

  override async blacklistPage(userId: string, wanted: Wanted, after: string): Promise<SyncBlacklistEntry[]> {
    if (!wanted.names) return super.blacklistPage(userId, wanted, after);
    const asked = { userId, since: wanted.since };
    return this.at(async ({ db }) => (await this.namedEntries(db, asked, after, CHUNK)).slice(0, CHUNK));
  }

  override async friendsPage(userId: string, wanted: Wanted, after: string): Promise<SyncFriendship[]> {
    if (!wanted.names) return super.friendsPage(userId, wanted, after);
    return this.at(async ({ db }) => named(db, await pageOfFriendsToName(db, { userId, since: wanted.since, after })));
  }

  override async groupsToRead(userId: string, since: number): Promise<GroupToRead[]> {
    return this.at(async ({ db }) => {
      const groupIds = await groupsEver(db, userId);
      const groups = (await ownGroups(db, { userId, since, groupIds })).map(asGroup);
      const counted = await Promise.all(
        byFloor(groups).map(async ([floor, groupIds]) =>
          (await countsAbove(db, { groupIds, floor })).map((group) => ({ ...group, floor })),
        ),
      );
      return counted.flat().sort((one, other) => (one.groupId < other.groupId ? -1 : 1));
    });
  }

  override async members(groups: GroupToRead[], since: number): Promise<SyncMember[]> {
    return this.at((server) => this.membersIn({ ...server, reads: server.db }, groups, since, ALL));
  }

  override async membersPage({ groupId, floor }: GroupToRead, since: number, after: string): Promise<SyncMember[]> {
    return this.at(async ({ db }) => namedMembers(db, await pageOfMembers(db, { groupId, floor, since, after })));
  }

  private async membersIn({ reads }: Server, groups: Group[], since: number, most: number): Promise<SyncMember[]> {
    const found = await Promise.all(
      byFloor(groups).map(([floor, groupIds]) => membersAbove(reads, { groupIds, floor, since, most })),
    );
    return namedMembers(reads, found.flat());
  }

  /** Returns entries that have changed, or whose users have: all of them, or at least one more than `most`. */
  private async namedEntries(on: Source, asked: Record<Asked, unknown>, after: string, most: number) {
    const since = Number(asked.since);
    const changed: SyncBlacklistEntry[] = [];
    for (let last = after; changed.length <= most;) {
      const page = await entriesToName(on, { ...asked, after: last });
      changed.push(...(await named(on, page)).filter(({ version }) => version > since));
      if (page.length < CHUNK) break;
      last = page.at(-1)?.friendId ?? '';
    }
    return changed;
  }
}

const asGroup = ({ group_id, floor }: { group_id: string; floor: number }): Group => ({ groupId: group_id, floor });

function byFloor(groups: Group[]): [floor: number, groupIds: string[]][] {
  const floors = [...new Set(groups.map(({ floor }) => floor))];
  return floors.map((floor) => [floor, groups.filter((one) => one.floor === floor).map(({ groupId }) => groupId)]);
}

const NAMELESS = { nickname: '', portraitUri: '', version: 0 };

/** Adds the names of users, but not to ended rows. The version is that of the later change. */
async function named<Row extends SyncRelation & { status: unknown }>(on: Source, rows: Row[]): Promise<Row[]> {
  const holding = rows.filter(({ status }) => status !== false && status !== 30);
  const people = await peopleOf(
    on,
    holding.map(({ friendId }) => friendId),
  );
  return rows.map((row) => {
    const { nickname, portraitUri, version } = people.get(row.friendId) ?? NAMELESS;
    return { ...row, nickname, portraitUri, version: Math.max(row.version, version) };
  });
}

async function namedMembers(on: Source, rows: Unnamed[]): Promise<SyncMember[]> {
  const living = rows.filter(({ isDeleted }) => !isDeleted).map(({ memberId }) => memberId);
  const people = await peopleOf(on, [...new Set(living)]);
  return rows.map((row) => {
    const { nickname, portraitUri } = (row.isDeleted ? undefined : people.get(row.memberId)) ?? NAMELESS;
    return { ...row, nickname, portraitUri };
  });
}
