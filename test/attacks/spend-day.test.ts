import { insertPerson, type PhoneFields } from '../support/people';
import { inParallel } from '../support/calls';
import { stage } from '../support/stage';
import { playDay, usualPast } from './spend-day';

/** Addresses of the attacker. SPEND_DAY=1,10,100 plays whole days, and prints their rows for docs/abuse.md. */
const ADDRESSES = (process.env.SPEND_DAY ?? '').split(',').filter(Boolean).map(Number);
const DAY = 144;
const HOURS = 6;
/** A usual day has 1,008 users, and `npm run setup` allows three codes a day for each. */
const BUDGET = 3_024;
const PRICE = 0.05;

const limits = { SEND_CODE_PER_IP_HOUR: '200', SEND_CODE_PER_DAY: String(BUDGET) };
const { app } = stage({ env: { SPEND_GUARD: 'enforce', TRUST_PROXY: '1', ...limits }, eachTest: true });
beforeEach(() => usualPast(app));

describe('a stranger who asks for codes all day and types none in', () => {
  // guard spend-day-1: a network that verifies hardly any of its codes is refused
  // src/features/spend-guard/spend-guard.ts
  // - return alarmOfNetwork(network);
  // + return undefined;
  it('gets twenty sent from one address, and does not block other users of the country', async () => {
    const outcome = await playDay(app, { addresses: 1, steps: HOURS });
    expect(outcome).toEqual({ sentToAttacker: 20, usersServed: 7 * HOURS, usersRefused: 0 });
  });

  it('gets six more sent from one address to phones with an account', async () => {
    const accounts: PhoneFields[] = await inParallel(40, () => insertPerson(app));
    const outcome = await playDay(app, { addresses: 1, steps: HOURS, accounts });
    expect(outcome.sentToAttacker).toBeLessThanOrEqual(26);
    expect(outcome.usersRefused).toBe(0);
  });

  it('does not block other users from ten addresses', async () => {
    const outcome = await playDay(app, { addresses: 10, steps: HOURS });
    expect(outcome.sentToAttacker).toBeLessThanOrEqual(200);
    expect(outcome.usersRefused).toBe(0);
  });
});

if (ADDRESSES.length > 0)
  describe('an attack of a whole day', () => {
    const rows: string[] = [];
    afterAll(() => process.stdout.write(`\n${rows.join('\n')}\n`));

    it.each(ADDRESSES.flatMap((addresses) => [false, true].map((withAccounts) => ({ addresses, withAccounts }))))(
      'from $addresses addresses, to phones with an account: $withAccounts',
      async ({ addresses, withAccounts }) => {
        const accounts = withAccounts ? await inParallel(1_200, () => insertPerson(app)) : [];
        const { sentToAttacker, usersServed, usersRefused } = await playDay(app, { addresses, steps: DAY, accounts });
        const refused = ((100 * usersRefused) / (usersServed + usersRefused)).toFixed(1);
        const cost = (sentToAttacker * PRICE).toFixed(0);
        rows.push(`| ${addresses} | ${withAccounts ? 'yes' : 'no'} | ${sentToAttacker} | ${cost} | ${refused} % |`);
        expect(sentToAttacker).toBeLessThanOrEqual(BUDGET);
      },
      3_600_000,
    );
  });
