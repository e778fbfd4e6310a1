import { silent } from '../../support/silent';
import { AuditTrail } from '../../../src/features/audit/audit-trail';
import { SecurityEventsRepository } from '../../../src/features/audit/security-events-repository';
import { Limiter } from '../../../src/features/limits/limiter';
import { LimitsRepository } from '../../../src/features/limits/limits-repository';
import { NumberRefused } from '../../../src/integrations/senders/sender';
import { Background } from '../../../src/load/background';
import { BreakerOpen } from '../../../src/load/breaker';
import { LIMIT_VARIABLES, limitsOf } from '../../../src/load/limits';
import { openQueues } from '../../../src/load/queues';
import type { TestApp } from '../../support/app';
import { countCodes, expectBody, expectRefusal, post, retryAfterOf, inParallel } from '../../support/calls';
import { solvedCaptcha } from '../../support/captchas';
import { Gate } from '../../support/gate';
import { instancesBeside } from '../../support/instances';
import {
  e164,
  field,
  insertAndSignIn,
  insertAndSignInAll,
  insertPerson,
  newPassword,
  newPhone,
  passResendTime,
  verificationToken,
} from '../../support/people';
import { testPool, type TestPool } from '../../support/pool';
import { realTime } from '../../support/real-time';
import { stage } from '../../support/stage';
import { watchStatements } from '../../support/statements';
import { until } from '../../support/until';
import { whileHeld } from '../../support/waiting';

const HOUR = 3_600;

const { app } = stage();
afterEach(async () => {
  jest.restoreAllMocks();
  await app.db('rate_limits').delete();
});

/** Ends the windows of a limit. For a moment each instance still remembers what was full. */
async function endWindows(limit: string): Promise<void> {
  await app.db('rate_limits').whereLike('key', `${limit}%`).update({ resets_at: app.db.fn.now() });
  await realTime(300);
}

/** Another instance on the same database, which trusts X-Forwarded-For. */
const instance = instancesBeside(() => app, { TRUST_PROXY: 'loopback' });

const from = (address: string) => ({ 'X-Forwarded-For': address });
const [HERE, THERE] = ['203.0.113.1', '203.0.113.2'];

const sendCode = (on: TestApp, phone: object, address = HERE) => post(on.api, '/user/send_code', phone, from(address));
const check = (on: TestApp, address = HERE) => post(on.api, '/user/check_phone_available', newPhone(), from(address));
const verifyCode = (on: TestApp, phone: object, code: string, address = HERE) =>
  post(on.api, '/user/verify_code', { ...phone, code }, from(address));
const login = (on: TestApp, phone: object, password: string, address = HERE) =>
  post(on.api, '/user/login', { ...phone, password }, from(address));

const wrong = (code: string) => (code === '000000' ? '000001' : '000000');

describe('send_code', () => {
  it('is limited by address with SEND_CODE_PER_IP_HOUR, which captchas drawn by the service do not raise', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '2', SEND_CODE_PER_IP_HOUR_WITH_CAPTCHA: '3' });
    expectBody(await sendCode(limited, newPhone()), { code: 200 });
    expectBody(await sendCode(limited, newPhone()), { code: 200 });
    const refused = await sendCode(limited, newPhone());
    expectBody(refused, { code: 5000 });
    expect(retryAfterOf(refused)).toBeGreaterThan(HOUR - 60);
    expect(retryAfterOf(refused)).toBeLessThanOrEqual(HOUR);
    expectBody(await sendCode(limited, newPhone(), THERE), { code: 200 });
    expectBody(await sendCode(limited, { ...newPhone(), ...(await solvedCaptcha(limited)) }), { code: 5000 });
    expect(limited.sms.sent).toHaveLength(3);
  });

  it('counts a /64 of IPv6 as one address, and an IPv4 address and its IPv6 form too', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    expectBody(await sendCode(limited, newPhone(), '2001:db8:1:2::1'), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), '2001:db8:1:2:ffff::9'), { code: 5000 });
    expectBody(await sendCode(limited, newPhone(), '2001:db8:1:3::1'), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), HERE), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), `::ffff:${HERE}`), { code: 5000 });
  });

  // guard limits-12: a /56 and a /48 of IPv6 are limited too
  // src/features/limits/limiter.ts
  // - const networks = limit.per === 'address' ? networksOf(subject) : [{ network: subject, times: 1 }];
  // + const networks = [networksOf(subject)[0] ?? { network: subject, times: 1 }];
  it('allows a /56 or a /48 of IPv6 4 and 16 times as many codes as a /64', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    const sentFrom = async (prefix: (index: number) => string) => {
      for (let index = 0; index < 40; index += 1)
        await sendCode(limited, newPhone(), `${prefix(index)}:${index.toString(16)}::1`);
      return limited.sms.sent.splice(0).length;
    };
    expect(await sentFrom(() => '2001:db8:1')).toBe(4);
    expect(await sentFrom((index) => `2001:db8:2:${(256 * index).toString(16)}`)).toBe(16);
  });

  // guard limits-13: an address with a port counts as the address
  // src/base/networks.ts
  // - (bracketed ?? withPort ?? given)
  // + given
  it.each([
    ['a port', `${HERE}:50001`, `${HERE}:50002`, `${THERE}:50001`],
    ['brackets and a port', '[2001:db8::1]:50001', '[2001:db8::1]:50002', '[2001:db8:1::1]:50001'],
    ['another spelling', '0:0:0:0:0:ffff:cb00:7101', `[::ffff:${HERE}]:443`, '::ffff:cb00:7102'],
  ])('counts an address with %s as that address', async (_what, first, again, other) => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    expectBody(await sendCode(limited, newPhone(), first), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), again), { code: 5000 });
    expectBody(await sendCode(limited, newPhone(), other), { code: 200 });
  });

  // guard limits-14: a trusted proxy is trusted even with a port
  // src/http/client-address.ts
  // - isTrusted(plainAddress(address) ?? address, hop)
  // + isTrusted(address, hop)
  it('recognises a trusted proxy even with a port', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1', TRUST_PROXY: 'loopback, 10.0.0.0/8' });
    expectBody(await sendCode(limited, newPhone(), `${HERE}:50001, 10.0.0.7:443`), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), `${THERE}:50001, 10.0.0.7:443`), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), `${THERE}:50001, 10.0.0.8:443`), { code: 5000 });
  });

  // guard limits-15: an invalid address is not stored
  // src/http/client-address.ts
  // - return plainAddress(ip) ?? plainAddress(remoteAddress)
  // + return ip ?? plainAddress(remoteAddress)
  it("counts an invalid address as the proxy's, does not store it, and warns once", async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    expectBody(await sendCode(limited, newPhone(), 'x'.repeat(12_000)), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), 'nobody'), { code: 5000 });
    expectBody(await sendCode(limited, newPhone(), '127.0.0.1'), { code: 5000 });
    expectBody(await sendCode(limited, newPhone(), HERE), { code: 200 });
    const warnings = () => limited.logged().filter(({ msg }) => String(msg).includes('invalid client address'));
    await until(() => warnings().length > 0);
    expect(warnings()).toHaveLength(1);
    expect(await app.db('security_events').whereRaw('length(ip) > 45')).toEqual([]);
  });

  // guard limits-11: a number that the provider refuses counts against the address
  // src/features/verification/send-code-service.ts
  // - await taken.giveBackButAddress();
  // + await taken.giveBack();
  it('counts refused numbers and failures of the provider against the address, but not calls that did not reach it', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '2', SEND_CODE_PER_DAY: '2' });
    const phones = [newPhone(), newPhone()] as const;
    limited.sms.before = () => Promise.reject(new NumberRefused('unreachable', 21612));
    expectRefusal(await sendCode(limited, phones[0]), 400);
    limited.sms.before = () => Promise.reject(new BreakerOpen('Twilio', 7));
    expectRefusal(await sendCode(limited, newPhone()), 503);
    limited.sms.before = () => Promise.reject(new Error('down'));
    expectRefusal(await sendCode(limited, phones[1]), 503);
    let asked = 0;
    limited.sms.before = () => Promise.resolve(void (asked += 1));
    expectBody(await sendCode(limited, newPhone()), { code: 5000 });
    expect(asked).toBe(0);
    // Neither the phones nor the service have used up anything.
    for (const phone of phones) expectBody(await sendCode(limited, phone, THERE), { code: 200 });
  });

  // guard limits-26: an address that may get no more codes queries the database only rarely
  // src/features/verification/send-code-service.ts
  // - await limiter.checkKnown(caller, ofAddress);
  // guard limits-27: a full limit is not counted again and again
  // src/features/limits/limiter.ts
  // -     await this.buckets.findFull(missing) : [];
  // -     this.full.learn(full, rememberable(wanted));
  // + await this.buckets.findFull(missing) : [];
  it('rarely queries the database for an address that has reached its limit', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    expectBody(await sendCode(limited, newPhone()), { code: 200 });
    // All at the same moment.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    const statements = watchStatements('rate_limits');
    // The audit trail counts its own events, after the answers.
    const asked = () => statements.sent.filter(({ values }) => !values.includes('noted:')).length;
    expectBody(await sendCode(limited, newPhone()), { code: 5000 });
    const first = asked();
    expect(first).toBeGreaterThan(0);
    for (let tries = 0; tries < 20; tries += 1) expectBody(await sendCode(limited, newPhone()), { code: 5000 });
    expect(asked()).toBe(first);
    expectBody(await sendCode(limited, newPhone(), THERE), { code: 200 });
  });

  // guard limits-31: reading what is known does not delay the next query
  // src/features/limits/limiter.ts
  // - const known = this.full.known(rememberable(wanted));
  // + const known = this.full.knownOrToAsk(rememberable(wanted));
  it('has room a moment after another instance gives it back', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    expectBody(await sendCode(limited, newPhone()), { code: 200 });
    expectBody(await sendCode(limited, newPhone()), { code: 5000 });
    await new LimitsRepository(app.db).giveBack([{ key: `send_per_address:${HERE}` }]);
    // Each of these reads what is known, and does not extend it.
    await until(async () => field((await sendCode(limited, newPhone())).body, 'code') === 200);
  });

  // guard limits-28: a use that is given back is free at once
  // src/features/limits/limiter.ts
  // - for (const { key } of wanted) this.full.forget(key);
  it('has room at once when it is given back', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    const gate = new Gate();
    limited.sms.before = () => gate.wait().then(() => Promise.reject(new BreakerOpen('Twilio', 7)));
    const first = sendCode(limited, newPhone());
    await gate.reached;
    expectBody(await sendCode(limited, newPhone()), { code: 5000 });
    gate.open();
    expectRefusal(await first, 503);
    limited.sms.before = () => Promise.resolve();
    expectBody(await sendCode(limited, newPhone()), { code: 200 });
  });

  it('ignores X-Forwarded-For with TRUST_PROXY=none', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1', TRUST_PROXY: 'none' });
    expectBody(await sendCode(limited, newPhone(), HERE), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), THERE), { code: 5000 });
  });

  // guard limits-7: TRUST_PROXY decides whose address is believed
  // src/http/app.ts
  // - app.set('trust proxy', trustProxy);
  // + app.set('trust proxy', true || trustProxy);
  it('ignores what the client adds before its proxy with TRUST_PROXY=1', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1', TRUST_PROXY: '1' });
    expectBody(await sendCode(limited, newPhone(), `198.51.100.1, ${HERE}`), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), `198.51.100.2, ${HERE}`), { code: 5000 });
  });

  // guard limits-8: the service sends a limited number of messages per day
  // src/features/verification/send-code-service.ts
  // - limiter.take(caller, ...uses, await this.budgetFor(trust, caller, ways))
  // + limiter.take(caller, ...uses)
  it('is limited for the whole service with SEND_CODE_PER_DAY', async () => {
    const limited = await instance({ SEND_CODE_PER_DAY: '2' });
    expectBody(await sendCode(limited, newPhone(), HERE), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), THERE), { code: 200 });
    const refused = await sendCode(limited, newPhone(), '203.0.113.3');
    expectBody(refused, { code: 5000 });
    expect(retryAfterOf(refused)).toBeGreaterThan(23 * HOUR);
  });

  // guard limits-9: the last fifth of the budget is reserved for owners at a known place
  // src/load/limits.ts
  // - share: (messages) => Math.ceil(0.8 * messages)
  // + share: (messages) => messages
  // guard limits-10: the reserved fifth of the budget does not tell a stranger whether a phone has an account
  // src/features/verification/send-code-service.ts
  // - trust === 'known' ? 'sendInAll'
  // + trust !== 'no account' ? 'sendInAll'
  it("keeps the last fifth of the day's codes for owners at a place that their account was used from", async () => {
    const limited = await instance({ SEND_CODE_PER_DAY: '5' });
    const owner = await insertPerson(app);
    const login = { event: 'logged_in', user_id: owner.id, ip: THERE, user_agent: '', request_id: 'none' };
    await app.db('security_events').insert(login);
    const answers = await inParallel(8, (index) => sendCode(limited, newPhone(), `203.0.113.${index}`));
    expect(countCodes(answers)).toEqual({ 200: 4, 5000: 4 });
    expectBody(await sendCode(limited, owner, HERE), { code: 5000 });
    expectBody(await sendCode(limited, newPhone(), THERE), { code: 5000 });
    expectBody(await sendCode(limited, owner, THERE), { code: 200 });
  });

  it('counts against all limits or none: a request that one limit refuses does not count against others', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    const phone = newPhone();
    expectBody(await sendCode(limited, newPhone()), { code: 200 });
    expectBody(await sendCode(limited, phone), { code: 5000 });
    expectBody(await sendCode(limited, phone, THERE), { code: 200 });
    expect(
      await app
        .db('rate_limits')
        .where('key', `send_per_phone:${e164(phone)}`)
        .first(),
    ).toMatchObject({ used: 1 });
  });

  it('is not limited where a limit is 0', async () => {
    const lifted = await instance({ SEND_CODE_PER_PHONE_DAY: '0', SEND_CODE_PER_IP_HOUR: '0', SEND_CODE_PER_DAY: '0' });
    const phone = newPhone();
    for (let sent = 0; sent < 12; sent += 1) {
      expectBody(await sendCode(lifted, phone), { code: 200 });
      await passResendTime(app, phone);
    }
  });

  it('requires CODE_RESEND_SECONDS between two codes', async () => {
    const slow = await instance({ CODE_RESEND_SECONDS: '3600' });
    const phone = newPhone();
    expectBody(await sendCode(slow, phone), { code: 200 });
    expect(retryAfterOf(await sendCode(slow, phone))).toBeGreaterThan(HOUR - 60);
  });

  it('counts over all instances, and sends one message for 50 concurrent requests to two of them', async () => {
    const second = await instance();
    const phone = newPhone();
    const answers = await inParallel(50, (index) => sendCode(index % 2 === 0 ? app : second, phone));
    expect(countCodes(answers)).toEqual({ 200: 1, 5000: 49 });
    expect([...app.sms.sent, ...second.sms.sent].filter(({ to }) => to === e164(phone))).toHaveLength(1);
  });
});

describe('wrong codes', () => {
  async function codeFor(on: TestApp, phone: ReturnType<typeof newPhone>): Promise<string> {
    await passResendTime(app, phone);
    expectBody(await sendCode(on, phone), { code: 200 });
    return on.sms.codeFor(e164(phone));
  }

  // guard limits-6: a caller without guesses left gets no code
  // src/features/verification/send-code-service.ts
  // - if (!refusal) return;
  // + if (!refusal || refusal) return;
  it('are limited to 20 a day per phone and address; then verify_code answers 2000 and send_code 5000 there', async () => {
    const proxied = await instance();
    const phone = newPhone();
    for (let sent = 0; sent < 4; sent += 1) {
      const code = await codeFor(proxied, phone);
      for (let guess = 0; guess < 5; guess += 1)
        expectBody(await verifyCode(proxied, phone, wrong(code)), { code: 1000 });
    }
    await passResendTime(app, phone);
    const refused = await sendCode(proxied, phone);
    expectBody(refused, { code: 5000 });
    expect(retryAfterOf(refused)).toBeGreaterThan(23 * HOUR);
    expectBody(await sendCode(proxied, phone, THERE), { code: 200 });
    const code = proxied.sms.codeFor(e164(phone));
    expectBody(await verifyCode(proxied, phone, code), { code: 2000 });
    expectBody(await verifyCode(proxied, phone, code, `${HERE}0`), expect.objectContaining({ code: 200 }) as object);
  });

  it('are also counted per phone over all addresses', async () => {
    const limited = await instance({ WRONG_CODES_PER_PHONE_DAY: '4', WRONG_CODES_PER_PHONE_AND_IP_DAY: '3' });
    const phone = newPhone();
    const code = await codeFor(limited, phone);
    for (const address of [HERE, HERE, HERE, THERE])
      expectBody(await verifyCode(limited, phone, wrong(code), address), { code: 1000 });
    expectBody(await verifyCode(limited, phone, code, '203.0.113.3'), { code: 2000 });
    await passResendTime(app, phone);
    expectBody(await sendCode(limited, phone, '203.0.113.3'), { code: 5000 });
    await app.db('rate_limits').whereLike('key', 'wrong_codes%').update({ resets_at: app.db.fn.now() });
    expectBody(await sendCode(limited, phone), { code: 200 });
  });

  it('count only if they were compared: not for a right, a spent, an expired or a missing code', async () => {
    const limited = await instance({ WRONG_CODES_PER_PHONE_AND_IP_DAY: '2' });
    const phone = newPhone();
    for (let tries = 0; tries < 3; tries += 1) expectBody(await verifyCode(limited, phone, '0000'), { code: 1000 });
    const right = await codeFor(limited, phone);
    expect((await verifyCode(limited, phone, right)).body).toMatchObject({ code: 200 });
    for (let tries = 0; tries < 3; tries += 1) expectBody(await verifyCode(limited, phone, right), { code: 2000 });
    const expired = await codeFor(limited, phone);
    await app
      .db('verification_codes')
      .where({ phone: e164(phone) })
      .update({ expires_at: app.db.fn.now() });
    for (let tries = 0; tries < 3; tries += 1) expectBody(await verifyCode(limited, phone, expired), { code: 2000 });
    const last = await codeFor(limited, phone);
    for (let tries = 0; tries < 2; tries += 1)
      expectBody(await verifyCode(limited, phone, wrong(last)), { code: 1000 });
    expectBody(await verifyCode(limited, phone, last), { code: 2000 });
  });

  it('are not allowed again by a resend or by another instance', async () => {
    const [first, second] = [
      await instance({ WRONG_CODES_PER_PHONE_AND_IP_DAY: '3' }),
      await instance({ WRONG_CODES_PER_PHONE_AND_IP_DAY: '3' }),
    ];
    const phone = newPhone();
    const code = await codeFor(first, phone);
    for (let tries = 0; tries < 2; tries += 1) expectBody(await verifyCode(first, phone, wrong(code)), { code: 1000 });
    const newer = await codeFor(second, phone);
    expectBody(await verifyCode(second, phone, wrong(newer)), { code: 1000 });
    for (const on of [first, second]) expectBody(await verifyCode(on, phone, newer), { code: 2000 });
  });

  // guard limits-1: a code is compared at most five times, also in parallel
  // src/features/verification/verification-repository.ts
  // - CASE WHEN by_asker THEN attempts < :asker ELSE
  // + CASE WHEN by_asker THEN true ELSE
  it('sent at once to two instances: 5 of 100 are compared', async () => {
    const [first, second] = [await instance(), await instance()];
    const phone = newPhone();
    const code = await codeFor(first, phone);
    const answers = await inParallel(100, (index) => verifyCode(index % 2 === 0 ? first : second, phone, wrong(code)));
    expect(countCodes(answers)).toEqual({ 1000: 5, 2000: 95 });
    expectBody(await verifyCode(second, phone, code), { code: 2000 });
    const budget = await app.db('rate_limits').whereLike('key', 'wrong_codes%').select('used');
    expect(budget).toEqual([{ used: 5 }, { used: 5 }]);
  });

  // guard limits-2: callers other than the asker share five tries at a code, also in parallel
  // src/features/verification/verification-repository.ts
  // - ELSE others_attempts < :others END
  // + ELSE true END
  it("from other addresses than the asker's share 5 tries: 200 tries at a code from many addresses", async () => {
    const lifted = { WRONG_CODES_PER_PHONE_AND_IP_DAY: '0', WRONG_CODES_PER_PHONE_DAY: '0' };
    const [first, second] = [await instance(lifted), await instance(lifted)];
    const either = (index: number) => (index % 2 === 0 ? first : second);
    const phone = newPhone();
    const code = await codeFor(first, phone);
    const byOthers = (index: number) => verifyCode(either(index), phone, wrong(code), `10.9.8.${index}`);
    const byAsker = (index: number) => verifyCode(either(index), phone, wrong(code));
    const [others, own] = await Promise.all([inParallel(200, byOthers), inParallel(4, byAsker)]);
    expect(countCodes(others)).toEqual({ 1000: 5, 2000: 195 });
    expect(countCodes(own)).toEqual({ 1000: 4 });
    // Others can do nothing more, even with the right code. The asker has one try left.
    expectBody(await verifyCode(second, phone, code, THERE), { code: 2000 });
    expect((await verifyCode(second, phone, code)).body).toMatchObject({ code: 200 });
  });

  // guard limits-3: tries at a spent code do not use up the guesses of a day
  // src/features/verification/verify-code-service.ts
  // - if (!sent) return
  // +     if (!sent) await limiter.hold(caller, ...guesses);
  // +     if (!sent) return
  it("do not use up the phone's budget once the code is spent, so that the asker's try among them is compared", async () => {
    const limited = await instance({ WRONG_CODES_PER_PHONE_DAY: '6' });
    const phone = newPhone();
    const code = await codeFor(limited, phone);
    const byOthers = (index: number) => verifyCode(limited, phone, wrong(code), `10.9.8.${index}`);
    expect(countCodes(await inParallel(7, byOthers))).toEqual({ 1000: 5, 2000: 2 });
    // Slow enough for a place to be held while others want one.
    const beforeAnswer = () => new Promise<void>((resolve) => setTimeout(resolve, 200));
    watchStatements('INSERT INTO rate_limits', { value: 'wrong_codes', beforeAnswer });
    const [others, own] = await Promise.all([inParallel(20, byOthers), verifyCode(limited, phone, code)]);
    expect(countCodes(others)).toEqual({ 2000: 20 });
    expect(own.body).toMatchObject({ code: 200 });
  });

  // guard limits-4: a caller without tries left does not use up the shared tries
  // src/features/verification/verify-code-service.ts
  // - !(await limiter.isUsedUp(...guesses)) &&
  it('do not take any of the five shared tries from an address that has none left, not even for a moment', async () => {
    const limited = await instance({ WRONG_CODES_PER_PHONE_AND_IP_DAY: '1' });
    const phone = newPhone();
    const first = await codeFor(limited, phone);
    expectBody(await verifyCode(limited, phone, wrong(first), THERE), { code: 1000 });
    const code = await codeFor(limited, phone);
    const gate = new Gate();
    const theirs = { value: ` ${THERE}"`, beforeSending: () => gate.wait() };
    const held = watchStatements('INSERT INTO rate_limits', theirs).sent;
    let answered = 0;
    const refused = inParallel(5, async () => {
      const answer = await verifyCode(limited, phone, wrong(code), THERE);
      answered += 1;
      return answer;
    });
    await until(() => held.length + answered === 5);
    const other = await verifyCode(limited, phone, code, '203.0.113.3');
    gate.open();
    expect(countCodes(await refused)).toEqual({ 2000: 5 });
    expect(other.body).toMatchObject({ code: 200 });
  });

  // guard limits-5: a code keeps its attempts if it was not compared
  // src/features/verification/verify-code-service.ts
  // -       await verification.releaseAttempt(sent);
  // -       throw error;
  // + throw error;
  it('leave the attempts of a code when the budget forbids comparing it', async () => {
    const limited = await instance({ WRONG_CODES_PER_PHONE_AND_IP_DAY: '2' });
    const phone = newPhone();
    const code = await codeFor(limited, phone);
    for (const address of [HERE, THERE])
      expect(countCodes(await inParallel(9, () => verifyCode(limited, phone, wrong(code), address)))).toEqual({
        1000: 2,
        2000: 7,
      });
    const row = app.db('verification_codes').where({ phone: e164(phone) });
    expect(await row.first('attempts', 'others_attempts')).toEqual({ attempts: 2, others_attempts: 2 });
  });

  it('leave others their five tries when the asker has used up their own', async () => {
    const proxied = await instance();
    const phone = newPhone();
    const code = await codeFor(proxied, phone);
    expect(countCodes(await inParallel(8, () => verifyCode(proxied, phone, wrong(code))))).toEqual({
      1000: 5,
      2000: 3,
    });
    expectBody(await verifyCode(proxied, phone, code), { code: 2000 });
    // Like a phone that has switched from Wi-Fi to the mobile network.
    expect((await verifyCode(proxied, phone, code, THERE)).body).toMatchObject({ code: 200 });
  });

  it("recognise the asker's address by the /64 of IPv6", async () => {
    const proxied = await instance();
    const phone = newPhone();
    expectBody(await sendCode(proxied, phone, '2001:db8:0:1::1'), { code: 200 });
    const code = proxied.sms.codeFor(e164(phone));
    const tries = (address: string) => inParallel(8, () => verifyCode(proxied, phone, wrong(code), address));
    expect(countCodes(await tries('2001:db8:0:2::1'))).toEqual({ 1000: 5, 2000: 3 });
    expect(countCodes(await tries('2001:db8:0:1::2'))).toEqual({ 1000: 5, 2000: 3 });
  });

  it("share five tries at a code from a release that did not store the asker's address", async () => {
    const proxied = await instance();
    const phone = newPhone();
    const code = await codeFor(proxied, phone);
    await app
      .db('verification_codes')
      .where({ phone: e164(phone) })
      .update({ asker_hmac: null });
    const answers = await inParallel(12, (index) => verifyCode(proxied, phone, wrong(code), `10.9.8.${index % 4}`));
    expect(countCodes(answers)).toEqual({ 1000: 5, 2000: 7 });
    expectBody(await verifyCode(proxied, phone, code), { code: 2000 });
  });

  it('are not limited where a limit is 0, except by the attempts of each code', async () => {
    const lifted = await instance({ WRONG_CODES_PER_PHONE_AND_IP_DAY: '0', WRONG_CODES_PER_PHONE_DAY: '0' });
    const phone = newPhone();
    for (let sent = 0; sent < 5; sent += 1) {
      const code = await codeFor(lifted, phone);
      for (let guess = 0; guess < 5; guess += 1)
        expectBody(await verifyCode(lifted, phone, wrong(code)), { code: 1000 });
      expectBody(await verifyCode(lifted, phone, code), { code: 2000 });
    }
  });

  it('spend a code after CODE_MAX_ATTEMPTS tries', async () => {
    const strict = await instance({ CODE_MAX_ATTEMPTS: '1' });
    const phone = newPhone();
    const code = await codeFor(strict, phone);
    expectBody(await verifyCode(strict, phone, wrong(code)), { code: 1000 });
    expectBody(await verifyCode(strict, phone, code), { code: 2000 });
  });
});

describe('failed logins', () => {
  it('are limited per phone by LOGIN_FAILURES_PER_PHONE_DAY, and a reset lets the owner in again', async () => {
    const limited = await instance({ LOGIN_FAILURES_PER_PHONE_DAY: '4', LOGIN_FAILURES_PER_PHONE_AND_IP: '2' });
    const person = await insertPerson(app);
    for (const address of [HERE, HERE, THERE, THERE])
      expectBody(await login(limited, person, 'wrong-one', address), { code: 1000 });
    const refused = await login(limited, person, person.password, '203.0.113.3');
    expectRefusal(refused, 429);
    expect(retryAfterOf(refused)).toBeGreaterThan(23 * HOUR);
    const reset = { verification_token: await verificationToken(app, person), password: newPassword() };
    expectBody(await post(app.api, '/user/reset_password', reset), { code: 200 });
    for (const address of [HERE, THERE])
      expect((await login(limited, person, reset.password, address)).body).toMatchObject({ code: 200 });
  });

  it('are limited per address by LOGIN_FAILURES_PER_IP', async () => {
    const limited = await instance({ LOGIN_FAILURES_PER_IP: '3' });
    for (let failure = 0; failure < 3; failure += 1)
      expectBody(await login(limited, newPhone(), 'wrong-one'), { code: 1000 });
    const person = await insertPerson(app);
    const refused = await login(limited, person, person.password);
    expectRefusal(refused, 429);
    expect(retryAfterOf(refused)).toBeLessThanOrEqual(15 * 60);
    expect((await login(limited, person, person.password, THERE)).body).toMatchObject({ code: 200 });
    expect(
      await app
        .db('rate_limits')
        .whereLike('key', `%${e164(person)}%`)
        .where('used', '>', 0),
    ).toEqual([]);
  });

  it('are counted over all instances', async () => {
    const [first, second] = [await instance(), await instance()];
    const person = await insertPerson(app);
    for (let failure = 0; failure < 10; failure += 1)
      expectBody(await login(failure % 2 === 0 ? first : second, person, 'wrong-one'), { code: 1000 });
    for (const on of [first, second]) expectRefusal(await login(on, person, person.password), 429);
    expect((await login(first, person, person.password, THERE)).body).toMatchObject({ code: 200 });
  });

  // guard limits-20: refusals for one address do not use up the limit of all
  // src/features/limits/limits-repository.ts
  // - WHERE bucket.resets_at > now() AND bucket.used >= wanted.amount)
  // + WHERE false)
  it('refused for one address do not use up the limit of all, even before anything is given back', async () => {
    const on = await instance();
    const person = await insertPerson(app);
    for (let failure = 0; failure < 10; failure += 1) await login(on, person, 'wrong-one');
    const [now, gate] = [Date.now(), new Gate()];
    const clock = jest.spyOn(Date, 'now');
    // Only what gives a place back deletes rows.
    watchStatements('DELETE FROM rate_limits', { value: 'login_failures', beforeSending: () => gate.wait() });
    for (let tries = 1; tries <= 100; tries += 1) {
      // A second later, so that the instance asks the database again.
      clock.mockReturnValue(now + tries * 1_000);
      expectRefusal(await login(on, person, 'wrong-one'), 429);
    }
    jest.restoreAllMocks();
    gate.open();
    expect((await login(on, person, person.password, THERE)).body).toMatchObject({ code: 200 });
  });

  // guard limits-22: a held use expires by itself
  // src/features/limits/limits-repository.ts
  // - WHERE ends > ${MICROSECONDS}
  // + WHERE true
  it('pending on an instance that was killed count for half a minute only', async () => {
    const on = await instance();
    const person = await insertPerson(app);
    const buckets = [
      { key: `login_failures_pa:${e164(person)} ${HERE}`, amount: 10, seconds: 900 },
      { key: `login_failures_p:${e164(person)}`, amount: 100, seconds: 86_400 },
    ];
    for (let tries = 0; tries < 10; tries += 1) await new LimitsRepository(app.db).hold(buckets);
    const refused = await login(on, person, person.password);
    expectRefusal(refused, 429);
    expect(retryAfterOf(refused)).toBeLessThan(30);
    await app.db('rate_limits').update({ held: app.db.raw('ARRAY(SELECT ends - 30000000 FROM unnest(held) ends)') });
    expect((await login(on, person, person.password)).body).toMatchObject({ code: 200 });
    expect(await app.db('rate_limits').whereLike('key', `login_failures%${e164(person)}%`)).toEqual([]);
  });

  // guard limits-24: the held uses of a limit have different end times
  // src/features/limits/limits-repository.ts
  // - greatest(excluded.held[1], bucket.held[cardinality(bucket.held)] + 1)
  // + excluded.held[1]
  it('get different end times, so that each can be given back by itself', async () => {
    const limits = new LimitsRepository(app.db);
    const bucket = { key: 'login_failures_p:+441632960000', amount: 100, seconds: 900 };
    await limits.hold([bucket]);
    // A place that another process took in the same microsecond ends later than all that follow.
    await app.db('rate_limits').update({ held: app.db.raw('ARRAY[held[1] + 60000000]') });
    const uses = (await inParallel(3, () => limits.hold([bucket]))).flat();
    expect(new Set(uses.map(({ ends }) => ends)).size).toBe(3);
    const held = await app.db('rate_limits').where({ key: bucket.key }).pluck<string[][]>('held');
    expect(held[0]).toEqual([...(held[0] ?? [])].sort());
    for (const use of uses) await limits.free([use]);
    expect(await app.db('rate_limits').where({ key: bucket.key }).select(app.db.raw('cardinality(held)'))).toEqual([
      { cardinality: 1 },
    ]);
  });

  // guard limits-19: 10 failed logins per phone and address
  // src/features/auth/login-attempts.ts
  // - { limit: 'loginFailuresPerPhoneAndAddress', subject: pair },
  // guard limits-23: a use that is only held counts against the limit
  // src/features/limits/limits-repository.ts
  // - + cardinality(${LIVE}) < excluded.amount
  // + < excluded.amount
  it('sent at once to two instances: 10 of 50 are compared', async () => {
    const [first, second] = [await instance(), await instance()];
    const person = await insertPerson(app);
    const answers = await inParallel(50, (index) => login(index % 2 === 0 ? first : second, person, 'wrong-one'));
    expect(countCodes(answers)).toEqual({ 429: 40, 1000: 10 });
  });

  // guard limits-25: an address over its limit queries the database only rarely
  // src/features/limits/limiter.ts
  // -     if (known.length > 0) return this.refuse(wanted, known, caller);
  // -     const held
  // + const held
  it('refused repeatedly query the database rarely, so that a flood from one address does not slow others', async () => {
    const limited = await instance({ LOGIN_FAILURES_PER_IP: '1' });
    const person = await insertPerson(app);
    expectBody(await login(limited, newPhone(), 'wrong-one'), { code: 1000 });
    // All at the same moment.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    const statements = watchStatements('rate_limits', { value: 'login_failures' });
    expectRefusal(await login(limited, newPhone(), 'wrong-one'), 429);
    const asked = statements.sent.length;
    expect(asked).toBeGreaterThan(0);
    for (let tries = 0; tries < 20; tries += 1) expectRefusal(await login(limited, newPhone(), 'wrong-one'), 429);
    expect(statements.sent).toHaveLength(asked);
    expect((await login(limited, person, person.password, THERE)).body).toMatchObject({ code: 200 });
  });

  // guard limits-33: every instance lets a phone in at once when its limits were cleared
  // src/features/limits/limiter.ts
  // - return wanted.filter(({ limit }) => limit.per !== 'phone');
  // + return wanted;
  it('are forgotten by every instance at once when a new password has cleared them', async () => {
    const limited = await instance({ LOGIN_FAILURES_PER_PHONE_DAY: '1' });
    const person = await insertPerson(app);
    expectBody(await login(limited, person, 'wrong-one', THERE), { code: 1000 });
    expectRefusal(await login(limited, person, person.password), 429);
    // Like the instance at which the password was reset.
    await new LimitsRepository(app.db).clear(`login_failures_p:${e164(person)}`);
    expect((await login(limited, person, person.password)).body).toMatchObject({ code: 200 });
  });

  // guard limits-32: a limit that is full of held uses is not remembered as full
  // src/features/limits/full-buckets.ts
  // - || bucket.used < amount) return [];
  // + ) return [];
  it('remembered as full are checked again once a held use is given back', async () => {
    const on = await instance();
    const person = await insertPerson(app);
    const bucket = { key: `login_failures_pa:${e164(person)} ${HERE}`, amount: 10, seconds: 900 };
    const held = await inParallel(10, () => new LimitsRepository(app.db).hold([bucket]));
    // All at the same moment.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    expectRefusal(await login(on, person, person.password), 429);
    await new LimitsRepository(app.db).free(held.flat());
    expect((await login(on, person, person.password)).body).toMatchObject({ code: 200 });
  });

  it('are not limited where a limit is 0', async () => {
    const lifted = await instance({ LOGIN_FAILURES_PER_PHONE_AND_IP: '0', LOGIN_FAILURES_PER_PHONE_DAY: '0' });
    const person = await insertPerson(app);
    for (let failure = 0; failure < 12; failure += 1)
      expectBody(await login(lifted, person, 'wrong-one'), { code: 1000 });
    expect((await login(lifted, person, person.password)).body).toMatchObject({ code: 200 });
  });
});

describe('lookups', () => {
  it('check_phone_available and get_sms_img_code share CHECKS_PER_IP_MINUTE', async () => {
    const limited = await instance({ CHECKS_PER_IP_MINUTE: '2' });
    const calls = [
      (address: string) => post(limited.api, '/user/check_phone_available', newPhone(), from(address)),
      (address: string) => post(limited.api, '/user/get_sms_img_code', {}, from(address)),
    ];
    for (const call of calls) expect((await call(HERE)).status).toBe(200);
    for (const call of calls) {
      const refused = await call(HERE);
      expectRefusal(refused, 429);
      expect(retryAfterOf(refused)).toBeGreaterThan(0);
      expect(retryAfterOf(refused)).toBeLessThanOrEqual(60);
      expect((await call(THERE)).status).toBe(200);
    }
    await endWindows('checks_minute');
    for (const call of calls) expect((await call(HERE)).status).toBe(200);
  });

  // guard limits-16: lookups do not use up the limit of verify_code
  // src/features/verification/verification-router.ts
  // - limits: ['verifiesPerMinute', 'verifiesPerDay']
  // + limits: ['checksPerMinute', 'checksPerDay']
  it('do not share their limits with verify_code, which has VERIFIES_PER_IP_MINUTE and VERIFIES_PER_IP_DAY', async () => {
    const limited = await instance({ CHECKS_PER_IP_DAY: '1', VERIFIES_PER_IP_MINUTE: '2', VERIFIES_PER_IP_DAY: '3' });
    const check = () => post(limited.api, '/user/check_phone_available', newPhone(), from(HERE));
    const verify = () => verifyCode(limited, newPhone(), '0000');
    expectBody(await check(), { code: 200, result: true });
    expectRefusal(await check(), 429);
    for (let tries = 0; tries < 2; tries += 1) expectBody(await verify(), { code: 1000 });
    const refused = await verify();
    expectRefusal(refused, 429);
    expect(retryAfterOf(refused)).toBeLessThanOrEqual(60);
    await endWindows('verifies_minute');
    expectBody(await verify(), { code: 1000 });
    expect(retryAfterOf(await verify())).toBeGreaterThan(23 * HOUR);
  });

  it('share CHECKS_PER_IP_DAY', async () => {
    const limited = await instance({ CHECKS_PER_IP_DAY: '1' });
    const check = () => post(limited.api, '/user/check_phone_available', newPhone(), from(HERE));
    expectBody(await check(), { code: 200, result: true });
    expect(retryAfterOf(await check())).toBeGreaterThan(23 * HOUR);
  });

  it('by find are limited per user by FINDS_PER_USER_MINUTE and FINDS_PER_USER_DAY; /user/:id is not limited', async () => {
    const limited = await instance({ FINDS_PER_USER_MINUTE: '2', FINDS_PER_USER_DAY: '3' });
    const [one, other] = await insertAndSignInAll(limited, 'One', 'Other');
    const find = (by = one) => post(by.agent, `/user/find/44/${other.phone}`);
    for (let count = 0; count < 2; count += 1) expect((await find()).status).toBe(200);
    const refused = await find();
    expectRefusal(refused, 429);
    expect(retryAfterOf(refused)).toBeLessThanOrEqual(60);
    expect((await find(other)).status).toBe(200);
    expect((await post(one.agent, `/user/${other.id}`)).status).toBe(200);
    await endWindows('finds_minute');
    expect((await find()).status).toBe(200);
    expect(retryAfterOf(await find())).toBeGreaterThan(23 * HOUR);
  });

  it('run one statement at a time per user, so that concurrent requests do not exceed the limit', async () => {
    const limited = await instance({ FINDS_PER_USER_MINUTE: '50' });
    const person = await insertAndSignIn(limited);
    const answers = await inParallel(300, () => post(person.agent, `/user/find/44/${person.phone}`));
    expect(countCodes(answers)).toEqual({ 200: 50, 429: 250 });
  });

  it('by address are not limited by default outside production', async () => {
    const answers = await inParallel(40, () => post(app.api, '/user/check_phone_available', newPhone()));
    expect(countCodes(answers)).toEqual({ 200: 40 });
    expect(await app.db('rate_limits').whereLike('key', 'checks%')).toEqual([]);
  });
});

describe('every limit of the table', () => {
  const AMOUNT = 7;
  const amounts = Object.fromEntries([...LIMIT_VARIABLES.keys()].map((variable) => [variable, AMOUNT]));
  const limits = limitsOf({ ...amounts, CODE_RESEND_SECONDS: 60 }, true);

  // guard limits-17: a limit is taken atomically
  // src/features/limits/limits-repository.ts
  // - WHERE ${USED} + cardinality(${LIVE}) < excluded.amount
  // + WHERE (SELECT used FROM rate_limits one WHERE one.key = bucket.key) < excluded.amount
  it.each(Object.entries(limits))(
    '%s is shared by two instances: with 40 requests too many, its amount is let through',
    async (_name, limit) => {
      const pools = [testPool(app.databaseUrl, 5), testPool(app.databaseUrl, 5)];
      const limiters = pools.map(({ db }) => newLimiter(db));
      const caller = { address: HERE, ip: HERE, userAgent: '', requestId: '' };
      const take = async (index: number) => limiters[index % 2]?.take(caller, { limit, subject: 'somebody' });
      const taken = await Promise.allSettled(Array.from({ length: limit.amount + 40 }, (_, index) => take(index)));
      expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(limit.amount);
      expect(taken.filter(({ status }) => status === 'rejected')).toHaveLength(40);
      await Promise.all(pools.map((pool) => pool.close()));
    },
  );

  function newLimiter(db: TestPool['db']): Limiter {
    const queues = openQueues();
    const audit = new AuditTrail(
      new SecurityEventsRepository(db),
      new LimitsRepository(db),
      silent,
      new Background(silent, queues.securityEvents),
    );
    const limiter = new Limiter(new LimitsRepository(db), limits, queues);
    limiter.onMet((use, caller) => audit.noteLimitMet(use, caller));
    return limiter;
  }
});

describe('requests from one IPv6 network', () => {
  // guard limits-29: requests of an IPv6 network are counted one at a time
  // src/features/limits/limiter.ts
  // - byAddress ? senderOf(address) :
  // + byAddress ? address :
  // guard limits-30: one sender leaves others a slot in the queue for counting
  // src/features/limits/limiter.ts
  // - await this.queues.counts.run(queueKey(wanted, caller), () => this.tryToTake(wanted))
  // + await this.tryToTake(wanted)
  it.each([
    ['checks_', (on: TestApp, address: string) => check(on, address)],
    ['send_per_address', (on: TestApp, address: string) => sendCode(on, newPhone(), address)],
  ])('are counted one at a time, however many addresses it has: %s', async (prefix, call) => {
    const on = await instance({ CHECKS_PER_IP_MINUTE: '1000', SEND_CODE_PER_IP_HOUR: '1000' });
    const counts = watchStatements('INSERT INTO rate_limits', { value: prefix });
    const answers = await inParallel(60, (index) => call(on, `2001:db8:7:${index.toString(16)}::1`));
    expect(countCodes(answers)).toEqual({ 200: 60 });
    expect(counts.mostAtOnce).toBe(1);
  });
});

describe('the table of limits', () => {
  const keys = () => app.db('rate_limits').orderBy('key').pluck<string[]>('key');

  // guard limits-21: a refused request leaves no row
  // src/features/limits/limits-repository.ts
  // - WHERE key IN (SELECT key FROM changed WHERE used = 0 AND held = '{}'))
  // + WHERE key IN (SELECT key FROM changed WHERE used < 0))
  it('keeps no row for refused or returned uses, so that strangers cannot fill the disk with them', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    await sendCode(limited, newPhone());
    const before = await keys();
    for (let count = 0; count < 5; count += 1) expectBody(await sendCode(limited, newPhone()), { code: 5000 });
    const person = await insertPerson(app);
    expect((await login(limited, person, person.password)).body).toMatchObject({ code: 200 });
    expect(await keys()).toEqual(before);
  });

  it('is swept of ended rows, however many there are', async () => {
    await app.db.raw(
      `INSERT INTO rate_limits SELECT 'old:' || n, 1, 1, now() - interval '1 minute' FROM generate_series(1, 12000) n`,
    );
    await app.db.raw(`INSERT INTO rate_limits VALUES ('new', 1, 1, now() + interval '1 hour')`);
    await new LimitsRepository(app.db).sweep();
    expect(await keys()).toEqual(['new']);
  });
});

describe('while limits cannot be counted', () => {
  it('sending fails closed even if only writing is blocked', async () => {
    const closed = await instance({ SEND_CODE_PER_DAY: '1000' }, { patience: 1 });
    expectBody(await sendCode(closed, newPhone()), { code: 200 });
    const lock = `SELECT FROM rate_limits WHERE key = 'send_in_all:all' FOR UPDATE`;
    await whileHeld(app, lock, [], [], async () => expectRefusal(await sendCode(closed, newPhone()), 503));
    expect(closed.sms.sent).toHaveLength(1);
  });

  /** Locks the table, as a migration or a failing disk might, during `calls`. */
  const uncounted = (calls: () => Promise<void>) =>
    whileHeld(app, 'LOCK TABLE rate_limits IN ACCESS EXCLUSIVE MODE', [], [], calls);

  it('sending, verifying and logging in fail closed: 503 with Retry-After within seconds, and nothing is sent', async () => {
    const closed = await instance({}, { patience: 1 });
    const [person, phone] = [await insertPerson(app), newPhone()];
    expectBody(await sendCode(closed, phone), { code: 200 });
    const code = closed.sms.codeFor(e164(phone));
    await uncounted(async () => {
      const answers = await Promise.all([
        sendCode(closed, newPhone()),
        verifyCode(closed, phone, code),
        login(closed, person, person.password),
      ]);
      for (const answer of answers) {
        // The answer did not wait for the deadline.
        expectRefusal(answer, 503, '', 'overloaded');
        expect(retryAfterOf(answer)).toBeGreaterThan(0);
      }
    });
    expect(closed.sms.sent).toHaveLength(1);
    expect(await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [person.id])).toEqual([]);
    // The code was not compared, and has all its attempts.
    const row = app.db('verification_codes').where({ phone: e164(phone) });
    expect(await row.first('attempts', 'others_attempts')).toEqual({ attempts: 0, others_attempts: 0 });
  });

  // guard limits-18: limited operations fail closed
  // src/features/limits/limiter.ts
  // - const taken = await this.buckets.take(wanted);
  // + const taken = await this.buckets.take(wanted).catch(() => wanted);
  it('find, check_phone_available and captchas answer 503, and reads that are not limited succeed', async () => {
    const open = await instance({ CHECKS_PER_IP_MINUTE: '10' }, { patience: 1 });
    const person = await insertAndSignIn(open);
    await uncounted(async () => {
      const limited = await Promise.all([
        post(person.agent, `/user/find/44/${person.phone}`),
        check(open),
        post(open.api, '/user/get_sms_img_code'),
      ]);
      for (const answer of limited) {
        expectRefusal(answer, 503, '', 'overloaded');
        expect(retryAfterOf(answer)).toBeGreaterThan(0);
      }
      expect((await post(person.agent, `/user/${person.id}`)).status).toBe(200);
    });
    expect((await post(person.agent, `/user/find/44/${person.phone}`)).status).toBe(200);
  });
});
