import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SendingTimedOut } from '../../../src/integrations/senders/sender';
import { startApp, type Env, type TestApp } from '../../support/app';
import { cookieOf, countCodes, expectBody, post, inParallel } from '../../support/calls';
import {
  e164,
  insertPerson,
  newPassword,
  newPhone,
  register,
  verificationToken,
  type Person,
} from '../../support/people';
import { stage } from '../../support/stage';
import { startTwilioStandIn } from '../../support/stand-ins/twilio';
import { until } from '../../support/until';

const COMMON = { TRUST_PROXY: 'loopback', CODE_RESEND_SECONDS: '1' };
const ON = {
  NOTIFY: 'sms',
  NOTIFY_TEXT_PASSWORD_RESET: 'reset',
  NOTIFY_TEXT_PASSWORD_CHANGED: 'changed',
  NOTIFY_TEXT_NEW_DEVICE: 'new device',
  NOTIFY_TEXT_LOCKED_OUT: 'locked out',
};

/** The instance that keeps the database. */
const { app } = stage({ env: COMMON });
const started = new Set<TestApp>();
afterEach(async () => {
  await Promise.all([...started].map(stop));
  await app.db('rate_limits').delete();
  await app.db('sms_traffic').delete();
});

async function instance(env: Env = ON, realSms = false): Promise<TestApp> {
  const { databaseUrl, dataDir } = app;
  const one = await startApp({ ...COMMON, ...env }, { databaseUrl, dataDir, realSms });
  started.add(one);
  return one;
}

/** Stops an instance, which finishes pending background work first. */
async function stop(one: TestApp): Promise<void> {
  if (started.delete(one)) await one.close();
}

const HOME = { 'X-Forwarded-For': '203.0.113.7', 'User-Agent': 'Phone/1.0' };
const NEIGHBOUR = { ...HOME, 'X-Forwarded-For': '203.0.113.200' };
const ELSEWHERE = { ...HOME, 'X-Forwarded-For': '198.51.100.7' };
const STRANGER = { ...HOME, 'X-Forwarded-For': '192.0.2.66' };
const OTHER_PHONE = { ...HOME, 'User-Agent': 'Phone/2.0' };

/** Returns the texts without a code that went to a phone. */
const toldTo = (person: Pick<Person, 'region' | 'phone'>, ...from: TestApp[]) =>
  from
    .flatMap(({ sms }) => sms.sent)
    .filter(({ to, code }) => to === e164(person) && code === undefined)
    .map(({ body }) => body);

const logIn = (one: TestApp, { region, phone, password }: Person, headers: Record<string, string> = HOME) =>
  post(one.api, '/user/login', { region, phone, password }, headers);

/** Returns a person who has logged in at home before. */
async function settled(): Promise<Person> {
  const person = await insertPerson(app);
  expect(countCodes([await logIn(app, person)])).toEqual({ 200: 1 });
  return person;
}

async function reset(one: TestApp, person: Person): Promise<Person> {
  const password = newPassword();
  const body = { password, verification_token: await verificationToken(one, person) };
  expectBody(await post(one.api, '/user/reset_password', body), { code: 200 });
  return { ...person, password };
}

async function change(one: TestApp, person: Person): Promise<void> {
  const Cookie = cookieOf(await logIn(one, person));
  const passwords = { oldPassword: person.password, newPassword: newPassword() };
  expectBody(await post(one.api, '/user/change_password', passwords, { Cookie }), { code: 200 });
}

const UNCOUNTED_PAIRS = { LOGIN_FAILURES_PER_PHONE_AND_IP: '0', LOGIN_FAILURES_PER_PHONE_AND_IP_DAY: '0' };
const LOCKING = { ...ON, ...UNCOUNTED_PAIRS, LOGIN_FAILURES_PER_PHONE_DAY: '3' };

/** Sends as many wrong passwords as are let through, and two more. */
const lockOut = async (one: TestApp, phone: Pick<Person, 'region' | 'phone'>) => {
  const fail = () =>
    post(one.api, '/user/login', { region: phone.region, phone: phone.phone, password: 'wrong-one' }, STRANGER);
  for (let count = 0; count < 3; count += 1) expectBody(await fail(), { code: 1000 });
  for (let count = 0; count < 2; count += 1) expect((await fail()).status).toBe(429);
};

describe('an SMS to the owner', () => {
  // guard notices-9: an owner gets a notice of a password reset
  // src/features/auth/auth-service.ts
  // - notices.notify('password_reset', { id: account.id, phone }, caller);
  it('reports a password reset', async () => {
    const one = await instance();
    const person = await settled();
    await reset(one, person);
    await until(() => toldTo(person, one).length > 0);
    expect(toldTo(person, one)).toEqual(['reset']);
  });

  // guard notices-10: an owner gets a notice of a changed password
  // src/features/auth/auth-service.ts
  // - if (phone) notices.notify('password_changed', { id: userId, phone }, caller);
  it('reports a changed password', async () => {
    const one = await instance();
    const person = await settled();
    await change(one, person);
    await until(() => toldTo(person, one).length > 0);
    expect(toldTo(person, one)).toEqual(['changed']);
  });

  // guard notices-16: a known network with another user agent is a new device
  // src/features/notices/known-devices.ts
  // - return !isNetworkKnown || !earlier
  // + return !isNetworkKnown && !earlier
  it.each([
    ['network', ELSEWHERE],
    ['user agent', OTHER_PHONE],
  ])('reports a login from a new %s, but not the next login from there', async (_what, headers) => {
    const one = await instance();
    const person = await settled();
    await logIn(one, person, headers);
    await until(() => toldTo(person, one).length > 0);
    await app.db('rate_limits').delete();
    await logIn(one, person, headers);
    await logIn(one, person, NEIGHBOUR);
    await stop(one);
    expect(toldTo(person, one)).toEqual(['new device']);
  });

  it('reports a login after a long time, when earlier ones are no longer known', async () => {
    const one = await instance();
    const person = await insertPerson(app);
    await logIn(one, person);
    await until(() => toldTo(person, one).length > 0);
  });

  // guard notices-15: a second concurrent login does not make a new device known
  // src/features/audit/security-events-repository.ts
  // - AND id < (SELECT max(id)
  // + AND request_id <> :requestId AND 0 < (SELECT max(id)
  it('reports two concurrent logins from a new device: neither makes the other look known', async () => {
    const one = await instance();
    const person = await settled();
    expect(countCodes(await inParallel(2, () => logIn(one, person, ELSEWHERE)))).toEqual({ 200: 2 });
    await stop(one);
    expect(toldTo(person, one)).toEqual(['new device']);
  });

  it('does not report the first login at the place of registration', async () => {
    const one = await instance();
    const person = await register(one);
    // The client of the tests sends no user agent, and has this address.
    expect(countCodes([await logIn(one, person, {})])).toEqual({ 200: 1 });
    await stop(one);
    expect(toldTo(person, one)).toEqual([]);
  });

  // guard notices-19: an owner gets a notice of a lock-out
  // src/features/notices/notices.ts
  // - if (account && phone) await this.send('locked_out', { id: account.id, phone }, caller);
  it('reports a lock-out once, and nothing about a phone without an account', async () => {
    const one = await instance(LOCKING);
    const person = await settled();
    const stranger = newPhone();
    await lockOut(one, stranger);
    await lockOut(one, person);
    await stop(one);
    expect(toldTo(person, one)).toEqual(['locked out']);
    expect(toldTo(stranger, one)).toEqual([]);
  });

  // guard notices-7: a phone gets at most one notice of a lock-out per week
  // src/features/notices/notices.ts
  // - [{ limit: 'lockOutNoticesPerPhone', subject: number } as const]
  // + []
  it('reports a lock-out once a week, however often strangers fail', async () => {
    const one = await instance(LOCKING);
    const person = await settled();
    const buckets = () => app.db('rate_limits').whereLike('key', `%${e164(person)}%`);
    await lockOut(one, person);
    await until(() => toldTo(person, one).length > 0);
    const lockOuts = `lock_out_notices_p:${e164(person)}`;
    const [{ days = NaN } = {}] = await buckets()
      .where({ key: lockOuts })
      .select<{ days?: number }[]>(app.db.raw(`round(extract(epoch FROM resets_at - now()) / 86400)::integer AS days`));
    expect(days).toBe(7);
    // A day later.
    await buckets().whereNot({ key: lockOuts }).delete();
    await lockOut(one, person);
    await stop(one);
    expect(toldTo(person, one)).toEqual(['locked out']);
  });

  // guard notices-1: no notice is sent unless NOTIFY is set
  // src/features/notices/notices.ts
  // - if (this.rules.notify === 'off') return;
  // guard notices-2: NOTIFY is off by default
  // src/config/sections/sms.ts
  // - default: 'off',
  // + default: 'sms',
  it('is not sent unless NOTIFY is set', async () => {
    const one = await instance({ ...UNCOUNTED_PAIRS, LOGIN_FAILURES_PER_PHONE_DAY: '3' });
    const person = await insertPerson(app);
    await logIn(one, person);
    await logIn(one, person, ELSEWHERE);
    await lockOut(one, person);
    const again = await reset(one, person);
    await change(one, again);
    await stop(one);
    expect(one.sms.sent).toHaveLength(1);
    expect(toldTo(person, one)).toEqual([]);
  });

  it('contains no code, link or name, and fits into one message', async () => {
    const one = await instance({
      ...LOCKING,
      ...Object.fromEntries(Object.keys(ON).map((name) => [name, ''])),
      NOTIFY: 'sms',
    });
    const people = [await settled(), await settled(), await settled(), await settled()] as const;
    await reset(one, people[0]);
    await change(one, people[1]);
    await logIn(one, people[2], ELSEWHERE);
    await lockOut(one, people[3]);
    await stop(one);
    const texts = people.flatMap((person) => toldTo(person, one));
    expect(new Set(texts).size).toBe(4);
    for (const text of texts) expect(text).toMatch(/^[A-Za-z ,.]{20,160}$/);
  });
});

describe('a notice', () => {
  // guard notices-3: a phone gets at most one notice per hour, over all instances
  // src/features/notices/notices.ts
  // - { limit: 'noticesPerPhone', subject: number },
  // guard notices-4: the window of notices per phone lasts an hour
  // src/load/limits.ts
  // - name: 'notices_p', per: 'phone', amount: 1, seconds: HOUR,
  // + name: 'notices_p', per: 'phone', amount: 1, seconds: MINUTE,
  it('is sent to a phone at most once an hour, for all events and instances', async () => {
    const both = [await instance(LOCKING), await instance(LOCKING)] as const;
    const person = await settled();
    await inParallel(6, (index) =>
      logIn(both[index % 2] ?? app, person, { ...HOME, 'X-Forwarded-For': `192.0.${index}.1` }),
    );
    const again = await reset(both[0], person);
    await change(both[1], again);
    await lockOut(both[0], person);
    await Promise.all(both.map(stop));
    expect(toldTo(person, ...both)).toHaveLength(1);
    const [place] = await app
      .db('rate_limits')
      .where({ key: `notices_p:${e164(person)}` })
      .select<{ minutes: number }[]>(
        app.db.raw('round(extract(epoch FROM resets_at - now()) / 60)::integer AS minutes'),
      );
    expect(place?.minutes).toBe(60);
  });

  // guard notices-5: a phone gets at most three notices of new devices per day
  // src/features/notices/notices.ts
  // - { limit: 'newDeviceNoticesPerPhone', subject: number },
  // guard notices-6: a phone gets at most five other notices per day
  // src/features/notices/notices.ts
  // - [{ limit: 'otherNoticesPerPhone', subject: number }]
  // + []
  it('is sent to a phone at most three times a day about new devices, and five times about other events', async () => {
    const [one, other] = [await instance(), await instance()];
    let person = await settled();
    const anHourPasses = () => app.db('rate_limits').whereLike('key', 'notices_p:%').delete();
    const from = (network: number) => ({ ...HOME, 'X-Forwarded-For': `192.0.${network}.1` });
    for (let told = 1; told <= 3; told += 1) {
      await logIn(one, person, from(told));
      await until(() => toldTo(person, one).length === told);
      await anHourPasses();
    }
    await logIn(other, person, from(4));
    await stop(other);
    expect(toldTo(person, other)).toEqual([]);
    for (let told = 4; told <= 8; told += 1) {
      person = await reset(one, person);
      await until(() => toldTo(person, one).length === told);
      await anHourPasses();
    }
    await reset(one, person);
    await stop(one);
    const texts = [...Array<string>(3).fill('new device'), ...Array<string>(5).fill('reset')];
    expect(toldTo(person, one)).toEqual(texts);
    const places = await app
      .db('rate_limits')
      .whereLike('key', `%notices_p:${e164(person)}`)
      .select<{ hours: number }[]>(app.db.raw('round(extract(epoch FROM resets_at - now()) / 3600)::integer AS hours'));
    expect(places).toEqual([{ hours: 24 }, { hours: 24 }]);
  });

  // guard notices-8: the logins of one address cause a limited number of notices of new devices
  // src/features/notices/notices.ts
  // - { limit: 'newDeviceNoticesPerAddress', subject: address },
  // + ...(address ? [] : []),
  it('about new devices is limited per address and hour, over all accounts and instances', async () => {
    const env = { ...ON, NEW_DEVICE_NOTICES_PER_IP_HOUR: '2' };
    const both = [await instance(env), await instance(env)] as const;
    const people = await inParallel(5, settled);
    await inParallel(5, async (index) => {
      const person = people[index];
      if (person) await logIn(both[index % 2] ?? app, person, { ...ELSEWHERE, 'User-Agent': `Phone/${index}` });
    });
    await Promise.all(both.map(stop));
    const isTold = (person: Person) => toldTo(person, ...both).length > 0;
    expect(people.filter(isTold)).toHaveLength(2);

    // Notices for other addresses, and of graver events, are still sent.
    const third = await instance(env);
    const [moved, taken] = people.filter((person) => !isTold(person));
    if (!moved || !taken) throw new Error('all were told');
    await logIn(third, moved, { ...HOME, 'X-Forwarded-For': '192.0.2.1' });
    const body = { password: newPassword(), verification_token: await verificationToken(third, taken) };
    expectBody(await post(third.api, '/user/reset_password', body, ELSEWHERE), { code: 200 });
    await stop(third);
    expect([toldTo(moved, third), toldTo(taken, third)]).toEqual([['new device'], ['reset']]);
  });

  // guard notices-11: a reset does not wait for its notice
  // src/features/auth/auth-service.ts
  // - notices.notify('password_reset', { id: account.id, phone }, caller);
  // + await notices['send']('password_reset', { id: account.id, phone }, caller);
  it('does not delay a reset while the provider does not answer', async () => {
    const one = await instance();
    const person = await settled();
    let release: () => void = () => undefined;
    const silence = new Promise<void>((resolve) => (release = resolve));
    let asked = 0;
    one.sms.before = async ({ code }) => {
      if (code !== undefined) return;
      asked += 1;
      await silence;
    };
    await reset(one, person);
    await until(() => asked === 1);
    expect(toldTo(person, one)).toEqual([]);
    release();
    await until(() => toldTo(person, one).length > 0);
  });

  // guard notices-18: a stop waits for notices
  // src/composition/parts.ts
  // - Object.values(background)
  // + Object.values(background).slice(0, 1)
  it('is sent before the instance ends when its event happened just before a stop', async () => {
    const one = await instance();
    const person = await settled();
    await logIn(one, person, ELSEWHERE);
    await stop(one);
    expect(toldTo(person, one)).toEqual(['new device']);
  });

  // guard notices-13: a notice that certainly was not sent leaves its place to the next one
  // src/features/notices/notices.ts
  // - if (!(error instanceof SendingTimedOut)) await taken.giveBack();
  it('does not fail the request if it cannot be sent: it is logged, and the next one is sent', async () => {
    const one = await instance();
    const person = await settled();
    one.sms.before = ({ code }) => (code === undefined ? Promise.reject(new Error('down')) : Promise.resolve());
    const again = await reset(one, person);
    const warning = () => one.logged().find(({ msg }) => msg === 'the owner of an account was not notified');
    await until(() => warning() !== undefined);
    const masked = `${e164(person).slice(0, 4)}…${e164(person).slice(-2)}`;
    expect(warning()).toMatchObject({
      level: 40,
      happening: 'password_reset',
      phone: masked,
      err: { message: 'down' },
    });
    await until(async () => (await app.db('rate_limits').whereLike('key', 'notices_p:%')).length === 0);
    one.sms.before = () => Promise.resolve();
    await logIn(one, again, ELSEWHERE);
    await until(() => toldTo(person, one).length > 0);
  });

  // guard notices-14: a notice that may still arrive counts
  // src/features/notices/notices.ts
  // - if (!(error instanceof SendingTimedOut)) await taken.giveBack();
  // + await taken.giveBack();
  it('counts if it may still arrive', async () => {
    const one = await instance();
    const person = await settled();
    one.sms.before = ({ code }) => (code === undefined ? Promise.reject(new SendingTimedOut()) : Promise.resolve());
    await reset(one, person);
    await stop(one);
    expect(await app.db('rate_limits').where({ key: `notices_p:${e164(person)}` })).toHaveLength(1);
  });

  it('is left out without a failure if it cannot be counted', async () => {
    const one = await instance();
    const person = await settled();
    const Cookie = cookieOf(await logIn(one, person));
    one.sms.before = () => Promise.resolve();
    await app.db.raw(
      `CREATE FUNCTION no_notices() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cannot be counted'; END $$;
       CREATE TRIGGER no_notices BEFORE INSERT ON rate_limits
         FOR EACH ROW WHEN (NEW.key LIKE 'notices_p:%') EXECUTE FUNCTION no_notices()`,
    );
    try {
      const passwords = { oldPassword: person.password, newPassword: newPassword() };
      expectBody(await post(one.api, '/user/change_password', passwords, { Cookie }), { code: 200 });
      await stop(one);
    } finally {
      await app.db.raw('DROP TRIGGER no_notices ON rate_limits; DROP FUNCTION no_notices');
    }
    expect(one.logged()).toContainEqual(
      expect.objectContaining({ msg: 'the owner of an account was not notified: password_changed' }),
    );
    expect(toldTo(person, one)).toEqual([]);
  });

  // guard notices-12: notices count against the day's budget of messages
  // src/features/notices/notices.ts
  // - this.placeFor([...usesOf(happening, phone, caller), budget], caller)
  // + this.placeFor(usesOf(happening, phone, caller), caller)
  it("counts against the day's budget of messages, and is not sent beyond it", async () => {
    const one = await instance({ ...ON, SEND_CODE_PER_DAY: '3' });
    const [person, other] = [await settled(), await settled()];
    await reset(one, person);
    await until(() => toldTo(person, one).length > 0);
    await logIn(one, other, ELSEWHERE);
    await until(() => toldTo(other, one).length > 0);
    expectBody(await post(one.api, '/user/send_code', newPhone()), { code: 5000 });
    const third = await settled();
    await logIn(one, third, ELSEWHERE);
    await stop(one);
    expect(toldTo(third, one)).toEqual([]);
  });

  it('is not counted by the spend guard, since it is not a code to verify', async () => {
    const one = await instance();
    const person = await settled();
    await logIn(one, person, ELSEWHERE);
    await stop(one);
    expect(toldTo(person, one)).toEqual(['new device']);
    expect(await app.db('sms_traffic')).toEqual([]);
  });

  // guard notices-17: no notice is sent to a phone that may not get codes
  // src/features/notices/notices.ts
  // - if (!isWithin(phone, allowedRegions)) return;
  it('is not sent where ALLOWED_REGIONS forbids it', async () => {
    const one = await instance({ ...ON, ALLOWED_REGIONS: 'DE' });
    const person = await settled();
    await logIn(one, person, ELSEWHERE);
    await stop(one);
    expect(toldTo(person, one)).toEqual([]);
  });

  it('is in the audit trail, as an event of the account', async () => {
    const one = await instance();
    const person = await settled();
    await logIn(one, person, ELSEWHERE);
    await stop(one);
    const events: unknown = await app.db('security_events').where({ user_id: person.id, event: 'notice_sent' });
    expect(events).toMatchObject([
      { detail: 'new_device', ip: '198.51.100.7', phone: expect.stringContaining('…') as string },
    ]);
  });

  it('goes through Twilio like a code', async () => {
    const twilio = await startTwilioStandIn();
    const account = { TWILIO_ACCOUNT_SID: twilio.accountSid, TWILIO_AUTH_TOKEN: twilio.authToken };
    const sending = { SMS_PROVIDER: 'twilio', TWILIO_FROM: '+15005550006', TWILIO_API_URL: twilio.url };
    const one = await instance({ ...ON, ...account, ...sending }, true);
    const person = await settled();
    await logIn(one, person, ELSEWHERE);
    await stop(one);
    expect(twilio.requests.map(({ form }) => Object.fromEntries(form))).toEqual([
      { To: e164(person), From: '+15005550006', Body: 'new device' },
    ]);
    await twilio.close();
  });

  it('goes into the file of SMS without a code', async () => {
    const path = join(app.dataDir, 'notices.ndjson');
    const one = await instance({ ...ON, SMS_PROVIDER: 'file', SMS_FILE: path }, true);
    const person = await settled();
    await logIn(one, person, ELSEWHERE);
    await stop(one);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      { to: e164(person), body: 'new device', at: expect.any(String) as string },
    ]);
  });
});
