import { hash } from 'bcrypt';
import type { Knex } from 'knex';
import { connect } from '../src/database';
import { databaseUrl } from '../knexfile';

/** npm run demo-data: somebody to meet in a new installation. Run again, it brings in whoever has registered since. */

const PASSWORD = 'demopassword';
const NAMES = [
  ...['Ada', 'Ben', 'Cleo', 'Dov', 'Edda', 'Finn', 'Gita', 'Hugo', 'Ines', 'Jan'],
  ...['Kim', 'Luca', 'Mira', 'Nils', 'Olga', 'Pia', 'Quin', 'Rosa', 'Sven', 'Tara'],
];
const GROUPS = [
  { id: 'demo-hikers', name: 'Hikers', members: [0, 1, 2, 3, 4, 5, 6] },
  { id: 'demo-readers', name: 'Readers', members: [3, 4, 5, 10, 11] },
  { id: 'demo-cooks', name: 'Cooks', members: [12, 13, 14, 15, 16, 17, 18, 19] },
];
/** The state of a friendship as its two sides see it: friends, asked by the demo user, asked by the other, ended. */
const FRIENDSHIPS: [mine: number, theirs: number][] = [
  ...Array<[number, number]>(6).fill([20, 20]),
  [11, 10],
  [10, 11],
  [21, 10],
  [30, 30],
];

const idOf = (index: number) => `demo-user-${String(index + 1).padStart(2, '0')}`;
const phoneOf = (index: number) => `+4474000001${String(index + 1).padStart(2, '0')}`;

/** Returns how many accounts that are no demo users were befriended. */
export async function addDemoData(db: Knex): Promise<number> {
  const passwordHash = await hash(PASSWORD, 10);
  return db.transaction(async (trx) => {
    await addUsers(trx, passwordHash);
    const accounts = await trx('users')
      .whereNull('closed_at')
      .whereNot('id', 'like', 'demo-user-%')
      .pluck<string[]>('id');
    await addGroups(trx, accounts);
    for (const account of accounts) await befriend(trx, account);
    return accounts.length;
  });
}

async function addUsers(trx: Knex, password_hash: string): Promise<void> {
  const users = NAMES.map((nickname, index) => ({ id: idOf(index), nickname, password_hash }));
  const phones = NAMES.map((_, index) => ({ phone: phoneOf(index), region: '44', user_id: idOf(index) }));
  await trx('users').insert(users).onConflict('id').ignore();
  await trx('phones').insert(phones).onConflict('phone').ignore();
}

/** Every account is a member of every group: its first member is the creator, its second a manager. */
async function addGroups(trx: Knex, accounts: string[]): Promise<void> {
  for (const { id, name, members } of GROUPS) {
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
    const joining = accounts.map((account) => ({ group_id: id, member_id: account, role: 1 }));
    await trx('group_members')
      .insert([...rows, ...joining])
      .onConflict(['group_id', 'member_id'])
      .ignore();
  }
}

async function befriend(trx: Knex, account: string): Promise<void> {
  const rows = FRIENDSHIPS.flatMap(([mine, theirs], index) => [
    { user_id: account, friend_id: idOf(index), display_name: '', status: mine },
    { user_id: idOf(index), friend_id: account, display_name: '', status: theirs },
  ]);
  await trx('friendships').insert(rows).onConflict(['user_id', 'friend_id']).ignore();
}

async function main(): Promise<void> {
  if (process.env.NODE_ENV === 'production') throw new Error('demo data is for development: NODE_ENV is production');
  const db = connect(databaseUrl(), 1);
  try {
    const accounts = await addDemoData(db);
    const people = accounts === 1 ? '1 account of yours is' : `${accounts} accounts of yours are`;
    process.stdout.write(
      [
        `${NAMES.length} demo users (${phoneOf(0)} to ${phoneOf(NAMES.length - 1)}, password ${PASSWORD}) in ${GROUPS.length} groups; ${people} with them.`,
        'Try POST /user/groups and /user/sync/0 with your session, or log in as one of them.',
        '',
      ].join('\n'),
    );
  } finally {
    await db.destroy();
  }
}

if (require.main === module)
  main().catch((error: unknown) => {
    process.stderr.write(`No demo data: ${error instanceof Error ? error.message : 'unknown error'}\n`);
    process.exitCode = 1;
  });
