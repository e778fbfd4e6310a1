import { hash } from 'bcrypt';
import type { Knex } from 'knex';
import { demoServices, type DemoServices } from '../composition/demo-services';
import type { FriendshipsService } from '../features/friendships/friendships-service';
import { ALWAYS, OperatorError, type Command } from './command';
import { phoneIn } from './who';

/**
 * Demo users for a new installation. Friendships and groups are made by the operations; the users are written directly,
 * since they would need codes.
 */
export const DEMO: Command = {
  name: 'demo',
  takes: '[phone]',
  what: 'adds demo users, friends and groups on a machine of a developer, for all accounts or for one phone',
  scope: 'admin',
  isLocal: true,
  isForDevelopment: true,
  changes: ALWAYS,
  run: async ({ services }, { words: [phone], options }) => {
    const number = phone === undefined ? undefined : phoneIn(phone).number;
    if (options.dryRun) return { 'would add': [`${NAMES.length} demo users and ${GROUPS.length} groups`] };
    return { 'demo users': report(await addDemoData((await services()).connections.db, number)) };
  },
};

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

type Meeting = (friendships: FriendshipsService, mine: string, theirs: string) => Promise<void>;

const idOf = (index: number) => `demo-user-${String(index + 1).padStart(2, '0')}`;
const phoneOf = (index: number) => `+4474000001${String(index + 1).padStart(2, '0')}`;

/** Introduces the account of a phone, or all accounts except the demo users. Returns their number. */
export async function addDemoData(db: Knex, phone?: string): Promise<number> {
  const accounts = await accountsToMeet(db, phone);
  const services = demoServices(db);
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
  if (found.length === 0) throw new OperatorError(`${phone} has no account yet: register it first`);
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
  { groups, memberships }: DemoServices,
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
async function meet(db: Knex, { friendships }: DemoServices, account: string, from: number): Promise<void> {
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

function report(accounts: number): string[] {
  const others = accounts === 1 ? '1 other account' : `${accounts} other accounts`;
  return [
    `${NAMES.length} demo users, phones ${phoneOf(0)} to ${phoneOf(NAMES.length - 1)}: sign in by the password ${PASSWORD}, or by a code`,
    `They are friends, or asked to be, and share ${GROUPS.length} groups, among themselves and with ${others}.`,
    'Try POST /user/groups, /user/sync/0 and /user/blacklist, with your session or with that of a demo user.',
    ...(accounts === 0 ? ['Once you have registered, run this again.'] : []),
  ];
}
