import { createLogger } from '../../src/base/logger';
import { AuditTrail } from '../../src/features/audit/audit-trail';
import { SecurityEventsRepository } from '../../src/features/audit/security-events-repository';
import { FullBuckets } from '../../src/features/limits/full-buckets';
import { Limiter } from '../../src/features/limits/limiter';
import { LimitsRepository } from '../../src/features/limits/limits-repository';
import { NumberRefused } from '../../src/integrations/sms/sms-sender';
import { Background } from '../../src/load/background';
import { BreakerOpen } from '../../src/load/breaker';
import { LIMIT_VARIABLES, limitsOf } from '../../src/load/limits';
import { openQueues } from '../../src/load/queues';
import type { TestApp } from '../support/app';
import { countCodes, expectBody, expectRefusal, post, retryAfterOf, inParallel } from '../support/calls';
import { solvedCaptcha } from '../support/captchas';
import { Gate } from '../support/gate';
import { instancesBeside } from '../support/instances';
import {
  e164,
  field,
  insertAndSignIn,
  insertPerson,
  newPassword,
  newPhone,
  verificationToken,
} from '../support/people';
import { testPool, type TestPool } from '../support/pool';
import { realTime } from '../support/real-time';
import { stage } from '../support/stage';
import { until } from '../support/until';

const HOUR = 3_600;

const { app } = stage();
afterEach(async () => {
  jest.restoreAllMocks();
  await app.db('rate_limits').delete();
});

/** As if they had passed; for a moment each instance remembers what was full. */
async function endWindows(limit: string): Promise<void> {
  await app.db('rate_limits').whereLike('key', `${limit}%`).update({ resets_at: app.db.fn.now() });
  await realTime(300);
}

/** An instance beside the first one, on the same database, that believes X-Forwarded-For. */
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
  it('by address: SEND_CODE_PER_IP_HOUR, and no more with captchas that are drawn here', async () => {
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

  it('by address: a /64 of IPv6 is one, and so are an IPv4 address and its IPv6 form', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    expectBody(await sendCode(limited, newPhone(), '2001:db8:1:2::1'), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), '2001:db8:1:2:ffff::9'), { code: 5000 });
    expectBody(await sendCode(limited, newPhone(), '2001:db8:1:3::1'), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), HERE), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), `::ffff:${HERE}`), { code: 5000 });
  });

  it('by address: a customer with a /56 or a /48 of IPv6 gets 4 and 16 times as many as one with a /64', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    const sentFrom = async (prefix: (index: number) => string) => {
      for (let index = 0; index < 40; index += 1)
        await sendCode(limited, newPhone(), `${prefix(index)}:${index.toString(16)}::1`);
      return limited.sms.sent.splice(0).length;
    };
    expect(await sentFrom(() => '2001:db8:1')).toBe(4);
    expect(await sentFrom((index) => `2001:db8:2:${(256 * index).toString(16)}`)).toBe(16);
  });

  it.each([
    ['a port', `${HERE}:50001`, `${HERE}:50002`, `${THERE}:50001`],
    ['brackets and a port', '[2001:db8::1]:50001', '[2001:db8::1]:50002', '[2001:db8:1::1]:50001'],
    ['another spelling', '0:0:0:0:0:ffff:cb00:7101', `[::ffff:${HERE}]:443`, '::ffff:cb00:7102'],
  ])('by address: one with %s is that address', async (_what, first, again, other) => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    expectBody(await sendCode(limited, newPhone(), first), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), again), { code: 5000 });
    expectBody(await sendCode(limited, newPhone(), other), { code: 200 });
  });

  it('by address: a trusted proxy is known with its port too', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1', TRUST_PROXY: 'loopback, 10.0.0.0/8' });
    expectBody(await sendCode(limited, newPhone(), `${HERE}:50001, 10.0.0.7:443`), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), `${THERE}:50001, 10.0.0.7:443`), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), `${THERE}:50001, 10.0.0.8:443`), { code: 5000 });
  });

  it('by address: what is none is the address of the proxy, is kept nowhere, and is warned of once', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    expectBody(await sendCode(limited, newPhone(), 'x'.repeat(12_000)), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), 'nobody'), { code: 5000 });
    expectBody(await sendCode(limited, newPhone(), '127.0.0.1'), { code: 5000 });
    expectBody(await sendCode(limited, newPhone(), HERE), { code: 200 });
    const warnings = () => limited.logged().filter(({ msg }) => String(msg).includes('client address that is none'));
    await until(() => warnings().length > 0);
    expect(warnings()).toHaveLength(1);
    expect(await app.db('security_events').whereRaw('length(ip) > 45')).toEqual([]);
  });

  it('by address: a number that the provider refuses counts, as does a failure, but not one that is not asked', async () => {
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
    // Neither the phones nor the service have spent anything.
    for (const phone of phones) expectBody(await sendCode(limited, phone, THERE), { code: 200 });
  });

  it('by address: beyond it the database is asked once in a while', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    expectBody(await sendCode(limited, newPhone()), { code: 200 });
    // All within the same moment.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    const take = jest.spyOn(LimitsRepository.prototype, 'take');
    const full = jest.spyOn(LimitsRepository.prototype, 'full');
    expectBody(await sendCode(limited, newPhone()), { code: 5000 });
    const asked = full.mock.calls.length;
    for (let tries = 0; tries < 20; tries += 1) expectBody(await sendCode(limited, newPhone()), { code: 5000 });
    // The audit trail counts its own events, behind the answers.
    expect(take.mock.calls.filter(([buckets]) => buckets.some(({ key }) => key.startsWith('send_')))).toHaveLength(1);
    expect(full).toHaveBeenCalledTimes(asked);
    expectBody(await sendCode(limited, newPhone(), THERE), { code: 200 });
  });

  it('by address: places that another instance gives back are free a moment later', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    expectBody(await sendCode(limited, newPhone()), { code: 200 });
    expectBody(await sendCode(limited, newPhone()), { code: 5000 });
    await new LimitsRepository(app.db).giveBack([{ key: `send_per_address:${HERE}` }]);
    // Each of these looks at what is known, and extends nothing by that.
    await until(async () => field((await sendCode(limited, newPhone())).body, 'code') === 200);
  });

  it('by address: a place that is given back is free at once', async () => {
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

  it('by address: with TRUST_PROXY=none, X-Forwarded-For changes nothing', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1', TRUST_PROXY: 'none' });
    expectBody(await sendCode(limited, newPhone(), HERE), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), THERE), { code: 5000 });
  });

  it('by address: with TRUST_PROXY=1, what the client adds before its proxy changes nothing', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1', TRUST_PROXY: '1' });
    expectBody(await sendCode(limited, newPhone(), `198.51.100.1, ${HERE}`), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), `198.51.100.2, ${HERE}`), { code: 5000 });
  });

  it('in all: SEND_CODE_PER_DAY', async () => {
    const limited = await instance({ SEND_CODE_PER_DAY: '2' });
    expectBody(await sendCode(limited, newPhone(), HERE), { code: 200 });
    expectBody(await sendCode(limited, newPhone(), THERE), { code: 200 });
    const refused = await sendCode(limited, newPhone(), '203.0.113.3');
    expectBody(refused, { code: 5000 });
    expect(retryAfterOf(refused)).toBeGreaterThan(23 * HOUR);
  });

  it('in all: the last fifth is kept for owners at a place that their account was used from', async () => {
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

  it('takes from all limits or from none: who is refused by one uses up no other', async () => {
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

  it('is unlimited where a limit is 0', async () => {
    const lifted = await instance({ SEND_CODE_PER_PHONE_DAY: '0', SEND_CODE_PER_IP_HOUR: '0', SEND_CODE_PER_DAY: '0' });
    const phone = newPhone();
    for (let sent = 0; sent < 12; sent += 1) {
      expectBody(await sendCode(lifted, phone), { code: 200 });
      await app
        .db('rate_limits')
        .where('key', `resend:${e164(phone)}`)
        .delete();
    }
  });

  it('waits CODE_RESEND_SECONDS', async () => {
    const slow = await instance({ CODE_RESEND_SECONDS: '3600' });
    const phone = newPhone();
    expectBody(await sendCode(slow, phone), { code: 200 });
    expect(retryAfterOf(await sendCode(slow, phone))).toBeGreaterThan(HOUR - 60);
  });

  it('is limited by all instances together, and sends one message for 50 requests at once to two of them', async () => {
    const second = await instance();
    const phone = newPhone();
    const answers = await inParallel(50, (index) => sendCode(index % 2 === 0 ? app : second, phone));
    expect(countCodes(answers)).toEqual({ 200: 1, 5000: 49 });
    expect([...app.sms.sent, ...second.sms.sent].filter(({ to }) => to === e164(phone))).toHaveLength(1);
  });
});

describe('wrong codes', () => {
  async function codeFor(on: TestApp, phone: ReturnType<typeof newPhone>): Promise<string> {
    await app
      .db('rate_limits')
      .where('key', `resend:${e164(phone)}`)
      .delete();
    expectBody(await sendCode(on, phone), { code: 200 });
    return on.sms.codeFor(e164(phone));
  }

  it('are 20 a day for a phone from one address; then verify_code is 2000 and send_code 5000 there', async () => {
    const proxied = await instance();
    const phone = newPhone();
    for (let sent = 0; sent < 4; sent += 1) {
      const code = await codeFor(proxied, phone);
      for (let guess = 0; guess < 5; guess += 1)
        expectBody(await verifyCode(proxied, phone, wrong(code)), { code: 1000 });
    }
    await app
      .db('rate_limits')
      .where('key', `resend:${e164(phone)}`)
      .delete();
    const refused = await sendCode(proxied, phone);
    expectBody(refused, { code: 5000 });
    expect(retryAfterOf(refused)).toBeGreaterThan(23 * HOUR);
    expectBody(await sendCode(proxied, phone, THERE), { code: 200 });
    const code = proxied.sms.codeFor(e164(phone));
    expectBody(await verifyCode(proxied, phone, code), { code: 2000 });
    expectBody(await verifyCode(proxied, phone, code, `${HERE}0`), expect.objectContaining({ code: 200 }) as object);
  });

  it('are counted for the phone from all addresses too', async () => {
    const limited = await instance({ WRONG_CODES_PER_PHONE_DAY: '4', WRONG_CODES_PER_PHONE_AND_IP_DAY: '3' });
    const phone = newPhone();
    const code = await codeFor(limited, phone);
    for (const address of [HERE, HERE, HERE, THERE])
      expectBody(await verifyCode(limited, phone, wrong(code), address), { code: 1000 });
    expectBody(await verifyCode(limited, phone, code, '203.0.113.3'), { code: 2000 });
    await app
      .db('rate_limits')
      .where('key', `resend:${e164(phone)}`)
      .delete();
    expectBody(await sendCode(limited, phone, '203.0.113.3'), { code: 5000 });
    await app.db('rate_limits').whereLike('key', 'wrong_codes%').update({ resets_at: app.db.fn.now() });
    expectBody(await sendCode(limited, phone), { code: 200 });
  });

  it('count only where they were compared: not for a right code, a spent or expired one, or none at all', async () => {
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

  it('are not refilled by a resend, nor by another instance', async () => {
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

  it('at once, over two instances: 5 of 100 are compared', async () => {
    const [first, second] = [await instance(), await instance()];
    const phone = newPhone();
    const code = await codeFor(first, phone);
    const answers = await inParallel(100, (index) => verifyCode(index % 2 === 0 ? first : second, phone, wrong(code)));
    expect(countCodes(answers)).toEqual({ 1000: 5, 2000: 95 });
    expectBody(await verifyCode(second, phone, code), { code: 2000 });
    const budget = await app.db('rate_limits').whereLike('key', 'wrong_codes%').select('used');
    expect(budget).toEqual([{ used: 5 }, { used: 5 }]);
  });

  it('count apart where another address asked for the code: all of 200 tries from many addresses at a code share 5', async () => {
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
    // Others get nothing more out of it, not even by the right code; whoever asked for it has one try left.
    expectBody(await verifyCode(second, phone, code, THERE), { code: 2000 });
    expect((await verifyCode(second, phone, code)).body).toMatchObject({ code: 200 });
  });

  it('take no place of the budget where they find the code spent: whoever asked for it is compared in their midst', async () => {
    const limited = await instance({ WRONG_CODES_PER_PHONE_DAY: '6' });
    const phone = newPhone();
    const code = await codeFor(limited, phone);
    const byOthers = (index: number) => verifyCode(limited, phone, wrong(code), `10.9.8.${index}`);
    expect(countCodes(await inParallel(7, byOthers))).toEqual({ 1000: 5, 2000: 2 });
    // Slow enough for a place to be held while others want one.
    const repository = new LimitsRepository(app.db);
    const hold = repository.hold.bind(repository);
    jest.spyOn(LimitsRepository.prototype, 'hold').mockImplementation(async (buckets) => {
      const held = await hold(buckets);
      await new Promise((resolve) => setTimeout(resolve, 200));
      return held;
    });
    const [others, own] = await Promise.all([inParallel(20, byOthers), verifyCode(limited, phone, code)]);
    expect(countCodes(others)).toEqual({ 2000: 20 });
    expect(own.body).toMatchObject({ code: 200 });
  });

  it('take none of the five tries that others share, not for a moment, from an address that may try no more', async () => {
    const limited = await instance({ WRONG_CODES_PER_PHONE_AND_IP_DAY: '1' });
    const phone = newPhone();
    const first = await codeFor(limited, phone);
    expectBody(await verifyCode(limited, phone, wrong(first), THERE), { code: 1000 });
    const code = await codeFor(limited, phone);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const repository = new LimitsRepository(app.db);
    const hold = repository.hold.bind(repository);
    let [waiting, answered] = [0, 0];
    jest.spyOn(LimitsRepository.prototype, 'hold').mockImplementation(async (buckets) => {
      const isTheirs = buckets.some(({ key }) => key.endsWith(` ${THERE}`));
      if (isTheirs) waiting += 1;
      if (isTheirs) await released;
      return hold(buckets);
    });
    const refused = inParallel(5, async () => {
      const answer = await verifyCode(limited, phone, wrong(code), THERE);
      answered += 1;
      return answer;
    });
    await until(() => waiting + answered === 5);
    const other = await verifyCode(limited, phone, code, '203.0.113.3');
    release();
    expect(countCodes(await refused)).toEqual({ 2000: 5 });
    expect(other.body).toMatchObject({ code: 200 });
  });

  it('leave the attempts of a code where the budget forbids to compare it', async () => {
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

  it('leave the five of others when whoever asked for the code has used the own ones up', async () => {
    const proxied = await instance();
    const phone = newPhone();
    const code = await codeFor(proxied, phone);
    expect(countCodes(await inParallel(8, () => verifyCode(proxied, phone, wrong(code))))).toEqual({
      1000: 5,
      2000: 3,
    });
    expectBody(await verifyCode(proxied, phone, code), { code: 2000 });
    // As from a phone that has gone from Wi-Fi to the mobile network.
    expect((await verifyCode(proxied, phone, code, THERE)).body).toMatchObject({ code: 200 });
  });

  it('know the address of whoever asked by the /64 of IPv6', async () => {
    const proxied = await instance();
    const phone = newPhone();
    expectBody(await sendCode(proxied, phone, '2001:db8:0:1::1'), { code: 200 });
    const code = proxied.sms.codeFor(e164(phone));
    const tries = (address: string) => inParallel(8, () => verifyCode(proxied, phone, wrong(code), address));
    expect(countCodes(await tries('2001:db8:0:2::1'))).toEqual({ 1000: 5, 2000: 3 });
    expect(countCodes(await tries('2001:db8:0:1::2'))).toEqual({ 1000: 5, 2000: 3 });
  });

  it('share five, whoever tries, at a code that a release sent which kept no address', async () => {
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

  it('are unlimited where a limit is 0, but for the attempts of each code', async () => {
    const lifted = await instance({ WRONG_CODES_PER_PHONE_AND_IP_DAY: '0', WRONG_CODES_PER_PHONE_DAY: '0' });
    const phone = newPhone();
    for (let sent = 0; sent < 5; sent += 1) {
      const code = await codeFor(lifted, phone);
      for (let guess = 0; guess < 5; guess += 1)
        expectBody(await verifyCode(lifted, phone, wrong(code)), { code: 1000 });
      expectBody(await verifyCode(lifted, phone, code), { code: 2000 });
    }
  });

  it('spend a code after CODE_MAX_ATTEMPTS', async () => {
    const strict = await instance({ CODE_MAX_ATTEMPTS: '1' });
    const phone = newPhone();
    const code = await codeFor(strict, phone);
    expectBody(await verifyCode(strict, phone, wrong(code)), { code: 1000 });
    expectBody(await verifyCode(strict, phone, code), { code: 2000 });
  });
});

describe('failed logins', () => {
  it('of a phone from many addresses: LOGIN_FAILURES_PER_PHONE_DAY; a reset lets the owner in again', async () => {
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

  it('from one address for many phones: LOGIN_FAILURES_PER_IP', async () => {
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

  it('are counted by all instances together', async () => {
    const [first, second] = [await instance(), await instance()];
    const person = await insertPerson(app);
    for (let failure = 0; failure < 10; failure += 1)
      expectBody(await login(failure % 2 === 0 ? first : second, person, 'wrong-one'), { code: 1000 });
    for (const on of [first, second]) expectRefusal(await login(on, person, person.password), 429);
    expect((await login(first, person, person.password, THERE)).body).toMatchObject({ code: 200 });
  });

  it('that are refused to one address use up nothing of all, although nobody has come to give anything back', async () => {
    const on = await instance();
    const person = await insertPerson(app);
    for (let failure = 0; failure < 10; failure += 1) await login(on, person, 'wrong-one');
    const free = jest.spyOn(LimitsRepository.prototype, 'free').mockResolvedValue(undefined);
    // As at instances that have not met the limit yet.
    jest.spyOn(FullBuckets.prototype, 'known').mockReturnValue([]);
    // Ten at once, as many as are let as far as the database.
    for (let round = 0; round < 10; round += 1)
      expect(countCodes(await inParallel(10, () => login(on, person, 'wrong-one')))).toEqual({ 429: 10 });
    free.mockRestore();
    expect((await login(on, person, person.password, THERE)).body).toMatchObject({ code: 200 });
  });

  it('that an instance had under way when it was killed count for half a minute, and then no more', async () => {
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

  it('each have an end of their own, so that one is given back alone', async () => {
    const limits = new LimitsRepository(app.db);
    const bucket = { key: 'login_failures_p:+441632960000', amount: 100, seconds: 900 };
    await limits.hold([bucket]);
    // A place that another process had in the same microsecond ends later than all that follow.
    await app.db('rate_limits').update({ held: app.db.raw('ARRAY[held[1] + 60000000]') });
    const places = (await inParallel(3, () => limits.hold([bucket]))).flat();
    expect(new Set(places.map(({ ends }) => ends)).size).toBe(3);
    const held = await app.db('rate_limits').where({ key: bucket.key }).pluck<string[][]>('held');
    expect(held[0]).toEqual([...(held[0] ?? [])].sort());
    for (const place of places) await limits.free([place]);
    expect(await app.db('rate_limits').where({ key: bucket.key }).select(app.db.raw('cardinality(held)'))).toEqual([
      { cardinality: 1 },
    ]);
  });

  it('at once, over two instances: 10 of 50 are compared', async () => {
    const [first, second] = [await instance(), await instance()];
    const person = await insertPerson(app);
    const answers = await inParallel(50, (index) => login(index % 2 === 0 ? first : second, person, 'wrong-one'));
    expect(countCodes(answers)).toEqual({ 429: 40, 1000: 10 });
  });

  it('that are refused again and again ask the database once in a while: nobody pays for the flood of one address', async () => {
    const limited = await instance({ LOGIN_FAILURES_PER_IP: '1' });
    const person = await insertPerson(app);
    expectBody(await login(limited, newPhone(), 'wrong-one'), { code: 1000 });
    // All within the same moment.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    const hold = jest.spyOn(LimitsRepository.prototype, 'hold');
    const full = jest.spyOn(LimitsRepository.prototype, 'full');
    for (let tries = 0; tries < 20; tries += 1) expectRefusal(await login(limited, newPhone(), 'wrong-one'), 429);
    expect(hold).toHaveBeenCalledTimes(1);
    expect(full).toHaveBeenCalledTimes(1);
    expect((await login(limited, person, person.password, THERE)).body).toMatchObject({ code: 200 });
  });

  it('of a phone are forgotten at once by every instance, when a new password has cleared them', async () => {
    const limited = await instance({ LOGIN_FAILURES_PER_PHONE_DAY: '1' });
    const person = await insertPerson(app);
    expectBody(await login(limited, person, 'wrong-one', THERE), { code: 1000 });
    expectRefusal(await login(limited, person, person.password), 429);
    // As the instance does at which the password was reset.
    await new LimitsRepository(app.db).clear(`login_failures_p:${e164(person)}`);
    expect((await login(limited, person, person.password)).body).toMatchObject({ code: 200 });
  });

  it('that are held to be full are asked for anew once a held place is given back', async () => {
    const on = await instance();
    const person = await insertPerson(app);
    const bucket = { key: `login_failures_pa:${e164(person)} ${HERE}`, amount: 10, seconds: 900 };
    const places = await inParallel(10, () => new LimitsRepository(app.db).hold([bucket]));
    // All within the same moment.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    expectRefusal(await login(on, person, person.password), 429);
    await new LimitsRepository(app.db).free(places.flat());
    expect((await login(on, person, person.password)).body).toMatchObject({ code: 200 });
  });

  it('are unlimited where a limit is 0', async () => {
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

  it('leave verify_code alone, which has VERIFIES_PER_IP_MINUTE and VERIFIES_PER_IP_DAY', async () => {
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

  it('find is limited by user: FINDS_PER_USER_MINUTE and FINDS_PER_USER_DAY; /user/:id is not', async () => {
    const limited = await instance({ FINDS_PER_USER_MINUTE: '2', FINDS_PER_USER_DAY: '3' });
    const [one, other] = [await insertAndSignIn(limited), await insertAndSignIn(limited)];
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

  it('are no more when many are asked at once than one after the other: one statement a user at a time', async () => {
    const limited = await instance({ FINDS_PER_USER_MINUTE: '50' });
    const person = await insertAndSignIn(limited);
    const answers = await inParallel(300, () => post(person.agent, `/user/find/44/${person.phone}`));
    expect(countCodes(answers)).toEqual({ 200: 50, 429: 250 });
  });

  it('by address alone are unlimited by default outside production', async () => {
    const answers = await inParallel(40, () => post(app.api, '/user/check_phone_available', newPhone()));
    expect(countCodes(answers)).toEqual({ 200: 40 });
    expect(await app.db('rate_limits').whereLike('key', 'checks%')).toEqual([]);
  });
});

const silent = createLogger('silent');

describe('every limit of the table', () => {
  const AMOUNT = 7;
  const amounts = Object.fromEntries([...LIMIT_VARIABLES.keys()].map((variable) => [variable, AMOUNT]));
  const limits = limitsOf({ ...amounts, CODE_RESEND_SECONDS: 60 }, true);

  it.each(Object.entries(limits))(
    '%s is shared by two instances: of 40 too many at once in all, its amount is let through',
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
    return new Limiter(new LimitsRepository(db), limits, (use, caller) => audit.noteLimitMet(use, caller), queues);
  }
});

describe('what one network of IPv6 asks for', () => {
  /** The most that were counted at a time, of those whose keys begin like this. */
  function countedAtOnce(prefix: string): { most: number } {
    const seen = { most: 0 };
    let atOnce = 0;
    const repository = new LimitsRepository(app.db);
    const free = repository.take.bind(repository);
    jest.spyOn(LimitsRepository.prototype, 'take').mockImplementation(async (buckets) => {
      if (!buckets.some(({ key }) => key.startsWith(prefix))) return free(buckets);
      seen.most = Math.max(seen.most, (atOnce += 1));
      return free(buckets).finally(() => (atOnce -= 1));
    });
    return seen;
  }

  it.each([
    ['checks_', (on: TestApp, address: string) => check(on, address)],
    ['send_per_address', (on: TestApp, address: string) => sendCode(on, newPhone(), address)],
  ])('is counted one by one, however many addresses it has: %s', async (prefix, call) => {
    const on = await instance({ CHECKS_PER_IP_MINUTE: '1000', SEND_CODE_PER_IP_HOUR: '1000' });
    const seen = countedAtOnce(prefix);
    const answers = await inParallel(60, (index) => call(on, `2001:db8:7:${index.toString(16)}::1`));
    expect(countCodes(answers)).toEqual({ 200: 60 });
    expect(seen.most).toBe(1);
  });
});

describe('the table of limits', () => {
  const keys = () => app.db('rate_limits').orderBy('key').pluck<string[]>('key');

  it('keeps no row of what was refused or given back: a stranger fills no disk with it', async () => {
    const limited = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    await sendCode(limited, newPhone());
    const before = await keys();
    for (let count = 0; count < 5; count += 1) expectBody(await sendCode(limited, newPhone()), { code: 5000 });
    const person = await insertPerson(app);
    expect((await login(limited, person, person.password)).body).toMatchObject({ code: 200 });
    expect(await keys()).toEqual(before);
  });

  it('is swept of what has ended, however much that is', async () => {
    await app.db.raw(
      `INSERT INTO rate_limits SELECT 'old:' || n, 1, 1, now() - interval '1 minute' FROM generate_series(1, 12000) n`,
    );
    await app.db.raw(`INSERT INTO rate_limits VALUES ('new', 1, 1, now() + interval '1 hour')`);
    await new LimitsRepository(app.db).sweep();
    expect(await keys()).toEqual(['new']);
  });
});

describe('while nothing can be counted', () => {
  it('sending fails closed also where only writing is held up', async () => {
    const closed = await instance({ SEND_CODE_PER_DAY: '1000' });
    expectBody(await sendCode(closed, newPhone()), { code: 200 });
    const holder = await app.db.transaction();
    await holder('rate_limits').where('key', 'send_in_all:all').forUpdate();
    expectRefusal(await sendCode(closed, newPhone()), 503);
    await holder.rollback();
    expect(closed.sms.sent).toHaveLength(1);
  });

  /** Holds the table, as a migration or a failing disk might, while `calls` are made. */
  async function uncounted(calls: () => Promise<void>): Promise<void> {
    const holder = await app.db.transaction();
    await holder.raw('LOCK TABLE rate_limits IN ACCESS EXCLUSIVE MODE');
    try {
      await calls();
    } finally {
      await holder.rollback();
    }
  }

  it('sending, verifying and logging in fail closed: 503 with Retry-After, in seconds, and nothing is sent', async () => {
    const closed = await instance();
    const [person, phone] = [await insertPerson(app), newPhone()];
    expectBody(await sendCode(closed, phone), { code: 200 });
    const code = closed.sms.codeFor(e164(phone));
    await uncounted(async () => {
      const begun = Date.now();
      const answers = await Promise.all([
        sendCode(closed, newPhone()),
        verifyCode(closed, phone, code),
        login(closed, person, person.password),
      ]);
      for (const answer of answers) {
        expectRefusal(answer, 503);
        expect(retryAfterOf(answer)).toBeGreaterThan(0);
      }
      expect(Date.now() - begun).toBeLessThan(6_000);
    });
    expect(closed.sms.sent).toHaveLength(1);
    expect(await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [person.id])).toEqual([]);
    // The code was not compared, and has all its attempts.
    const row = app.db('verification_codes').where({ phone: e164(phone) });
    expect(await row.first('attempts', 'others_attempts')).toEqual({ attempts: 0, others_attempts: 0 });
  });

  it('nothing that is limited goes on: find, check_phone_available and captchas are 503, other reads are not', async () => {
    const open = await instance({ CHECKS_PER_IP_MINUTE: '10' });
    const person = await insertAndSignIn(open);
    await uncounted(async () => {
      const begun = Date.now();
      const limited = await Promise.all([
        post(person.agent, `/user/find/44/${person.phone}`),
        check(open),
        post(open.api, '/user/get_sms_img_code'),
      ]);
      for (const answer of limited) {
        expectRefusal(answer, 503);
        expect(retryAfterOf(answer)).toBeGreaterThan(0);
      }
      expect((await post(person.agent, `/user/${person.id}`)).status).toBe(200);
      expect(Date.now() - begun).toBeLessThan(6_000);
    });
    expect((await post(person.agent, `/user/find/44/${person.phone}`)).status).toBe(200);
  });
});
