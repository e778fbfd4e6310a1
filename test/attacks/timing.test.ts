import { Passwords } from '../../src/features/auth/passwords';
import { amount } from '../support/amounts';
import { startApp, type TestApp } from '../support/app';
import { countCodes, deviceCookieOf, post, type Answer } from '../support/calls';
import { TestCluster } from '../support/clusters';
import { insertPerson, newPhone, type PhoneFields } from '../support/people';

const SAMPLES = amount(150, 150);
/** A cost at which hashing is most of the time that a login takes. */
const COST = 7;
/** A limit that is never reached, so that each login counts against every limit, as in production. */
const AMPLE = '1000000';

let cluster: TestCluster;
let app: TestApp;
beforeAll(async () => {
  // With the durability of production, on a slow disk, so that a difference in waiting for it shows.
  cluster = await TestCluster.start({ commit_delay: '3000', commit_siblings: '0' });
  app = await startApp(
    {
      BCRYPT_COST: String(COST),
      LOGIN_FAILURES_PER_PHONE_AND_IP: AMPLE,
      LOGIN_FAILURES_PER_PHONE_AND_IP_DAY: AMPLE,
      LOGIN_FAILURES_PER_PHONE_DAY: AMPLE,
      LOGIN_FAILURES_PER_IP: AMPLE,
      LOG_LEVEL: 'warn',
    },
    { databaseUrl: cluster.url },
  );
});
afterAll(async () => {
  await app.close();
  await cluster.remove();
});

async function personWithCost(cost: number): Promise<PhoneFields> {
  const { id, password, region, phone } = await insertPerson(app);
  await app
    .db('users')
    .where({ id })
    .update({ password_hash: await new Passwords(cost).hash(password) });
  return { region, phone };
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Returns how far a median of these values is off by chance, from their spread (median absolute deviation). */
function noise(values: number[]): number {
  const middle = median(values);
  return (1.4826 * 1.2533 * median(values.map((value) => Math.abs(value - middle)))) / Math.sqrt(values.length);
}

describe('the time of a refused login', () => {
  const noCookie = async () => '';
  const ownDevice = async () => deviceCookieOf(await post(app.api, '/user/login', await insertPerson(app)));

  // guard timing-1: a login takes the same time for an unknown phone as for a known one
  // src/features/auth/passwords.ts
  // - await this.bcrypt.compare(password, this.dummyHash(this.cost), address);
  // guard timing-2: a hash of a lower cost takes the time of the present cost
  // src/features/auth/passwords.ts
  // - cost < this.cost; cost += 1
  // + cost < 0; cost += 1
  // guard timing-3: a commit does not reveal by a refused login's time whether the phone has an account
  // src/features/auth/auth-service.ts
  // - audit.noteLoginFailed(phone, known?.id, caller);
  // +       const failure = { event: 'login_failed', userId: known?.id, phone, detail: 'login' } as const;
  // +       await (known ? audit.note(failure, caller) : audit.noteUpToLimit(failure, caller));
  it.each([
    ['', noCookie],
    [', tried from a device of the attacker', ownDevice],
  ])(
    `is the same for an unknown phone, a known one, and one hashed at a lower cost: ${SAMPLES} of each%s`,
    async (_how, cookieOf) => {
      const headers = { Cookie: await cookieOf() };
      const sides: Record<string, PhoneFields> = {
        unknown: newPhone(),
        known: await personWithCost(COST),
        older: await personWithCost(COST - 2),
      };
      const times: Record<string, number[]> = { unknown: [], known: [], older: [] };
      const answers: Answer[] = [];
      for (let sample = -20; sample < SAMPLES; sample += 1)
        for (const [side, phone] of Object.entries(sides)) {
          const begun = process.hrtime.bigint();
          answers.push(await post(app.api, '/user/login', { ...phone, password: 'wrong-one' }, headers));
          if (sample >= 0) times[side]?.push(Number(process.hrtime.bigint() - begun) / 1e6);
        }
      expect(countCodes(answers)).toEqual({ 1000: 3 * (SAMPLES + 20) });
      const { unknown = [], known = [], older = [] } = times;
      for (const side of [known, older]) {
        const tolerated = Math.max(0.05 * median(known), 4 * Math.hypot(noise(unknown), noise(side)));
        expect(Math.abs(median(side) - median(unknown))).toBeLessThan(tolerated);
      }
    },
    300_000,
  );
});
