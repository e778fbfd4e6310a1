import { availableParallelism } from 'node:os';
import { tokenHash } from '../../../src/base/secrets';
import type { TestApp } from '../../support/app';
import {
  cookieOf,
  countCodes,
  deviceCookieOf,
  expectBody,
  expectRefusal,
  post,
  retryAfterOf,
  inParallel,
  type Answer,
} from '../../support/calls';
import { Gate } from '../../support/gate';
import { watchHashing } from '../../support/hashing';
import { instancesBeside } from '../../support/instances';
import { e164, insertAndSignIn, insertPerson, newPassword, newPhone, type PhoneFields } from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { watchStatements } from '../../support/statements';
import { until } from '../../support/until';

const { app } = stage();
afterEach(async () => {
  jest.restoreAllMocks();
  await app.db('rate_limits').delete();
});

const instance = instancesBeside(() => app, { TRUST_PROXY: 'loopback' });

const from = (address: string) => ({ 'X-Forwarded-For': address });
const [ATTACKER, HOME] = ['203.0.113.66', '198.51.100.9'];
const QUARTER = (25 * Math.min(8, 2 * availableParallelism())) / 4;

const login = (on: TestApp, { region, phone }: PhoneFields, password: string, address: string) =>
  post(on.api, '/user/login', { region, phone, password }, from(address));

let tokens = 0;

/** Inserts a token directly, for tests that need many. */
async function insertToken(phone: PhoneFields): Promise<string> {
  const token = rememberSecret(`token-of-a-test-${(tokens += 1)}`);
  const expires_at = app.db.raw(`now() + interval '10 minutes'`);
  const row = { token_hash: tokenHash(token), phone: e164(phone), region: '44', expires_at };
  await app.db('verification_tokens').insert(row);
  return token;
}

/**
 * Holds logins with these phones until `end` is called. They stop right before the comparison, at the look-up of the
 * account. They occupy no connection.
 */
function slowLogins(phones: Set<string>) {
  const gate = new Gate();
  const isSlow = (values: string) => [...phones].some((phone) => values.includes(`"${phone}"`));
  const asked = watchStatements('SELECT user_id AS "userId" FROM phones', {
    beforeAnswer: ({ values }) => (isSlow(values) ? gate.wait() : Promise.resolve()),
  });
  return { begun: () => asked.sent.filter(({ values }) => isSlow(values)).length, end: () => gate.open() };
}

describe('passwords from one address', () => {
  // guard login-storms-2: one address fills at most a quarter of the hashing queue
  // src/load/queues.ts
  // - per: 'address', share: hashes / 4,
  // + per: 'address', share: Infinity,
  // guard login-storms-3: an IPv6 network fills at most half of the hashing queue
  // src/base/networks.ts
  // - Math.min(times, MOST_TIMES)
  // + times
  // guard login-storms-4: hashing a new password counts in the shares of the user and of the address
  // src/features/auth/auth-service.ts
  // - const leave = await enterShares(queues, who, caller);
  // + const leave = () => void [enterShares, queues, who];
  it.each([
    ['an IPv4 address', (_index: number) => ATTACKER, ATTACKER, 1],
    ['a /64 of IPv6', (index: number) => `2001:db8::${index.toString(16)}`, '2001:db8::ffff', 1],
    ['a /48 of IPv6', (index: number) => `2001:db8:0:${index.toString(16)}::1`, '2001:db8:0:fff0::1', 2],
  ])(
    'are refused when they fill the share of %s; those of other addresses are hashed',
    async (_whose, address, same, quarters) => {
      const on = await instance();
      const [owner, neighbour] = [await insertAndSignIn(on), await insertPerson(app)];
      const [reset, fresh] = [await insertToken(neighbour), newPhone()];
      const registration = { nickname: 'Ann', password: newPassword(), verification_token: await insertToken(fresh) };
      const most = Math.ceil(quarters * QUARTER);
      const phones = Array.from({ length: most + 30 }, newPhone);
      const { begun, end } = slowLogins(new Set(phones.map(e164)));
      const hashing = watchHashing();
      const answers: Answer[] = [];
      const storm = inParallel(phones.length, async (index) =>
        answers.push(await login(on, phones[index] as PhoneFields, 'wrong-one', address(index))),
      );
      await until(() => answers.length >= 30 && begun() >= most);
      expect(countCodes(answers)).toEqual({ 429: 30 });
      expect(retryAfterOf(answers[0] as Answer)).toBeGreaterThan(0);

      const change = { oldPassword: owner.password, newPassword: newPassword() };
      const others = [
        (at: string) => login(on, neighbour, neighbour.password, at),
        (at: string) => post(owner.agent, '/user/change_password', change, from(at)),
        (at: string) => post(on.api, '/user/register', registration, from(at)),
        (at: string) =>
          post(on.api, '/user/reset_password', { verification_token: reset, password: newPassword() }, from(at)),
      ];
      for (const call of others) expectRefusal(await call(same), 429);
      expect(begun()).toBe(most);
      expect([...hashing.compared, ...hashing.hashed]).toEqual([]);
      // Nothing was charged for it either.
      expect(await app.db('rate_limits').whereLike('key', `%${e164(owner)}%`)).toEqual([]);
      for (const call of others) expect((await call(HOME)).status).toBe(200);

      end();
      await storm;
      expect(countCodes(answers)).toEqual({ 429: 30, 1000: most });
    },
  );
});

describe('passwords of one phone', () => {
  // guard login-storms-1: logins that strangers try and logins from a known address have separate shares of hashing
  // src/features/auth/login-attempts.ts
  // - return { share: `${phone} ${address}`,
  // + return { share: address ? phone : '',
  // guard login-storms-5: passwords that strangers try do not use up the share of a known device
  // src/features/auth/login-attempts.ts
  // - return hold(ofDevice(one.device));
  // + return hold({ ...ofDevice(one.device), share: one.phone });
  // guard login-storms-6: passwords that strangers try do not use up the share of a user whose old password is compared
  // src/features/auth/login-attempts.ts
  // - { ...failures, ...(share && { share }) }
  // + failures
  // src/features/auth/login-attempts.ts
  // - if ((await this.knownPlaces.trustOf(one.phone, one.caller)) !== 'known') throw error;
  // + throw error;
  // guard login-storms-7: passwords that strangers try do not use up the share of a user whose new password is hashed
  // src/features/auth/auth-service.ts
  // - await this.hashed(newPassword, userId, caller)
  // + await this.hashed(newPassword, number, caller)
  // guard login-storms-8: passwords that strangers try do not use up the share of a reset
  // src/features/auth/auth-service.ts
  // - throw new NoAccount();
  // - const passwordHash = await this.hashed(password, hash.toString('base64url'), caller);
  // + throw new NoAccount();
  // + const passwordHash = await this.hashed(password, phone.number, caller);
  // guard login-storms-9: passwords that strangers try do not use up the share of a registration
  // src/features/auth/auth-service.ts
  // - const id = newUserId();
  // - const passwordHash = await this.hashed(password, hash.toString('base64url'), caller);
  // + const id = newUserId();
  // + const passwordHash = await this.hashed(password, phone.number, caller);
  // guard login-storms-10: a try beyond the share of its phone does not query the database
  // src/features/auth/login-attempts.ts
  // - const leave = await enterShares(this.queues, share, caller);
  // + await this.limiter.hold(caller, ...wrong, ...right);
  // + const leave = await enterShares(this.queues, share, caller);
  it('tried by strangers fill only their share, before a use is held; those of the owner are hashed', async () => {
    const on = await instance();
    const [owner, fresh] = [await insertPerson(app), newPhone()];
    const signedIn = await login(on, owner, owner.password, HOME);
    const [session, device] = [cookieOf(signedIn), deviceCookieOf(signedIn)];
    const slow = new Set([e164(owner), e164(fresh)]);
    const { begun, end } = slowLogins(slow);
    const holds = watchStatements('INSERT INTO rate_limits', { value: 'login_failures_p:' });
    const answers: Answer[] = [];
    const most = Math.ceil(QUARTER);
    const trying = (phone: PhoneFields) =>
      inParallel(most + 30, async (index) => answers.push(await login(on, phone, 'wrong-one', `10.2.0.${index}`)));
    const storm = Promise.all([trying(owner), trying(fresh)]);
    await until(() => answers.length >= 60 && begun() >= 2 * most);
    expect(countCodes(answers)).toEqual({ 429: 60 });
    expect(holds.sent).toHaveLength(2 * most);
    slow.clear();

    const at = from(HOME);
    const password = newPassword();
    const { region, phone } = owner;
    expectRefusal(await login(on, owner, owner.password, '192.0.2.99'), 429);
    expect((await login(on, owner, owner.password, HOME)).status).toBe(200);
    const known = { ...at, Cookie: device };
    expect((await post(on.api, '/user/login', { region, phone, password: owner.password }, known)).status).toBe(200);
    const change = { oldPassword: owner.password, newPassword: password };
    expectBody(await post(on.api, '/user/change_password', change, { ...at, Cookie: session }), { code: 200 });
    const reset = { verification_token: await insertToken(owner), password };
    expectBody(await post(on.api, '/user/reset_password', reset, at), { code: 200 });
    const registration = { nickname: 'Ann', password, verification_token: await insertToken(fresh) };
    expect((await post(on.api, '/user/register', registration, at)).status).toBe(200);

    end();
    await storm;
    expect(countCodes(answers)).toEqual({ 429: 60, 1000: 2 * most });
  });
});

describe('right logins', () => {
  // guard login-storms-11: right logins beyond their limit are not compared
  // src/features/auth/login-attempts.ts
  // - await this.limiter.hold(caller, ...wrong, ...right)
  // + await this.limiter.hold(caller, ...wrong)
  it('are not compared beyond their limit', async () => {
    const on = await instance({ LOGINS_PER_PHONE_AND_IP_HOUR: '2', LOGINS_PER_PHONE_DAY: '3' });
    const person = await insertPerson(app);
    const hashing = watchHashing();
    expect(countCodes(await inParallel(10, () => login(on, person, person.password, ATTACKER)))).toEqual({
      200: 2,
      429: 8,
    });
    expect(hashing.compared).toHaveLength(2);
    expect(countCodes(await inParallel(5, () => login(on, person, person.password, HOME)))).toEqual({ 200: 1, 429: 4 });
    expect(hashing.compared).toHaveLength(3);
    // The answer does not depend on the password: a reached limit tells nothing of it.
    expectRefusal(await login(on, person, 'wrong-one', HOME), 429);
  });

  it('are not counted for wrong passwords', async () => {
    const on = await instance({ LOGINS_PER_PHONE_AND_IP_HOUR: '1', LOGINS_PER_PHONE_DAY: '1' });
    const person = await insertPerson(app);
    for (let failure = 0; failure < 3; failure += 1)
      expectBody(await login(on, person, 'wrong-one', HOME), { code: 1000 });
    expect((await login(on, person, person.password, HOME)).status).toBe(200);
    expect((await app.db('rate_limits').whereLike('key', 'logins%').pluck<number[]>('used')).sort()).toEqual([1, 1]);
    expect(await app.db('rate_limits').whereLike('key', 'login_failures%').where('used', '<>', 3)).toEqual([]);
  });
});

describe('a login', () => {
  // guard login-storms-15: a login does not wait for other writes of the user
  // src/features/auth/auth-service.ts
  // - await queues.sessionStarts.run(account.id, start);
  // + await queues.writes.run(account.id, start);
  it("is not delayed by requests that a thief sends in the user's name", async () => {
    const on = await instance();
    const person = await insertAndSignIn(on);
    const gate = new Gate();
    on.beforeOperation = (path) => (path === '/user/set_nickname' ? gate.wait() : Promise.resolve());
    const answers: Answer[] = [];
    const write = async () => answers.push(await post(person.agent, '/user/set_nickname', { nickname: 'Thief' }));
    const storm = inParallel(110, write);
    await until(() => answers.length === 8);
    expect(countCodes(answers)).toEqual({ 503: 8 });
    expect((await login(on, person, person.password, HOME)).status).toBe(200);
    gate.open();
    await storm;
    expect(countCodes(answers)).toEqual({ 200: 102, 503: 8 });
  });
});

describe('a password that is not compared', () => {
  // guard login-storms-13: a password that was not compared is not charged to anybody
  // src/features/auth/login-attempts.ts
  // - await this.held.giveBack();
  // + await this.held.settle(this.ends.wrong);
  it('is answered with 503 and Retry-After, and charged to nobody', async () => {
    const on = await instance({ LOGINS_PER_PHONE_DAY: '5', LOGIN_FAILURES_PER_IP: '5' });
    const person = await insertPerson(app);
    watchHashing({ kills: 'compare' });
    for (const password of [person.password, 'wrong-one']) {
      const refused = await login(on, person, password, HOME);
      expectRefusal(refused, 503);
      expect(retryAfterOf(refused)).toBeGreaterThan(0);
    }
    expect(await app.db('rate_limits')).toEqual([]);
    expect(await app.db('security_events').where({ event: 'login_failed', user_id: person.id })).toEqual([]);
  });

  // guard login-storms-14: a right login does not fail because its password could not be rehashed
  // src/features/auth/auth-service.ts
  // - if (!(error instanceof Unavailable)) throw error;
  // + throw error;
  it('is accepted even if it cannot be rehashed', async () => {
    const on = await instance({ BCRYPT_COST: '5' });
    const person = await insertPerson(app);
    watchHashing({ kills: 'hash' });
    expect((await login(on, person, person.password, HOME)).status).toBe(200);
  });
});

describe('one verification token', () => {
  // guard login-storms-12: only one password at a time is hashed for a verification token
  // src/load/queues.ts
  // - per: 'token', share: 1,
  // + per: 'token', share: 1_000,
  it.each([
    ['register', { nickname: 'Ann' }, 404],
    ['reset_password', {}, 400],
  ])('lets one password be hashed, however many %s calls there are at once', async (operation, fields, spent) => {
    const on = await instance();
    const phone = operation === 'register' ? newPhone() : await insertPerson(app);
    const body = { ...fields, password: newPassword(), verification_token: await insertToken(phone) };
    const gate = new Gate();
    const hashing = watchHashing({ before: () => gate.wait() });
    const answers: Answer[] = [];
    const call = async () => answers.push(await post(on.api, `/user/${operation}`, body, from(ATTACKER)));
    const storm = inParallel(40, call);
    await until(() => answers.length >= 19 && hashing.hashed.length > 0);
    expect(countCodes(answers)).toEqual({ 429: 19 });
    expect(hashing.hashed).toHaveLength(1);
    gate.open();
    await storm;
    expect(hashing.hashed).toHaveLength(1);
    expect(countCodes(answers)).toEqual({ 200: 1, [spent]: 20, 429: 19 });
  });
});
