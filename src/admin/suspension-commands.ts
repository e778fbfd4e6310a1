import { withoutPhones } from '../features/phones/phone-number';
import { ALWAYS, OperatorError, type Command } from './command';
import { userIn } from './who';

export const SUSPENSION: Command[] = [
  {
    name: 'users suspend',
    takes: '<user> [reason]',
    what: 'signs a user out everywhere and refuses logins; friends and groups see no difference',
    scope: 'support',
    changes: ALWAYS,
    run: async (context, { words: [who = '', reason], options }) => {
      if (reason !== undefined && withoutPhones(reason) !== reason)
        throw new OperatorError(
          'the reason contains a phone number: leave it out, since the audit trail keeps the reason',
        );
      const { id, nickname, state } = await userIn(context, who);
      const sessions = (await context.reads.sessionsOf(id)).length;
      const isDone = options.dryRun
        ? state === 'open'
        : await (await context.services()).suspension.suspend(id, reason, context.caller);
      if (!isDone)
        throw new OperatorError(`${who}: nothing was changed, the account is suspended already or is closed`);
      return { [options.dryRun ? 'would suspend' : 'suspended']: [{ id, nickname, sessions }] };
    },
  },
  {
    name: 'users restore',
    takes: '<user>',
    what: 'lets a suspended user log in again',
    scope: 'support',
    changes: ALWAYS,
    run: async (context, { words: [who = ''], options }) => {
      const { id, nickname, state } = await userIn(context, who);
      const isDone = options.dryRun
        ? state === 'suspended'
        : await (await context.services()).suspension.restore(id, context.caller);
      if (!isDone) throw new OperatorError(`${who}: nothing was changed, the account is not suspended`);
      return { [options.dryRun ? 'would restore' : 'restored']: [{ id, nickname }] };
    },
  },
];
