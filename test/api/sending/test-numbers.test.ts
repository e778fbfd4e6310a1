import { startApp, type Env, type TestApp } from '../../support/app';
import { expectBody, expectRefusal, post } from '../../support/calls';
import { e164, expectOk, field, insertPerson, newPassword, newPhone, type PhoneFields } from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { until } from '../../support/until';

const CODE = rememberSecret('718281');
const DAY_MS = 86_400_000;
const TOMORROW = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
const BEFORE = new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10);

/** Instances that the running test has started on the database of `app`. */
const started = new Set<TestApp>();
const { app } = stage({ env: { CODE_RESEND_SECONDS: '1' } });
afterEach(async () => {
  await Promise.all([...started].map((one) => one.close()));
  started.clear();
  await app.db('rate_limits').delete();
});

let numbers = 7_700_900_100;
/** Returns a number that is kept for fiction, and is not a valid mobile number. */
function numberForFiction(): PhoneFields {
  const phone = (numbers += 1);
  rememberSecret(String(phone));
  return { region: 44, phone };
}

async function instance(listed: PhoneFields[], env: Env = {}, lastDay = TOMORROW): Promise<TestApp> {
  const TEST_NUMBERS = listed.map((phone) => `${e164(phone)}=${CODE}@${lastDay}`).join();
  const { databaseUrl, dataDir } = app;
  const one = await startApp({ CODE_RESEND_SECONDS: '1', ...env, TEST_NUMBERS }, { databaseUrl, dataDir });
  started.add(one);
  return one;
}

const ask = (on: TestApp, phone: PhoneFields) => post(on.api, '/user/send_code', phone);
const verify = (on: TestApp, phone: PhoneFields, code = CODE) => post(on.api, '/user/verify_code', { ...phone, code });

/** Returns a token for the fixed code, or for the one that was sent. */
async function tokenOf(on: TestApp, phone: PhoneFields, isSent = false): Promise<string> {
  expectBody(await ask(on, phone), { code: 200 });
  const answer = await verify(on, phone, isSent ? on.sms.codeFor(e164(phone)) : CODE);
  expect(answer.body).toMatchObject({ code: 200 });
  return rememberSecret(String(field(field(answer.body, 'result'), 'verification_token')));
}

async function register(on: TestApp, phone: PhoneFields, isSent = false) {
  const password = newPassword();
  const body = { nickname: 'Ann', password, verification_token: await tokenOf(on, phone, isSent) };
  await expectOk(on.api.post('/user/register').send(body));
  return { ...phone, password };
}

async function signedIn(on: TestApp, person: PhoneFields & { password: string }) {
  const agent = on.agent();
  await expectOk(agent.post('/user/login').send(person));
  return agent;
}

const isTest = async (phone: PhoneFields) =>
  (
    await app
      .db('phones')
      .where({ phone: e164(phone) })
      .first<{ is_test: boolean }>('is_test')
  ).is_test;
const detailsOf = (event: string, phone: PhoneFields) =>
  app
    .db('security_events')
    .where({ event, phone: `+447…${String(phone.phone).slice(-2)}` })
    .pluck('detail');

describe('a test number', () => {
  // guard test-numbers-9: an account that was registered by a fixed code is marked as such
  // src/features/users/users-repository.ts
  // - is_test: isTest
  // + is_test: false
  it('is sent nothing, and registers and logs in by its fixed code', async () => {
    const phone = numberForFiction();
    const one = await instance([phone]);
    await signedIn(one, await register(one, phone));
    expect(one.sms.sent).toEqual([]);
    expect(await isTest(phone)).toBe(true);
    expect(await detailsOf('code_sent', phone)).toContain('test number');
    expect(await detailsOf('registered', phone)).toContain('test number');
    // Again, as a reviewer of the next version does.
    await expectOk(
      one.api
        .post('/user/reset_password')
        .send({ password: newPassword(), verification_token: await tokenOf(one, phone) }),
    );
  });

  it('is the same on all instances, and answers like any other number', async () => {
    const phone = numberForFiction();
    const [one, two] = [await instance([phone]), await instance([phone])];
    expect((await ask(one, phone)).body).toEqual((await ask(app, newPhone())).body);
    expect((await verify(two, phone)).body).toMatchObject({ code: 200 });
  });

  it('is outside of ALLOWED_REGIONS and PHONE_CHECK, which other numbers for fiction are not', async () => {
    const [phone, other] = [numberForFiction(), numberForFiction()];
    const strict = await instance([phone], { ALLOWED_REGIONS: 'DE', PHONE_CHECK: 'mobile' });
    expectBody(await ask(strict, phone), { code: 200 });
    expectRefusal(await ask(strict, other), 400, 'region');
    const mobile = await instance([phone], { PHONE_CHECK: 'mobile' });
    expectRefusal(await ask(mobile, other), 400, 'phone');
  });

  // guard test-numbers-8: fixed codes do not make a country look as if its codes were verified
  // src/features/verification/verification-repository.ts
  // - WHERE NOT is_test ON CONFLICT
  // + ON CONFLICT
  it('is not counted by the spend guard, which does not refuse it either', async () => {
    const phone = numberForFiction();
    const one = await instance([phone], { SPEND_GUARD: 'enforce' });
    const traffic = async () => [await app.db('sms_traffic').select(), await app.db('sms_networks').select()];
    const before = await traffic();
    await tokenOf(one, phone);
    expect(await traffic()).toEqual(before);
    await app.db('sms_traffic').delete();
    await app.db('sms_traffic').insert({ region: 'GB', slot: app.db.raw('sms_traffic_slot(now())'), sent: 10_000 });
    const alarms = () => one.logged().filter(({ msg }) => String(msg).startsWith('spend guard:')).length;
    await tokenOf(one, phone);
    await ask(one, newPhone());
    // The one of the other number.
    await until(() => alarms() > 0);
    expect(alarms()).toBe(1);
    await app.db('sms_traffic').delete();
  });

  // guard test-numbers-7: fixed codes count in the limits of codes
  // src/features/verification/send-code-service.ts
  // - const uses = [...this.usesOfPhone(phone, trust, raised), ofAddress];
  // + const uses = fixedCode ? [] : [...this.usesOfPhone(phone, trust, raised), ofAddress];
  it('counts in the limits of codes: the resend time, and the codes of a day', async () => {
    const phone = numberForFiction();
    const one = await instance([phone], { CODE_RESEND_SECONDS: '60', SEND_CODE_PER_PHONE_DAY: '2' });
    expectBody(await ask(one, phone), { code: 200 });
    expectBody(await ask(one, phone), { code: 5000 });
    await verify(one, phone);
    expectBody(await ask(one, phone), { code: 200 });
    await verify(one, phone);
    expectBody(await ask(one, phone), { code: 5000 });
  });

  // guard test-numbers-5: a fixed code cannot be guessed more often than others
  // src/features/verification/send-code-service.ts
  // - await this.checkGuessBudget(phone, caller, trust);
  // + if (fixedCode === undefined) await this.checkGuessBudget(phone, caller, trust);
  it('lets its code be guessed as seldom as any: five times for each, and as often in a day as the limit says', async () => {
    const phone = numberForFiction();
    const one = await instance([phone], { WRONG_CODES_PER_PHONE_AND_IP_DAY: '7' });
    expectBody(await verify(one, phone), { code: 1000 });
    expectBody(await ask(one, phone), { code: 200 });
    for (let guess = 0; guess < 5; guess += 1) expectBody(await verify(one, phone, `00000${guess}`), { code: 1000 });
    expectBody(await verify(one, phone), { code: 2000 });
    await app.db('rate_limits').where('key', 'like', 'resend%').delete();
    expectBody(await ask(one, phone), { code: 200 });
    for (let guess = 5; guess < 7; guess += 1) expectBody(await verify(one, phone, `00000${guess}`), { code: 1000 });
    expectBody(await verify(one, phone), { code: 2000 });
    await app.db('rate_limits').where('key', 'like', 'resend%').delete();
    expectBody(await ask(one, phone), { code: 5000 });
  });

  it('is a number like any other after its last day', async () => {
    const phone = newPhone();
    const one = await instance([phone], {}, BEFORE);
    expectBody(await ask(one, phone), { code: 200 });
    expect(one.sms.sent).toHaveLength(1);
    expectBody(await verify(one, phone), { code: 1000 });
  });

  // guard test-numbers-10: no notice is sent to a test number
  // src/features/notices/notices.ts
  // - if (phone.isTest) return;
  it('is not told of changes to its account, since no message may go there', async () => {
    const phone = numberForFiction();
    const one = await instance([phone], { NOTIFY: 'sms' });
    const { password } = await register(one, phone);
    const agent = await signedIn(one, { ...phone, password });
    await expectOk(agent.post('/user/change_password').send({ oldPassword: password, newPassword: newPassword() }));
    started.delete(one);
    // A stop finishes pending notices.
    await one.close();
    expect(one.sms.sent).toEqual([]);
  });
});

describe('the account of a real number', () => {
  // guard test-numbers-1: a fixed code does not open an account whose phone was proved by a code that was sent
  // src/features/sending/test-numbers.ts
  // - proved.includes(number) ? 'refused' : 'in force'
  // + 'in force'
  it('is not opened by a fixed code: the number is treated as any other', async () => {
    const person = await insertPerson(app);
    const one = await instance([person]);
    expectBody(await ask(one, person), { code: 200 });
    expect(one.sms.sent).toHaveLength(1);
    expectBody(await verify(one, person), { code: 1000 });
  });

  // guard test-numbers-2: the token of a fixed code does not open an account that came to the number after it
  // src/features/verification/verification-tokens-repository.ts
  // - .whereRaw(GOOD_FOR_ITS_ACCOUNT).first
  // + .first
  // guard test-numbers-12: the token of a fixed code does not log in to an account that came to the number after it
  // src/features/verification/verification-tokens-repository.ts
  // - AND ${GOOD_FOR_ITS_ACCOUNT}`
  // + `
  // guard test-numbers-11: the token of a fixed code does not close an account that came to the number after it
  // src/features/verification/verification-tokens-repository.ts
  // - .whereRaw(GOOD_FOR_ITS_ACCOUNT).forUpdate()
  // + .forUpdate()
  it('is not taken over by the token of a fixed code that is older than it', async () => {
    const phone = newPhone();
    const one = await instance([phone]);
    const [early, late] = [await tokenOf(one, phone), await tokenOf(one, phone)];
    const id = `real${phone.phone}`;
    await app.db('users').insert({ id, nickname: 'Real', password_hash: 'x' });
    await app.db('phones').insert({ phone: e164(phone), region: '44', user_id: id });
    for (const verification_token of [early, late]) {
      expectRefusal(await post(one.api, '/user/start_over', { verification_token }), 400);
      expectRefusal(await post(one.api, '/user/login_by_token', { verification_token }), 400);
      expectRefusal(await post(one.api, '/user/reset_password', { password: newPassword(), verification_token }), 400);
    }
    expect(await app.db('users').where({ id }).pluck('password_hash')).toEqual(['x']);
  });

  // guard test-numbers-4: a code that was sent and verified makes an account a real one
  // src/features/verification/verification-repository.ts
  // - is_test = phones.is_test AND verified.is_test
  // + is_test = phones.is_test
  it('is no longer that of a test number once a code was sent to it and verified', async () => {
    const phone = newPhone();
    const one = await instance([phone]);
    await register(one, phone);
    await tokenOf(app, phone, true);
    expect(await isTest(phone)).toBe(false);
    expectBody(await ask(one, phone), { code: 200 });
    expect(one.sms.sent).toHaveLength(1);
  });

  // guard test-numbers-3: no account gets a phone whose code others know
  // src/features/account/account-service.ts
  // - if (next.isTest !== (proved.phone?.isTest ?? false))
  // + if (!next.isTest && proved.phone?.isTest)
  it('does not change to a test number, whose code others know', async () => {
    const phone = numberForFiction();
    const one = await instance([phone]);
    const person = await register(one, newPhone(), true);
    const agent = await signedIn(one, person);
    const body = { password: person.password, verification_token: await tokenOf(one, phone) };
    expectRefusal(await post(agent, '/user/change_phone', body), 400, 'verification_token');
    expect(await isTest(person)).toBe(false);
  });

  // guard test-numbers-6: the account of a test number does not become a real one by a new phone
  // src/features/account/account-service.ts
  // - if (next.isTest !== (proved.phone?.isTest ?? false))
  // + if (next.isTest && !proved.phone?.isTest)
  it('is not made of that of a test number, by a change to a real one', async () => {
    const [phone, other, real] = [numberForFiction(), numberForFiction(), newPhone()];
    const one = await instance([phone, other]);
    const person = await register(one, phone);
    const agent = await signedIn(one, person);
    const change = async (verification_token: string) =>
      post(agent, '/user/change_phone', { password: person.password, verification_token });
    expectRefusal(await change(await tokenOf(one, real, true)), 400, 'verification_token');
    expectBody(await change(await tokenOf(one, other)), { code: 200 });
    expect(await isTest(other)).toBe(true);
  });
});
