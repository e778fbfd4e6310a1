import type { Limits } from '../load/limits';
import type { Context } from './command';

/** The day's budget of messages: how much of it is used, until when it counts, and who is refused by now. */
export interface Budget {
  used: number;
  amount: number;
  /** Undefined before the first message. */
  ends: string | undefined;
  refused: string | undefined;
}

export async function budgetOf({ support, config }: Pick<Context, 'support' | 'config'>): Promise<Budget | undefined> {
  const { amount, name } = config.limits.sendInAll;
  if (amount === 0) return undefined;
  const [found] = await support.limitsOf('all', [name]);
  const used = found?.used ?? 0;
  return { used, amount, ends: found?.ends, refused: refusedAt(used, config.limits) };
}

function refusedAt(used: number, limits: Limits): string | undefined {
  if (used >= limits.sendInAll.amount) return 'everybody';
  if (used >= limits.sendInAllFromElsewhere.amount) return 'all but owners at known places';
  if (used >= limits.sendInAllOfNewNetworks.amount) return 'new users of networks that have verified no code lately';
  if (used >= limits.sendInAllBehind.amount) return 'new users of networks that verify few of their codes';
  return undefined;
}
