import { hash } from 'bcrypt';
import type { Knex } from 'knex';
import { databaseUrl } from '../knexfile';
import { isMigrated } from '../src/database/migrations';
import { connectionOptions, knexFor } from '../src/database/pool';
import { codeOf } from '../src/errors';
import { readPhone } from '../src/features/phones/phone-number';

/** npm run demo-data [region phone]: somebody to meet in a new installation. Run again, it adds what is missing. */

const PASSWORD = 'demopassword';
const NAMES = [
  ...['Ada', 'Ben', 'Cleo', 'Dov', 'Edda', 'Finn', 'Gita', 'Hugo', 'Ines', 'Jan'],
  ...['Kim', 'Luca', 'Mira', 'Nils', 'Olga', 'Pia', 'Quin', 'Rosa', 'Sven', 'Tara'],
];
/** The first of the members is the creator, the second a manager. */
const GROUPS = [
  { id: 'demo-hikers', name: 'Hikers', members: [0, 1, 2, 3, 4, 5, 6], roleOfOthers: 1 },
  { id: 'demo-readers', name: 'Readers', members: [3, 4, 5, 10, 11], roleOfOthers: 2 },
  { id: 'demo-cooks', name: 'Cooks', members: [12, 13, 14, 15, 16, 17, 18, 19], roleOfOthers: 1 },
];
/** The state of a friendship as its two sides see it: friends, requested of me, requested by me, ignored, deleted. */
const FRIENDSHIPS: [mine: number, theirs: number][] = [
  ...Array<[number, number]>(6).fill([20, 20]),
  [11, 10],
  [10, 11],
  [21, 10],
  [30, 30],
];

const idOf = (index: number) => `demo-user-${String(index + 1).padStart(2, '0')}`;
const phoneOf = (index: number) => `+4474000001${String(index + 1).padStart(2, '0')}`;

/** Returns how many accounts have been made acquainted: the one of a phone, or all that are no demo users. */
export async function addDemoData(db: Knex, phone?: string): Promise<number> {
  const accounts = await accountsToMeet(db, phone);
  const passwordHash = await hash(PASSWORD, 10);
  await db.transaction(async (trx) => {
    await addUsers(trx, passwordHash);
    await addGroups(trx, accounts);
    for (const account of accounts) await befriend(trx, account, 0);
    for (const index of NAMES.keys()) await befriend(trx, idOf(index), index + 1);
  });
  return accounts.length;
}

async function accountsToMeet(db: Knex, phone: string | undefined): Promise<string[]> {
  const accounts = db('users').whereNull('closed_at').whereNot('id', 'like', 'demo-user-%');
  if (phone === undefined) return accounts.pluck<string[]>('id');
  const found = await accounts.whereIn('id', db('phones').where({ phone }).select('user_id')).pluck<string[]>('id');
  if (found.length === 0) throw new Error(`${phone} has no account yet: register it first`);
  return found;
}

async function addUsers(trx: Knex, passwordHash: string): Promise<void> {
  const users = NAMES.map((nickname, index) => ({ id: idOf(index), nickname, password_hash: passwordHash }));
  const phones = NAMES.map((_, index) => ({ phone: phoneOf(index), region: '44', user_id: idOf(index) }));
  await trx('users').insert(users).onConflict('id').ignore();
  await trx('phones').insert(phones).onConflict('phone').ignore();
}

async function addGroups(trx: Knex, accounts: string[]): Promise<void> {
  for (const { id, name, members, roleOfOthers } of GROUPS) {
    const [creator = 0, manager] = members;
    await trx('groups')
      .insert({ id, name, creator_id: idOf(creator) })
      .onConflict('id')
      .ignore();
    const rows = members.map((member) => ({
      group_id: id,
      member_id: idOf(member),
      role: member === creator ? 0 : member === manager ? 2 : 1,
    }));
    const joining = accounts.map((account) => ({ group_id: id, member_id: account, role: roleOfOthers }));
    await trx('group_members')
      .insert([...rows, ...joining])
      .onConflict(['group_id', 'member_id'])
      .ignore();
  }
}

/** With the demo users from the given one on, as many as there are kinds of friendship. */
async function befriend(trx: Knex, account: string, from: number): Promise<void> {
  const rows = FRIENDSHIPS.slice(0, NAMES.length - from).flatMap(([mine, theirs], index) => {
    const demoUser = idOf(from + index);
    return [
      { user_id: account, friend_id: demoUser, status: mine },
      { user_id: demoUser, friend_id: account, status: theirs },
    ];
  });
  if (rows.length > 0) await trx('friendships').insert(rows).onConflict(['user_id', 'friend_id']).ignore();
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

if (require.main === module)
  main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`No demo data: ${messageOf(error)}\n`);
    process.exitCode = 1;
  });
