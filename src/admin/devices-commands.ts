import { ALWAYS, type Command } from './command';
import { sessionRow } from './rows';
import { openUserIn } from './who';

export const DEVICES: Command[] = [
  {
    name: 'devices forget',
    takes: '<user>',
    what: 'signs a user out everywhere, and no longer favours the devices and addresses where the account was used',
    scope: 'support',
    changes: ALWAYS,
    run: async (context, { words: [who = ''], options }) => {
      const { id } = await openUserIn(context, who);
      const ended = await context.reads.sessionsOf(id);
      if (!options.dryRun) await (await context.services()).account.forgetDevices(id, context.caller);
      return { [options.dryRun ? 'would end' : 'ended']: ended.map(sessionRow) };
    },
  },
];
