import { ALWAYS, OperatorError, type Command } from './command';
import { sessionRow } from './rows';
import { userIn } from './who';

export const SESSIONS: Command[] = [
  {
    name: 'sessions list',
    takes: '<user>',
    what: 'lists where a user is signed in',
    scope: 'read',
    run: async (context, { words: [who = ''] }) => {
      const { id } = await userIn(context, who);
      return { sessions: (await context.reads.sessionsOf(id)).map(sessionRow) };
    },
  },
  {
    name: 'sessions end',
    takes: '<user> [session]',
    what: 'signs a user out everywhere, or ends one session by its id',
    scope: 'support',
    changes: ALWAYS,
    run: async (context, { words: [who = '', session], options }) => {
      const { id } = await userIn(context, who);
      const ended = (await context.reads.sessionsOf(id)).filter((one) => session === undefined || one.id === session);
      if (session !== undefined && ended.length === 0)
        throw new OperatorError(`${session}: the user has no such session`);
      for (const one of options.dryRun ? [] : ended)
        await (await context.services()).sessions.end(id, one.id, context.caller);
      return { [options.dryRun ? 'would end' : 'ended']: ended.map(sessionRow) };
    },
  },
];
