import { groupsEver, NO_GROUPS } from '../../database/groups-ever';
import { statement, type Source } from '../../database/statement';
import type { Role } from '../groups/roles';
import { joinNames, NAMES, peopleOf } from '../users/names';
import type { Names } from '../users/profile';
import { CHUNK, FEW, NAMELESS, type Asked, type Asking } from './sync-relations';

export interface SyncMembership {
  displayName: string;
  role: Role;
  isDeleted: boolean;
  groupId: string;
  groupName: string;
  groupPortraitUri: string;
  groupVersion: number;
}

export type FoundMembership = SyncMembership & { hasEnded: boolean };

export interface SyncMember {
  groupId: string;
  memberId: string;
  displayName: string;
  role: Role;
  isDeleted: boolean;
  version: number;
  nickname: string;
  portraitUri: string;
}

/** A group with members to deliver: those whose version is above `floor`, about `expected` of them. */
export interface GroupToRead {
  groupId: string;
  floor: number;
  expected: number;
}

export const endedKey = ({ groupVersion, groupId }: SyncMembership) => `${groupVersion}|${groupId}`;

/** A dismissed group has no members, even before all their rows say so. */
const IS_OUT = 'g.dismissed_at IS NOT NULL';

/** Memberships of `groupsEver`. */
const AMONG = 'AND group_id = ANY (:groupIds::text[])';

/** Ended memberships. A client that may hold the row learns that it has ended, and nothing else about the group. */
const ENDED = `
  SELECT display_name AS "displayName", role, true AS "isDeleted", group_id AS "groupId",
         '' AS "groupName", '' AS "groupPortraitUri", version AS "groupVersion", true AS "hasEnded"
    FROM group_members
   WHERE member_id = :userId AND is_deleted AND version > :since AND :since::bigint > 0`;

/**
 * The user's own memberships. A present one is sent when it or its group has changed. Ended ones have an index of their
 * own, since their number is not limited. One row more than a chunk shows that there are many.
 */
export const MEMBERSHIPS = `
  ${presentMemberships('CROSS JOIN LATERAL (SELECT * FROM groups WHERE id = me.group_id OFFSET 0) g')}
   UNION ALL (${ENDED} ORDER BY member_id, version LIMIT ${CHUNK + 1})`;

function presentMemberships(joinGroups: string): string {
  return `
    SELECT me.display_name AS "displayName", me.role, ${IS_OUT} AS "isDeleted", g.id AS "groupId",
           CASE WHEN ${IS_OUT} THEN '' ELSE g.name END AS "groupName",
           CASE WHEN ${IS_OUT} THEN '' ELSE g.portrait_uri END AS "groupPortraitUri", g.version AS "groupVersion",
           false AS "hasEnded"
      FROM group_members me ${joinGroups}
     WHERE me.member_id = :userId AND NOT me.is_deleted AND (me.version > :since OR g.version > :since)
       AND (:since::bigint > 0 OR NOT ${IS_OUT})`;
}

/** Ordered like the index. A row written at the same time moves to a later page. Not prepared, like members' pages. */
export const pageOfEnded = statement<SyncMembership, Asked | 'groupIds' | 'afterVersion' | 'afterId'>(
  'sync-page-of-ended-memberships',
  pageOf(ENDED),
  { prepared: false, distributed: pageOf(`${ENDED} ${AMONG}`) },
);

function pageOf(memberships: string): string {
  return `${memberships} AND (version, group_id) > (:afterVersion::bigint, :afterId)
    ORDER BY member_id, version, group_id LIMIT ${CHUNK}`;
}

/**
 * Finds all members of groups joined after :since, and members of other groups that changed after :since. Leaves out
 * dismissed groups whose memberships are being ended, since there may be many.
 */
const GROUPS_OF_USER = `
  SELECT group_id, CASE WHEN joined_version > :since::bigint THEN -1::bigint ELSE :since::bigint END AS floor
    FROM group_members me
   WHERE member_id = :userId AND NOT is_deleted
     AND NOT EXISTS (SELECT FROM group_dismissals WHERE group_id = me.group_id)`;

const MINE = `(${GROUPS_OF_USER} OFFSET 0)`;

/** Columns of a row `m`. A tombstone shows nothing else: former members no longer share a group with its members. */
const MEMBER = `
  m.group_id AS "groupId", m.member_id AS "memberId", CASE WHEN m.is_deleted THEN '' ELSE m.display_name END AS "displayName",
  CASE WHEN m.is_deleted THEN 1 ELSE m.role END AS role, m.is_deleted AS "isDeleted", m.version`;

/** Tombstones are for a client that holds the row: newer than :since, and a client that holds nothing gets none. */
const IS_FOR_CLIENT = '(NOT is_deleted OR (version > :since::bigint AND :since::bigint > 0))';

/** Each OFFSET 0 prevents a hash join over all users after a bad estimate. */
function membersOf(groups: string, page = ''): string {
  return `
    SELECT ${MEMBER}, ${NAMES}
      FROM ${groups} AS mine (group_id, floor)
     CROSS JOIN LATERAL (
       SELECT * FROM group_members
        WHERE group_id = mine.group_id AND version > mine.floor AND ${IS_FOR_CLIENT}
        ${page} OFFSET 0) m
      ${joinNames('m.member_id', 'NOT m.is_deleted')}`;
}

/** Reads one row more than FEW, which shows that there are many. */
export const FEW_MEMBERS = `${membersOf(MINE)} LIMIT ${FEW + 1}`;

/** Counts at most a chunk of members, so that a large group is counted as quickly as a small one. */
export const groupsToRead = statement<GroupToRead, Asked>(
  'sync-groups-to-read',
  `SELECT mine.group_id AS "groupId", mine.floor, members.expected
     FROM ${MINE} mine
    CROSS JOIN LATERAL (SELECT count(*) AS expected
                          FROM (SELECT FROM group_members m WHERE m.group_id = mine.group_id AND m.version > mine.floor
                                 LIMIT ${CHUNK + 1}) counted) members
    WHERE members.expected > 0
    ORDER BY mine.group_id`,
  { prepared: false, distributed: countEach },
);

export const membersOfGroups = statement<SyncMember, 'groupIds' | 'floors' | 'since'>(
  'sync-members-of-groups',
  membersOf('unnest(:groupIds::text[], :floors::bigint[])'),
  { prepared: false, distributed: (on, groups: Groups & { since: number }) => membersIn(on, groups, ALL) },
);

/** Not prepared: PostgreSQL then plans for the group's size, and reads one page of it instead of all. */
export const pageOfMembers = statement<SyncMember, 'groupId' | 'floor' | 'since' | 'after'>(
  'sync-page-of-members',
  membersOf('(SELECT :groupId::text, :floor::bigint)', `AND member_id > :after ORDER BY member_id LIMIT ${CHUNK}`),
  { prepared: false, distributed: async (on, asked) => withNames(on, await pageOfUnnamed(on, asked)) },
);

/** On several servers: memberships first, then the members of each group, then their names. */
const present = statement<FoundMembership, Asked | 'groupIds'>(
  'sync-present-memberships',
  `${presentMemberships('JOIN groups g ON g.id = me.group_id')} ${AMONG}`,
  { prepared: false },
);

const ended = statement<FoundMembership, Asked | 'groupIds'>(
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

const countsAbove = statement<Omit<GroupToRead, 'floor'>, 'groupIds' | 'floor'>(
  'sync-counts-above',
  `SELECT m.group_id AS "groupId", least(count(*), ${CHUNK + 1}) AS expected ${FROM_GROUPS} GROUP BY m.group_id`,
  { prepared: false },
);

const pageOfUnnamed = statement<Unnamed, 'groupId' | 'floor' | 'since' | 'after'>(
  'sync-page-of-members-to-name',
  `SELECT ${MEMBER} FROM group_members m
    WHERE group_id = :groupId AND version > :floor::bigint AND ${IS_FOR_CLIENT} AND member_id > :after
    ORDER BY member_id LIMIT ${CHUNK}`,
  { prepared: false },
);

/** More than a group of any size has. */
const ALL = 2_147_483_647;

interface Groups {
  groupIds: string[];
  /** The floor of each. */
  floors: number[];
}

/** Returns what `MEMBERSHIPS` and `FEW_MEMBERS` find, where users and groups are on several servers. */
export async function membershipsAndMembers(on: Source, asked: Asking) {
  const groupIds = await groupsEver(on, asked.userId);
  if (groupIds === NO_GROUPS) return { groups: [], members: [] };
  const among = { ...asked, groupIds };
  const few = ownGroups(on, among).then((rows) => membersIn(on, { ...asked, ...groupsOf(rows) }, FEW + 1));
  const [living, over, members] = await Promise.all([present(on, among), ended(on, among), few]);
  return { groups: [...living, ...over], members };
}

async function countEach(on: Source, asked: Asking): Promise<GroupToRead[]> {
  const groups = groupsOf(await ownGroups(on, { ...asked, groupIds: await groupsEver(on, asked.userId) }));
  const counted = await Promise.all(
    byFloor(groups).map(async (one) => (await countsAbove(on, one)).map((group) => ({ ...group, floor: one.floor }))),
  );
  return counted.flat().sort((one, other) => (one.groupId < other.groupId ? -1 : 1));
}

async function membersIn(on: Source, asked: Groups & { since: number }, most: number): Promise<SyncMember[]> {
  const { since } = asked;
  const found = await Promise.all(byFloor(asked).map((groups) => membersAbove(on, { ...groups, since, most })));
  return withNames(on, found.flat());
}

function groupsOf(rows: { group_id: string; floor: number }[]): Groups {
  return { groupIds: rows.map(({ group_id }) => group_id), floors: rows.map(({ floor }) => floor) };
}

function byFloor({ groupIds, floors }: Groups): { floor: number; groupIds: string[] }[] {
  const having = (floor: number) => groupIds.filter((_, index) => floors[index] === floor);
  return [...new Set(floors)].map((floor) => ({ floor, groupIds: having(floor) }));
}

async function withNames(on: Source, rows: Unnamed[]): Promise<SyncMember[]> {
  const living = rows.filter(({ isDeleted }) => !isDeleted).map(({ memberId }) => memberId);
  const people = await peopleOf(on, [...new Set(living)]);
  return rows.map((row) => {
    const { nickname, portraitUri } = (row.isDeleted ? undefined : people.get(row.memberId)) ?? NAMELESS;
    return { ...row, nickname, portraitUri };
  });
}
