import { hash } from 'bcrypt';
import type { Knex } from 'knex';
import { databaseUrl } from '../knexfile';
import { codeOf } from '../src/base/errors';
import { repositories } from '../src/composition/repositories';
import { isMigrated } from '../src/database/migrations';
import { connectionOptions, knexFor } from '../src/database/pool';
import { transactions } from '../src/database/transaction';
import { FriendshipsService } from '../src/features/friendships/friendships-service';
import { GroupsService } from '../src/features/groups/groups-service';
import { MembershipsService } from '../src/features/groups/memberships-service';
import { readPhone } from '../src/features/phones/phone-number';

/**
 * npm run demo-data [region phone]: adds demo users to a new installation, or what is missing of them. Friendships and
 * groups are made by the operations; the users are written directly, since they would need codes.
 */

const PASSWORD = 'demopassword';
const NAMES = 'Ada Ben Cleo Dov Edda Finn Gita Hugo Ines Jan Kim Luca Mira Nils Olga Pia Quin Rosa Sven Tara'.split(
  ' ',
);
/** The first of the members is the creator, the second a manager. */
const GROUPS = [
  { name: 'Hikers', members: [0, 1, 2, 3, 4, 5, 6], othersManage: false },
  { name: 'Readers', members: [3, 4, 5, 10, 11], othersManage: true },
  { name: 'Cooks', members: [12, 13, 14, 15, 16, 17, 18, 19], othersManage: false },
];
/** Each account meets the demo users in turn, the first one in the first way. */
const MEETINGS = [...Array<Meeting>(6).fill(becomeFriends), askedByThem, asking, ignoring, partAgain];

type Services = ReturnType<typeof servicesOn>;
type Meeting = (friendships: FriendshipsService, mine: string, theirs: string) => Promise<void>;

const idOf = (index: number) => `demo-user-${String(index + 1).padStart(2, '0')}`;
const phoneOf = (index: number) => `+4474000001${String(index + 1).padStart(2, '0')}`;

/** Returns services without limits on numbers. */
function servicesOn(db: Knex) {
  const repos = repositories(db);
  const transaction = transactions(db, repositories);
  const settings = { addFriendsOnly: false, joinable: true, maxMembers: 100_000, maxPerUser: 0, maxJoined: 0 };
  return {
    friendships: new FriendshipsService(repos.friendships, transaction, { friends: 0, requests: 0 }),
    groups: new GroupsService({ ...repos, transaction }, settings, { hosts: [], publicOnly: false }),
    memberships: new MembershipsService(repos.memberships, transaction, settings),
  };
}

/** Introduces the account of a phone, or all accounts except the demo users. Returns their number. */
export async function addDemoData(db: Knex, phone?: string): Promise<number> {
  const accounts = await accountsToMeet(db, phone);
  const services = servicesOn(db);
  await addUsers(db);
  for (const group of GROUPS) await addGroup(db, services, group, accounts);
  for (const account of accounts) await meet(db, services, account, 0);
  for (const index of NAMES.keys()) await meet(db, services, idOf(index), index + 1);
  return accounts.length;
}

async function accountsToMeet(db: Knex, phone: string | undefined): Promise<string[]> {
  const accounts = db('users').whereNull('closed_at').whereNot('id', 'like', 'demo-user-%');
  if (phone === undefined) return accounts.pluck<string[]>('id');
  const found = await accounts.whereIn('id', db('phones').where({ phone }).select('user_id')).pluck<string[]>('id');
  if (found.length === 0) throw new Error(`${phone} has no account yet: register it first`);
  return found;
}

async function addUsers(db: Knex): Promise<void> {
  const password_hash = await hash(PASSWORD, 10);
  const users = NAMES.map((nickname, index) => ({ id: idOf(index), nickname, password_hash }));
  const phones = NAMES.map((_, index) => ({ phone: phoneOf(index), region: '44', user_id: idOf(index) }));
  await db.transaction(async (trx) => {
    await trx('users').insert(users).onConflict('id').ignore();
    await trx('phones').insert(phones).onConflict('phone').ignore();
  });
}

async function addGroup(
  db: Knex,
  { groups, memberships }: Services,
  { name, members, othersManage }: (typeof GROUPS)[number],
  accounts: string[],
): Promise<void> {
  const [creator = '', manager = '', ...others] = members.map(idOf);
  const found = await db('groups').where({ name, creator_id: creator }).first<{ id: string } | undefined>('id');
  const id = found?.id ?? (await groups.create(creator, { name, memberIds: [manager, ...others] }));
  if (!found) await memberships.setManagers(id, creator, [manager]);
  // An account that has left is not added again.
  const known = await db('group_members').where({ group_id: id }).pluck<string[]>('member_id');
  for (const account of accounts.filter((one) => !known.includes(one))) {
    await memberships.join(id, account);
    if (othersManage) await memberships.setManagers(id, creator, [account]);
  }
}

/** Relates an account to the demo users from the given one on, one per kind of relation. */
async function meet(db: Knex, { friendships }: Services, account: string, from: number): Promise<void> {
  const known = await db('friendships').where({ user_id: account }).pluck<string[]>('friend_id');
  for (const [index, meeting] of MEETINGS.slice(0, NAMES.length - from).entries()) {
    const other = idOf(from + index);
    if (!known.includes(other)) await meeting(friendships, account, other);
  }
}

async function asking(friendships: FriendshipsService, mine: string, theirs: string): Promise<void> {
  await friendships.invite({ userId: mine, friendId: theirs }, 'Hello');
}

async function askedByThem(friendships: FriendshipsService, mine: string, theirs: string): Promise<void> {
  await asking(friendships, theirs, mine);
}

async function becomeFriends(friendships: FriendshipsService, mine: string, theirs: string): Promise<void> {
  await askedByThem(friendships, mine, theirs);
  await friendships.agree({ userId: mine, friendId: theirs });
}

async function ignoring(friendships: FriendshipsService, mine: string, theirs: string): Promise<void> {
  await askedByThem(friendships, mine, theirs);
  await friendships.ignore({ userId: mine, friendId: theirs });
}

async function partAgain(friendships: FriendshipsService, mine: string, theirs: string): Promise<void> {
  await becomeFriends(friendships, mine, theirs);
  await friendships.end({ userId: mine, friendId: theirs });
  await friendships.end({ userId: theirs, friendId: mine });
}

async function main([region, digits]: string[]): Promise<void> {
  if (process.env.NODE_ENV === 'production') throw new Error('it is for development, and NODE_ENV is production');
  const db = knexFor(connectionOptions(databaseUrl()));
  const ask = async (sql: string) => (await db.raw<{ rows: Record<string, unknown>[] }>(sql)).rows;
  try {
    if (!(await isMigrated(ask)))
      throw new Error('the database is empty or of an older version: npm run migrate first');
    const accounts = await addDemoData(db, phoneFrom(region, digits));
    process.stdout.write(`${report(accounts)}\n`);
  } finally {
    await db.destroy();
  }
}

function phoneFrom(region: string | undefined, digits: string | undefined): string | undefined {
  if (region === undefined) return undefined;
  const phone = digits === undefined ? undefined : readPhone(region, digits);
  if (!phone) throw new Error('usage: npm run demo-data [region phone], such as: npm run demo-data 44 7911123456');
  return phone.number;
}

function report(accounts: number): string {
  const others = accounts === 1 ? '1 other account' : `${accounts} other accounts`;
  return [
    `${NAMES.length} demo users, phones ${phoneOf(0)} to ${phoneOf(NAMES.length - 1)}, password ${PASSWORD}.`,
    `They are friends, or asked to be, and share ${GROUPS.length} groups, among themselves and with ${others}.`,
    'Try POST /user/groups, /user/sync/0 and /user/blacklist, with your session or with that of a demo user.',
    ...(accounts === 0 ? ['Once you have registered, run this again.'] : []),
  ].join('\n');
}

function messageOf(error: unknown): string {
  if (['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT'].includes(codeOf(error) ?? ''))
    return 'no database answers: run npm start in another terminal, or check DATABASE_URL';
  return error instanceof Error ? error.message : 'unknown error';
}

if (process.argv[1] === __filename)
  main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`No demo data: ${messageOf(error)}\n`);
    process.exitCode = 1;
  });
