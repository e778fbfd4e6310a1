import type { Command } from './command';
import { MOST_ROWS } from './lookups';
import { eventRows } from './rows';
import { userIn } from './who';

export const AUDIT: Command[] = [
  {
    name: 'audit tail',
    takes: '[event]',
    what: 'shows the newest security events, of one kind or of all',
    scope: 'read',
    run: async (context, { words: [event = ''] }) => ({
      events: eventRows(await context.support.newestEvents(event, MOST_ROWS)),
    }),
  },
  {
    name: 'audit search',
    takes: '<user>',
    what: 'shows the newest security events of a user',
    scope: 'read',
    run: async (context, { words: [who = ''] }) => {
      const { id } = await userIn(context, who);
      return { events: eventRows(await context.support.eventsOfUser(id, MOST_ROWS)) };
    },
  },
];
