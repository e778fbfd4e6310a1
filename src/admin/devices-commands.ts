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
    run: async (at, { words: [who = ''], options }) => {
      const { id } = await openUserIn(at, who);
      const ended = await at.reads.sessionsOf(id);
      if (!options.dryRun) await (await at.services()).account.forgetDevices(id, at.caller);
      return { [options.dryRun ? 'would end' : 'ended']: ended.map(sessionRow) };
    },
  },
];
