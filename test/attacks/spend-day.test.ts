import { amount } from '../support/amounts';
import { startSiteverifyStandIn, type SiteverifyStandIn } from '../support/stand-ins/siteverify';
import { insertPerson, type PhoneFields } from '../support/people';
import { inParallel } from '../support/calls';
import { instancesBeside } from '../support/instances';
import { stage } from '../support/stage';
import { anywhere, oneIPv6Prefix, playDay, usualPast, type Served } from './spend-day';

/** Networks of the attacker. SPEND_DAY=1,10,ipv6 plays whole days, and prints their rows for docs/abuse.md. */
const NETWORKS = (process.env.SPEND_DAY ?? '').split(',').filter(Boolean);
const HOURS = amount(4, 2);
/** A usual day has 1,008 users, and `npm run setup` allows three codes a day for each. */
const BUDGET = 3_024;
const PRICE = 0.05;
/** Hours of a whole day. Playing takes minutes, and the budget begins again after 24 hours. */
const DAY = 23;

const limits = { SEND_CODE_PER_IP_HOUR: '200', SEND_CODE_PER_DAY: String(BUDGET) };
const env = { SPEND_GUARD: 'enforce', TRUST_PROXY: '1', ...limits };
let provider: SiteverifyStandIn;
beforeEach(async () => {
  provider = await startSiteverifyStandIn();
});
afterEach(() => provider.close());
const { app } = stage({ env, eachTest: true });
beforeEach(() => usualPast(app));
afterEach(() => jest.restoreAllMocks());

const beside = instancesBeside(() => app, env);
/** An instance with a captcha provider. */
const withCaptchas = () => {
  const { siteKey, secretKey, verifyUrl } = provider;
  const keys = { CAPTCHA_SITE_KEY: siteKey, CAPTCHA_SECRET_KEY: secretKey, CAPTCHA_VERIFY_URL: verifyUrl };
  return beside({ CAPTCHA_PROVIDER: 'turnstile', ...keys });
};
const captcha = () => ({ verifyId: provider.siteKey, verifyCode: provider.token() });

describe('a stranger who asks for codes all day and types none in', () => {
  // guard spend-day-1: a network that verifies hardly any of its codes is refused
  // src/features/spend-guard/spend-guard.ts
  // - .map(alarmOfNetwork)
  // + .map(() => undefined)
  it('gets twenty sent from one address, and does not block other users of the country', async () => {
    const outcome = await playDay(app, { networks: 1, hours: HOURS });
    expect(outcome).toMatchObject({ sentToAttacker: 20, users: { refused: 0 }, newcomers: { refused: 0 } });
  });

  it('gets six more sent from one address to phones with an account', async () => {
    const accounts: PhoneFields[] = await inParallel(40, () => insertPerson(app));
    const outcome = await playDay(app, { networks: 1, hours: HOURS, accounts });
    expect(outcome.sentToAttacker).toBeLessThanOrEqual(26);
    expect(outcome.users.refused).toBe(0);
  });

  it('does not block other users from ten addresses', async () => {
    const outcome = await playDay(app, { networks: 10, hours: HOURS });
    expect(outcome.sentToAttacker).toBeLessThanOrEqual(200);
    expect(outcome.users.refused).toBe(0);
  });

  // guard spend-day-2: IPv6 is also judged by /40 and /32
  // src/features/spend-guard/sms-traffic-repository.ts
  // - isKnown || !around
  // + isKnown || around
  it('gets twenty sent from all networks of one IPv6 prefix, and does not block users', async () => {
    const outcome = await playDay(app, { networks: 4_096, at: oneIPv6Prefix, hours: HOURS });
    expect(outcome).toMatchObject({ sentToAttacker: 20, users: { refused: 0 }, newcomers: { refused: 0 } });
  });

  // guard spend-day-3: half of the share of an alarm is for networks that have verified a code in the last fortnight
  // src/features/spend-guard/spend-guard.ts
  // - [...(isKnown ? ['known' as const] : [])
  // + [...(isKnown ? [] : [])
  it('does not block users of networks that have verified before, from three thousand networks', async () => {
    const { users, newcomers } = await playDay(app, { networks: 3_000, hours: HOURS });
    expect(users.refused).toBe(0);
    expect(newcomers.refused).toBeGreaterThan(0);
  });

  // guard spend-day-4: a quarter of the share of an alarm is for solved captchas
  // src/features/spend-guard/spend-guard.ts
  // - ...(captcha === 'solved' ? ['captcha' as const] : [])
  it('does not block newcomers who solve a captcha of a provider, from three thousand networks', async () => {
    const { users, newcomers } = await playDay(await withCaptchas(), { networks: 3_000, hours: HOURS, captcha });
    expect({ users, newcomers }).toMatchObject({ users: { refused: 0 }, newcomers: { refused: 0 } });
  });
});

if (NETWORKS.length > 0)
  describe('an attack of a whole day', () => {
    const rows: string[] = [];
    afterAll(() => process.stdout.write(`\n${rows.join('\n')}\n`));

    it.each(NETWORKS.flatMap((networks) => (['nobody', 'users', 'both'] as const).map((who) => ({ networks, who }))))(
      'from networks: $networks, captchas are solved by: $who',
      async ({ networks, who }) => {
        const isIPv6 = networks === 'ipv6';
        const from = isIPv6 ? { networks: 4_096, at: oneIPv6Prefix } : { networks: Number(networks), at: anywhere };
        const solving = who === 'nobody' ? {} : { captcha, solves: who === 'both' };
        const played = await playDay(who === 'nobody' ? app : await withCaptchas(), {
          ...from,
          ...solving,
          hours: DAY,
        });
        const { sentToAttacker, captchasOfAttacker, users, newcomers } = played;
        const cost = (sentToAttacker * PRICE).toFixed(0);
        const counts = [sentToAttacker, cost, captchasOfAttacker, refusedOf(users), refusedOf(newcomers)];
        rows.push(`| ${networks} | ${who} | ${counts.join(' | ')} |`);
        expect(sentToAttacker).toBeLessThanOrEqual(BUDGET);
      },
      3_600_000,
    );
  });

function refusedOf({ served, refused }: Served): string {
  return `${((100 * refused) / (served + refused)).toFixed(1)} %`;
}
