import type { Command, Row } from './command';

export const SPEND: Command[] = [
  {
    name: 'spend today',
    takes: '',
    what: 'shows the codes of the last 24 hours by country, and how many were verified',
    scope: 'read',
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
];
