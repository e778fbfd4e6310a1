import type { Command } from './command';
import { eventRows } from './rows';
import { sessionsOf, userIn } from './who';

export const USERS: Command[] = [
  {
    name: 'users show',
    takes: '<user>',
    what: 'shows an account, by its id or its phone (+447911123456)',
    scope: 'read',
    run: async (at, { words: [who = ''] }) => {
      const { phones, ...user } = await userIn(at, who);
      return {
        user: [{ ...user, sessions: (await sessionsOf(at, user.id)).length, phones: phones.join(' ') }],
        'last events': eventRows(await at.support.eventsOfUser(user.id, 15)),
      };
    },
  },
];
