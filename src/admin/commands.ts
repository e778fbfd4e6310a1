import type { SessionRow } from '../features/sessions/sessions-repository';
import { Mistake, type Command, type Row, type Workplace } from './command';
import { doctor } from './doctor';
import type { FoundEvent, FoundLimit } from './support-repository';
import { phoneIn, sessionsOf, userIn } from './who';
import { namesPer, why } from './why';

const MOST = 50;

/** Every command of operators. Help, docs/admin.md and the tests are made of this table. */
export const COMMANDS: Command[] = [
  {
    name: 'why',
    takes: '<phone>',
    what: 'tells why a number gets no code, or cannot log in',
    options: { '--fix': 'clears the limits of this number that are used up' },
    changes: ({ fix }) => fix === true,
    run: why,
  },
  {
    name: 'users show',
    takes: '<user>',
    what: 'shows an account, by its id or its phone (+447911123456)',
    run: async (at, { words: [who = ''] }) => {
      const { phones, ...user } = await userIn(at, who);
      return {
        user: [{ ...user, sessions: (await sessionsOf(at, user.id)).length, phones: phones.join(' ') }],
        'last events': events(await at.support.eventsOfUser(user.id, 15)),
      };
    },
  },
  {
    name: 'sessions list',
    takes: '<user>',
    what: 'lists where a user is signed in',
    run: async (at, { words: [who = ''] }) => {
      const { id } = await userIn(at, who);
      return { sessions: (await sessionsOf(at, id)).map(sessionRow) };
    },
  },
  {
    name: 'sessions end',
    takes: '<user> [session]',
    what: 'signs a user out everywhere, or ends one session by its id',
    changes: () => true,
    run: async (at, { words: [who = '', session], options }) => {
      const { id } = await userIn(at, who);
      const ended = (await sessionsOf(at, id)).filter((one) => session === undefined || one.id === session);
      if (session !== undefined && ended.length === 0) throw new Mistake(`${session}: the user has no such session`);
      for (const one of options.dryRun ? [] : ended) await at.services.sessions.end(id, one.id, at.caller);
      return { [options.dryRun ? 'would end' : 'ended']: ended.map(sessionRow) };
    },
  },
  {
    name: 'audit tail',
    takes: '[event]',
    what: 'shows the newest security events, of one kind or of all',
    run: async (at, { words: [event = ''] }) => ({ events: events(await at.support.newestEvents(event, MOST)) }),
  },
  {
    name: 'audit search',
    takes: '<user>',
    what: 'shows the newest security events of a user',
    run: async (at, { words: [who = ''] }) => {
      const { id } = await userIn(at, who);
      return { events: events(await at.support.eventsOfUser(id, MOST)) };
    },
  },
  {
    name: 'limits top',
    takes: '',
    what: 'shows the limits that are used up now, the most used first',
    run: async ({ support }) => ({ limits: (await support.fullestLimits(MOST)).map(limitRow) }),
  },
  {
    name: 'limits clear',
    takes: '<user>',
    what: 'clears all limits of a user or a phone',
    changes: () => true,
    run: async (at, { words: [who = ''], options }) => {
      const found = await limitsOf(at, who);
      for (const { key } of options.dryRun ? [] : found) await at.services.operators.clearLimit(key);
      return { [options.dryRun ? 'would clear' : 'cleared']: found.map(limitRow) };
    },
  },
  {
    name: 'spend today',
    takes: '',
    what: 'shows the codes of the last 24 hours by country, and how many were verified',
    run: async ({ support, config }) => {
      const rows = await support.spent(24);
      const sent = rows.reduce((sum, row) => sum + row.sent, 0);
      const budget = config.limits.sendInAll.amount;
      return {
        codes: rows.map(({ region, ...row }): Row => ({ region, ...row })),
        budget: [`${sent} codes, ${budget > 0 ? `of ${budget} a day` : 'without a budget'} (SEND_CODE_PER_DAY)`],
      };
    },
  },
  {
    name: 'doctor',
    takes: '',
    what: 'looks at settings, database, disk, clock, public address and codes: ok, or what to do',
    run: doctor,
  },
  {
    name: 'db status',
    takes: '',
    what: 'shows the version of the database, its size, migrations, transactions and standbys',
    run: async ({ support }) => {
      const { version, size, newestMigration, connections, oldestSeconds, standbys, mostDead } = await support.server();
      const rows = {
        'newest migration': newestMigration,
        connections,
        'oldest transaction, s': oldestSeconds,
        standbys,
      };
      return { database: [{ version, size, ...rows, 'most dead rows': mostDead }] };
    },
  },
];

/** Returns the limits of a phone, which may have no account, or of a user by its id. */
async function limitsOf(at: Workplace, who: string): Promise<FoundLimit[]> {
  const { support, config } = at;
  if (who.startsWith('+')) return support.limitsOf(phoneIn(who).number, namesPer(config.limits, 'phone'));
  const { id } = await userIn(at, who);
  return support.limitsOf(id, namesPer(config.limits, 'user'));
}

function limitRow({ limit, subject, used, amount, ends }: FoundLimit): Row {
  return { limit, subject, used, amount, ends };
}

function sessionRow({ id, createdAt, renewedAt, ip, userAgent }: SessionRow): Row {
  const [begun, renewed] = [createdAt, renewedAt].map((at) => new Date(at).toISOString());
  return { id, createdAt: begun, renewedAt: renewed, ip, userAgent };
}

function events(found: FoundEvent[]): Row[] {
  return found.map((event): Row => ({ ...event }));
}
