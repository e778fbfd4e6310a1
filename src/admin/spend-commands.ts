import { budgetOf, type Budget } from './budget';
import { OperatorError, type Command, type Row } from './command';

/** Days for which the service keeps the traffic of codes. */
const MOST_DAYS = 15;

export const SPEND: Command[] = [
  {
    name: 'spend today',
    takes: '',
    what: 'shows the codes of the last 24 hours by country, and how many were verified',
    scope: 'read',
    run: async (context) => ({
      codes: (await context.support.spent(24)).map(({ region, ...row }): Row => ({ region, ...row })),
      budget: [budgetText(await budgetOf(context))],
    }),
  },
  {
    name: 'spend by-country',
    takes: '[days]',
    what: 'shows the codes of the last 7 days, or of another number of days, by country',
    scope: 'read',
    run: async ({ support }, { words: [given = '7'] }) => {
      const rows = await support.spent(24 * daysIn(given));
      return {
        codes: rows.map(({ region, sent, verified }): Row => ({
          region,
          sent,
          verified,
          share: shareOf(verified, sent),
        })),
      };
    },
  },
];

function budgetText(budget: Budget | undefined): string {
  if (!budget) return 'none (SEND_CODE_PER_DAY)';
  const { used, amount, ends } = budget;
  return `${used} of ${amount} messages, notices included (SEND_CODE_PER_DAY)${ends ? `, until ${ends}` : ''}`;
}

function daysIn(text: string): number {
  const days = Number(text);
  if (!/^\d+$/.test(text) || days < 1 || days > MOST_DAYS)
    throw new OperatorError(`${text}: is not a number of days from 1 to ${MOST_DAYS}`);
  return days;
}

/** A network's codes that were not counted as sent can be verified, which makes more than all. */
export function shareOf(verified: number, sent: number): string {
  return sent === 0 ? '' : `${Math.min(100, Math.round((100 * verified) / sent))} %`;
}
