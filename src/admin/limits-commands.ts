import { ALWAYS, type Command, type Context } from './command';
import { MOST_ROWS } from './lookups';
import { limitRow } from './rows';
import type { FoundLimit } from './support-repository';
import { phoneIn, userIn } from './who';
import { namesPer } from './why';

export const LIMITS: Command[] = [
  {
    name: 'limits top',
    takes: '',
    what: 'shows the limits that are used up now, the most used first',
    scope: 'support',
    run: async ({ support }) => ({ limits: (await support.fullestLimits(MOST_ROWS)).map(limitRow) }),
  },
  {
    name: 'limits clear',
    takes: '<user>',
    what: 'clears all limits of a user or a phone',
    scope: 'support',
    changes: ALWAYS,
    run: async (context, { words: [who = ''], options }) => {
      const found = await limitsOf(context, who);
      for (const { key } of options.dryRun ? [] : found) await (await context.services()).limiter.clearBucket(key);
      return { [options.dryRun ? 'would clear' : 'cleared']: found.map(limitRow) };
    },
  },
];

/** Returns the limits of a phone, which may have no account, or of a user by its id. */
async function limitsOf(context: Context, who: string): Promise<FoundLimit[]> {
  const { support, config } = context;
  if (who.startsWith('+')) return support.limitsOf(phoneIn(who).number, namesPer(config.limits, 'phone'));
  const { id } = await userIn(context, who);
  return support.limitsOf(id, namesPer(config.limits, 'user'));
}
