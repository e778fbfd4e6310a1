import type { Knex } from 'knex';
import { tokenHash } from '../../../src/base/secrets';
import { VerificationTokensRepository } from '../../../src/features/verification/verification-tokens-repository';
import { startApp, type TestApp } from '../../support/app';
import {
  cookieOf,
  countCodes,
  deviceCookieOf,
  expectBody,
  expectRefusal,
  inParallel,
  post,
  sendRaw,
  type Answer,
} from '../../support/calls';
import { instancesBeside } from '../../support/instances';
import { rongCloudEnv } from '../../support/messaging';
import {
  e164,
  expectOk,
  field,
  insertAndLogIn,
  insertAndSignIn,
  insertPerson,
  newPassword,
  newPhone,
  register,
  verificationToken,
  type PhoneFields,
} from '../../support/people';
import { productionEnv } from '../../support/production';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { startRongCloudStandIn } from '../../support/stand-ins/rongcloud';
import { until } from '../../support/until';
import { whileHeld, whileOpen } from '../../support/waiting';

const PROXIED = { TRUST_PROXY: 'loopback' };
const { app } = stage({ env: PROXIED });
const instance = instancesBeside(() => app, PROXIED);
afterEach(async () => {
  await app.db('rate_limits').delete();
});

const HOME = { 'X-Forwarded-For': '203.0.113.7', 'User-Agent': 'Phone/1.0' };
const ELSEWHERE = { 'X-Forwarded-For': '198.51.100.7', 'User-Agent': 'Phone/2.0' };

type Headers = Record<string, string>;

const logIn = (verification_token: string, headers: Headers = HOME, on: TestApp = app) =>
  post(on.api, '/user/login_by_token', { verification_token }, headers);
const registerBy = (verification_token: string, headers: Headers = HOME, on: TestApp = app, nickname = 'Ann') =>
  post(on.api, '/user/register_by_token', { nickname, verification_token }, headers);
const reset = (verification_token: string, password = newPassword()) =>
  post(app.api, '/user/reset_password', { verification_token, password });
const setPassword = (Cookie: string, verification_token: string, password = newPassword(), on: TestApp = app) =>
  post(on.api, '/user/set_password', { verification_token, password }, { ...HOME, Cookie });

const expectUnknown = (answer: Answer) => {
  expectRefusal(answer, 400, 'verification_token', 'wrong_token');
  expect(answer.headers).not.toHaveProperty('set-cookie');
};

const statusWith = async (Cookie: string) => (await sendRaw(app, '/user/groups', { headers: { Cookie } })).status;
const idOf = ({ body }: Answer) => String(field(field(body, 'result'), 'id'));
const remembered = (answer: Answer): Answer => {
  rememberSecret(String(field(field(answer.body, 'result'), 'token')));
  rememberSecret(decodeURIComponent(cookieOf(answer).slice('sid='.length)));
  deviceCookieOf(answer);
  return answer;
};

/** Signs in by a code, and returns the answer. */
async function signedInByCode(phone: PhoneFields, headers: Headers = HOME): Promise<Answer> {
  const answer = remembered(await logIn(await verificationToken(app, phone), headers));
  expect(answer.status).toBe(200);
  return answer;
}

/** Registers without a password. */
async function newcomer(phone = newPhone()): Promise<PhoneFields & { id: string; cookie: string }> {
  const answer = remembered(await registerBy(await verificationToken(app, phone)));
  expect(answer.status).toBe(200);
  return { ...phone, id: idOf(answer), cookie: cookieOf(answer) };
}

const sessionsOf = (id: string) => app.db('session').whereRaw(`sess ->> 'userId' = ?`, [id]);
const tokensOf = (phone: PhoneFields) => app.db('verification_tokens').where({ phone: e164(phone) });
const aMinutePasses = (phone: PhoneFields) =>
  tokensOf(phone).update({ used_at: app.db.raw(`used_at - interval '61 seconds'`) });
const eventsOf = (id: string) =>
  app
    .db('security_events')
    .where({ user_id: id })
    .orderBy('id')
    .select<{ event: string; detail: string | null }[]>('event', 'detail');

describe('/user/login_by_token', () => {
  it('starts a session of the account of the phone, as a login with the password does', async () => {
    const person = await insertPerson(app);
    const answer = remembered(await logIn(await verificationToken(app, person)));
    const byPassword = remembered(await post(app.api, '/user/login', person, HOME));
    for (const { status, body, headers } of [answer, byPassword]) {
      expect(status).toBe(200);
      expect(body).toEqual({ code: 200, result: { id: person.id, token: expect.any(String) as string } });
      expect(headers['set-cookie']).toEqual([expect.stringMatching(/^sid=/), expect.stringMatching(/^device=/)]);
    }
    const attributes = ({ headers }: Answer) =>
      headers['set-cookie']?.map((cookie) => cookie.replace(/=[^;]*/, '').replace(/Expires=[^;]*/, ''));
    expect(attributes(answer)).toEqual(attributes(byPassword));
    expect(await statusWith(cookieOf(answer))).toBe(200);
  });

  it('leaves password and other sessions as they are, and says in the audit trail that it was by a code', async () => {
    const person = await insertAndLogIn(app);
    await signedInByCode(person);
    expect((await post(person.agent, '/user/groups')).status).toBe(200);
    expect((await post(app.api, '/user/login', person, HOME)).body).toMatchObject({ code: 200 });
    expect(await eventsOf(person.id)).toEqual([
      { event: 'logged_in', detail: null },
      { event: 'logged_in', detail: 'login_by_token' },
      { event: 'logged_in', detail: null },
    ]);
  });

  // guard token-logins-12: a login by a token ends the other tokens of the phone
  // src/features/verification/verification-tokens-repository.ts
  // - AND token_hash <> :tokenHash),
  // + AND false AND token_hash <> :tokenHash),
  // guard token-logins-13: a login by a token ends the codes of the phone
  // src/features/verification/verification-tokens-repository.ts
  // - UPDATE verification_codes SET expires_at = created_at WHERE phone = :phone AND expires_at > now())
  // + SELECT 1)
  it('ends all other tokens and codes of the phone, as a reset does', async () => {
    const person = await insertPerson(app);
    const [hoarded, token] = [await verificationToken(app, person), await verificationToken(app, person)];
    const { region, phone } = person;
    expectBody(await post(app.api, '/user/send_code', { region, phone }), { code: 200 });
    const code = app.sms.codeFor(e164(person));
    expect(remembered(await logIn(token)).status).toBe(200);
    expectUnknown(await logIn(hoarded));
    expectUnknown(await reset(hoarded));
    expectBody(await post(app.api, '/user/verify_code', { region, phone, code }), { code: 2000 });
  });

  it('refuses a phone without an account, whose token stays good for registering', async () => {
    const token = await verificationToken(app, newPhone());
    expectRefusal(await logIn(token), 400, 'verification_token', 'no_account');
    expect(remembered(await registerBy(token)).status).toBe(200);
  });

  it('refuses a token that is unknown, expired, or used for something else', async () => {
    const person = await insertPerson(app);
    expectUnknown(await logIn('unknown'));
    const expired = await verificationToken(app, person);
    await tokensOf(person).update({ expires_at: app.db.fn.now() });
    expectUnknown(await logIn(expired));
    const used = await verificationToken(app, person);
    expectBody(await reset(used), { code: 200 });
    expectUnknown(await logIn(used));
  });

  it('begins under a new id, and ends the session that the client had', async () => {
    const [attacker, victim] = [await insertPerson(app), await insertPerson(app)];
    const planted = cookieOf(remembered(await post(app.api, '/user/login', attacker)));
    const token = await verificationToken(app, victim);
    const answer = remembered(await logIn(token, { ...HOME, Cookie: planted }));
    expect(idOf(answer)).toBe(victim.id);
    expect(cookieOf(answer)).not.toBe(planted);
    expect(await statusWith(planted)).toBe(401);
  });

  // guard token-logins-10: a suspended account is not logged in to by a token, and the try is noted
  // src/features/auth/token-logins.ts
  // - if (!account.isSuspended) return entrant;
  // + if (account) return entrant;
  it('refuses a suspended account without using the token, and notes it', async () => {
    const person = await insertPerson(app);
    await app.db('users').where({ id: person.id }).update({ suspended_at: app.db.fn.now() });
    const token = await verificationToken(app, person);
    const refused = await logIn(token);
    expectRefusal(refused, 403, 'suspended', 'account_suspended');
    expect(refused.headers).not.toHaveProperty('set-cookie');
    expect(await eventsOf(person.id)).toEqual([{ event: 'login_failed', detail: 'login_by_token, suspended' }]);
    await app.db('users').where({ id: person.id }).update({ suspended_at: null });
    expect(remembered(await logIn(token)).status).toBe(200);
  });

  it('gets no session when the account is suspended in the meantime, and the token stays', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    const suspend = 'UPDATE users SET suspended_at = now() WHERE id = ?';
    const answer = await whileHeld(app, suspend, [person.id], () => logIn(token));
    expectRefusal(answer, 403, 'suspended', 'account_suspended');
    expect(await sessionsOf(person.id)).toEqual([]);
    expect(await tokensOf(person)).toMatchObject([{ used_at: null }]);
  });

  it('does not find the account of a phone that was closed', async () => {
    const person = await insertAndSignIn(app);
    expectBody(await post(person.agent, '/user/close_account', { password: person.password }), { code: 200 });
    expectRefusal(await logIn(await verificationToken(app, person)), 400, 'account', 'no_account');
  });

  it('needs HTTPS in production, like a login, and then leaves the token good', async () => {
    const production = await startApp(
      { ...productionEnv(), TRUST_PROXY: '1', PASSWORDS: 'optional' },
      { databaseUrl: app.databaseUrl },
    );
    const phone = { region: 44, phone: 7_911_123_456 };
    await production.db('phones').where({ phone: '+447911123456' }).delete();
    const { id } = await insertPerson(production);
    await production.db('phones').where({ user_id: id }).update({ phone: '+447911123456' });
    const token = await verificationToken(production, phone);
    expectRefusal(await logIn(token, { 'X-Forwarded-For': '203.0.113.7' }, production), 500, 'HTTPS', 'https_required');
    const secure = { ...HOME, 'X-Forwarded-Proto': 'https' };
    expect(remembered(await logIn(token, secure, production)).status).toBe(200);
    await production.close();
  });
});

describe('the limits of a login by a token', () => {
  // guard token-logins-8: a login by a token counts as a right login
  // src/features/auth/token-logins.ts
  // - await this.deps.attempts.byToken(phone.number, caller);
  it('are those of right logins, and the token stays good for a reset', async () => {
    const few = await instance({ LOGINS_PER_PHONE_DAY: '2' });
    const person = await insertPerson(app);
    for (const headers of [HOME, ELSEWHERE])
      expect(remembered(await logIn(await verificationToken(app, person), headers, few)).status).toBe(200);
    const token = await verificationToken(app, person);
    expectRefusal(await logIn(token, HOME, few), 429, '', 'too_many_attempts');
    expectRefusal(await post(few.api, '/user/login', person, HOME), 429, '', 'too_many_attempts');
    expectBody(await reset(token), { code: 200 });
  });

  it('also count logins of an address', async () => {
    const few = await instance({ LOGINS_PER_PHONE_AND_IP_HOUR: '1' });
    const person = await insertPerson(app);
    expect(remembered(await logIn(await verificationToken(app, person), HOME, few)).status).toBe(200);
    expectRefusal(await logIn(await verificationToken(app, person), HOME, few), 429, '', 'too_many_attempts');
    expect(remembered(await logIn(await verificationToken(app, person), ELSEWHERE, few)).status).toBe(200);
  });

  // guard token-logins-9: wrong passwords of strangers do not refuse a login by a token
  // src/features/auth/login-attempts.ts
  // - await this.limiter.take(caller, ...rightLogins(phone, caller));
  // + await this.limiter.take(caller, ...ofStranger(phone, caller).uses);
  it("are not those of wrong passwords: strangers cannot lock it, and it does not clear strangers' counts", async () => {
    const few = await instance({ LOGIN_FAILURES_PER_PHONE_DAY: '3' });
    const person = await insertPerson(app);
    const guess = (index: number) =>
      post(few.api, '/user/login', { ...person, password: 'wrong-one' }, { 'X-Forwarded-For': `10.0.0.${index}` });
    expect(countCodes(await inParallel(5, guess))).toEqual({ 1000: 3, 429: 2 });
    expect(remembered(await logIn(await verificationToken(app, person), ELSEWHERE, few)).status).toBe(200);
    expectRefusal(await guess(6), 429, '', 'too_many_attempts');
    for (let time = 0; time < 5; time += 1) expectUnknown(await logIn('wrong', HOME, few));
  });
});

describe('sending a used token again', () => {
  // guard token-logins-5: a token that is sent again ends the session that it began
  // src/features/auth/token-logins.ts
  // - if ((await sessions.endBySid(sid)) === 0) throw unknownToken(operation);
  it('starts another session for the same client within a minute, in place of the one of the lost answer', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    const lost = remembered(await logIn(token));
    const answer = remembered(await logIn(token));
    expect(answer.status).toBe(200);
    expect(idOf(answer)).toBe(person.id);
    expect(await statusWith(cookieOf(lost))).toBe(401);
    expect(await statusWith(cookieOf(answer))).toBe(200);
    expect(await sessionsOf(person.id)).toHaveLength(1);
    expect(await eventsOf(person.id)).toEqual([
      { event: 'logged_in', detail: 'login_by_token' },
      { event: 'sessions_ended', detail: '1, by login_by_token' },
      { event: 'logged_in', detail: 'login_by_token' },
    ]);
  });

  it('works for a client that has received the cookie, and nothing else', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    const Cookie = cookieOf(remembered(await logIn(token)));
    const answer = remembered(await logIn(token, { ...HOME, Cookie }));
    expect(answer.status).toBe(200);
    expect(await statusWith(Cookie)).toBe(401);
    expect(await sessionsOf(person.id)).toHaveLength(1);
  });

  // guard token-logins-2: a used token is unknown to other clients
  // src/features/auth/token-logins.ts
  // - (!token.usedBy || this.askerHmacs(token, caller).some((one) => token.usedBy?.equals(one)))
  // + true
  // src/features/verification/verification-tokens-repository.ts
  // - ELSE ${isRepeatable} AND asker_hmac = ANY (:askerHmacs::bytea[]) END AS is_good
  // + ELSE ${isRepeatable} END AS is_good
  it('is refused for another client, like an unknown token', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    const Cookie = cookieOf(remembered(await logIn(token)));
    expectUnknown(await logIn(token, ELSEWHERE));
    expect(await statusWith(Cookie)).toBe(200);
  });

  // guard token-logins-3: a used token is worthless after a minute
  // src/features/verification/verification-tokens-repository.ts
  // - const isRepeatable = `used_at > now() - interval '1 minute'`;
  // + const isRepeatable = `used_at > now() - interval '1 day'`;
  // guard token-logins-22: a used token is kept for its minute
  // src/features/verification/verification-tokens-repository.ts
  // - expires_at <= now() AND (${isRepeatable}) IS NOT TRUE
  // + expires_at <= now()
  it('is refused after a minute, and the row is swept then, but not before', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    remembered(await logIn(token));
    await app.sweep();
    expect(await tokensOf(person)).toHaveLength(1);
    await aMinutePasses(person);
    expectUnknown(await logIn(token));
    await app.sweep();
    expect(await tokensOf(person)).toEqual([]);
  });

  // guard token-logins-4: a used token does not bring back a session that has ended
  // src/features/auth/token-logins.ts
  // - if ((await sessions.endBySid(sid)) === 0) throw unknownToken(operation);
  // + await sessions.endBySid(sid);
  it('does not bring back a session that was logged out', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    const Cookie = cookieOf(remembered(await logIn(token)));
    expectBody(await sendRaw(app, '/user/logout', { headers: { Cookie } }), { code: 200 });
    expectUnknown(await logIn(token));
    expect(await sessionsOf(person.id)).toEqual([]);
  });

  it('is refused once the password was changed', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    const Cookie = cookieOf(remembered(await logIn(token)));
    const passwords = { oldPassword: person.password, newPassword: newPassword() };
    expectBody(await post(app.api, '/user/change_password', passwords, { ...HOME, Cookie }), { code: 200 });
    expectUnknown(await logIn(token));
    expect(await statusWith(Cookie)).toBe(200);
  });

  it('does not work for anything else: nothing but a session comes of a used token', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    const Cookie = cookieOf(remembered(await logIn(token)));
    expectUnknown(await reset(token));
    const body = { nickname: 'Ann', password: newPassword(), verification_token: token };
    expectRefusal(await post(app.api, '/user/register', body, HOME), 404, 'verification_token', 'no_such_token');
    const phone = { password: person.password, verification_token: token };
    expectRefusal(await post(app.api, '/user/change_phone', phone, { ...HOME, Cookie }), 400, '', 'wrong_token');
  });

  // guard token-logins-7: an instance of the version before takes a used token for expired
  // src/features/verification/verification-tokens-repository.ts
  // - expires_at = 'epoch', asker_hmac
  // + expires_at = now(), asker_hmac
  it('finds a row that the version before takes for expired, whenever its transaction began', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    await app.db.transaction(async (before) => {
      await before.raw('SELECT now()');
      remembered(await logIn(token));
      const good = before('verification_tokens').where({ phone: e164(person) });
      expect(await good.where('expires_at', '>', before.fn.now())).toEqual([]);
    });
  });
});

describe('simultaneous uses of one token', () => {
  const clients = Array.from({ length: 10 }, (_, index) => ({ 'X-Forwarded-For': `203.0.113.${index + 1}` }));

  // guard token-logins-1: one of several clients gets in that use a token at once
  // src/features/verification/verification-tokens-repository.ts
  // - ELSE ${isRepeatable} AND asker_hmac = ANY (:askerHmacs::bytea[]) END AS is_good
  // + ELSE ${isRepeatable} END AS is_good
  it('let exactly one of ten clients in, on two instances', async () => {
    const second = await instance();
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    const answers = await inParallel(10, (index) => logIn(token, clients[index], index % 2 === 0 ? app : second));
    expect(countCodes(answers.map(remembered))).toEqual({ 200: 1, 400: 9 });
    expect(await sessionsOf(person.id)).toHaveLength(1);
  });

  it('create exactly one account, on two instances', async () => {
    const second = await instance();
    const phone = newPhone();
    const token = await verificationToken(app, phone);
    const answers = await inParallel(10, (index) =>
      registerBy(token, clients[index], index % 2 === 0 ? app : second, 'Newcomer'),
    );
    expect(answers.map(remembered).filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await app.db('phones').where({ phone: e164(phone) })).toHaveLength(1);
    expect(await app.db('users').where({ nickname: 'Newcomer' })).toHaveLength(1);
  });

  it('create exactly one account of two tokens', async () => {
    const phone = newPhone();
    const tokens = [await verificationToken(app, phone), await verificationToken(app, phone)];
    const answers = await inParallel(2, (index) => registerBy(tokens[index] ?? '', clients[index]));
    expect(answers.map(remembered).filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await app.db('phones').where({ phone: e164(phone) })).toHaveLength(1);
  });

  // guard token-logins-18: a request that is repeated while the first one runs finds what that has done
  // src/features/verification/verification-token.ts
  // - return verificationTokens.run(hash.toString('base64url'), () => work(hash));
  // + return work(hash);
  it('by one client leave one session, whose answer came last', async () => {
    const second = await instance();
    for (const enter of [logIn, registerBy]) {
      const phone = enter === logIn ? await insertPerson(app) : newPhone();
      const token = await verificationToken(app, phone);
      const answers = (await inParallel(4, () => enter(token, HOME, app))).map(remembered);
      expect(countCodes(answers)).toEqual({ 200: 4 });
      expect(new Set(answers.map(idOf)).size).toBe(1);
      const statuses = await Promise.all(answers.map((answer) => statusWith(cookieOf(answer))));
      expect(statuses.sort()).toEqual([200, 401, 401, 401]);
      expect(remembered(await enter(token, HOME, second)).status).toBe(200);
      expect(await sessionsOf(idOf(answers[0] as Answer))).toHaveLength(1);
    }
  });

  // guard token-logins-6: a token that has begun a session does not reset the password
  // src/features/verification/verification-tokens-repository.ts
  // - WHERE token_hash = :tokenHash AND used_at IS NULL`,
  // + WHERE token_hash = :tokenHash`,
  it('by a login and a reset: a reset that waits for the login is refused', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    const spend = async (trx: Knex) => {
      const use = { sid: 'a session', askerHmacs: [Buffer.from('a client')] };
      const spent = await new VerificationTokensRepository(trx).spendToken(tokenHash(token), e164(person), use);
      expect(spent).toEqual({ replacedSid: null });
    };
    expectUnknown(await whileOpen(app, spend, () => reset(token)));
    expect((await post(app.api, '/user/login', person, HOME)).body).toMatchObject({ code: 200 });
  });

  it('by a reset and a login: a login that waits for the reset is refused', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    const use = async (trx: Knex) =>
      expect(await new VerificationTokensRepository(trx).useToken(tokenHash(token), e164(person))).toBe(true);
    expectUnknown(await whileOpen(app, use, () => logIn(token)));
    expect(await sessionsOf(person.id)).toEqual([]);
  });

  // guard token-logins-23: an account is created in the transaction that uses its token and starts its session
  // src/features/auth/token-logins.ts
  // - if (isNew) await create(repos, account, phone, caller);
  // + if (isNew) await create({ ...repos, users: this.deps.users }, account, phone, caller);
  it('are all or nothing: a session that cannot be started leaves the token good, and no account', async () => {
    const [person, phone] = [await insertPerson(app), newPhone()];
    const [token, ofNewcomer] = [await verificationToken(app, person), await verificationToken(app, phone)];
    await app.db.raw('ALTER TABLE session RENAME TO no_session');
    try {
      expectRefusal(await logIn(token), 500);
      expectRefusal(await registerBy(ofNewcomer), 500);
    } finally {
      await app.db.raw('ALTER TABLE no_session RENAME TO session');
    }
    expect(await app.db('phones').where({ phone: e164(phone) })).toEqual([]);
    expect(remembered(await logIn(token)).status).toBe(200);
    expect(remembered(await registerBy(ofNewcomer)).status).toBe(200);
  });
});

describe('/user/register_by_token', () => {
  it('creates an account without a password, and signs in', async () => {
    const phone = newPhone();
    const answer = remembered(await registerBy(await verificationToken(app, phone)));
    expect(answer.body).toEqual({ code: 200, result: { id: idOf(answer), token: expect.any(String) as string } });
    expect(answer.headers['set-cookie']).toEqual([expect.stringMatching(/^sid=/), expect.stringMatching(/^device=/)]);
    const Cookie = cookieOf(answer);
    expectBody(await sendRaw(app, `/user/${idOf(answer)}`, { headers: { Cookie } }), {
      code: 200,
      result: { id: idOf(answer), nickname: 'Ann', portraitUri: '' },
    });
    expect(await app.db('users').where({ id: idOf(answer) })).toMatchObject([{ password_hash: '' }]);
    expect(await eventsOf(idOf(answer))).toEqual([
      { event: 'registered', detail: 'register_by_token' },
      { event: 'logged_in', detail: 'register_by_token' },
    ]);
  });

  it('makes an account that no password opens, until it has one', async () => {
    const person = await newcomer();
    for (const password of ['opensesame', '$2b$04$', 'undefined', 'null-null'])
      expectBody(await post(app.api, '/user/login', { ...person, password }), { code: 1000 });
    expectRefusal(await post(app.api, '/user/login', { ...person, password: '' }), 400, 'password');
    expect((await signedInByCode(person)).body).toMatchObject({ result: { id: person.id } });
  });

  it('refuses a phone with an account; the token stays good for a login', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    const refused = await registerBy(token);
    expectRefusal(refused, 400, 'verification_token', 'phone_taken');
    expect(refused.headers).not.toHaveProperty('set-cookie');
    expect(remembered(await logIn(token)).status).toBe(200);
  });

  it('refuses a token that is unknown or used, like register', async () => {
    expectRefusal(await registerBy('unknown'), 404, 'verification_token', 'no_such_token');
    const phone = newPhone();
    const token = await verificationToken(app, phone);
    const body = { nickname: 'Ann', password: newPassword(), verification_token: token };
    expect((await post(app.api, '/user/register', body)).status).toBe(200);
    expectRefusal(await registerBy(token), 404, 'verification_token', 'no_such_token');
  });

  // guard token-logins-25: a token that has begun a login does not serve to register
  // src/features/auth/token-logins.ts
  // - if (known && phone.usedAt && known.createdAt < phone.usedAt) throw unknownToken('register_by_token');
  it('refuses a token that login_by_token has used, from the same address too', async () => {
    const person = await newcomer();
    const token = await verificationToken(app, person);
    const { status } = remembered(await logIn(token));
    expect(status).toBe(200);
    expectRefusal(await registerBy(token), 404, 'verification_token', 'no_such_token');
  });

  it('sent again by the same client within a minute finds the account that it has created', async () => {
    const phone = newPhone();
    const token = await verificationToken(app, phone);
    const lost = remembered(await registerBy(token));
    const answer = remembered(await registerBy(token));
    expect(answer.status).toBe(200);
    expect(idOf(answer)).toBe(idOf(lost));
    expect(await statusWith(cookieOf(lost))).toBe(401);
    expectRefusal(await registerBy(token, ELSEWHERE), 404, 'verification_token', 'no_such_token');
    await aMinutePasses(phone);
    expectRefusal(await registerBy(token), 404, 'verification_token', 'no_such_token');
    expect(await app.db('phones').where({ phone: e164(phone) })).toHaveLength(1);
  });

  it('counts against the limits of right logins', async () => {
    const few = await instance({ LOGINS_PER_PHONE_DAY: '1' });
    const token = await verificationToken(app, newPhone());
    expect(remembered(await registerBy(token, HOME, few)).status).toBe(200);
    expectRefusal(await registerBy(token, HOME, few), 429, '', 'too_many_attempts');
  });

  // guard token-logins-24: no cookie is set for a session without a messaging token
  // src/features/auth/auth-router.ts
  // -   token = await auth.messagingToken(account, publicUrlOf(req), () => unknownToken(operation));
  // - };
  // - await cookies.start(req, account, begin, { byToken: true });
  // +   };
  // + await cookies.start(req, account, begin, { byToken: true });
  // + token = await auth.messagingToken(account, publicUrlOf(req), () => unknownToken(operation));
  it('can be sent again when the messaging provider has failed after the account was created', async () => {
    const vendor = await startRongCloudStandIn();
    const rongCloud = await startApp({ ...PROXIED, ...rongCloudEnv(vendor) });
    try {
      const token = await verificationToken(rongCloud, newPhone());
      vendor.behave({ status: 500, code: 1000 });
      const failed = await registerBy(token, HOME, rongCloud);
      expect(failed.status).toBeGreaterThanOrEqual(500);
      expect(failed.headers).not.toHaveProperty('set-cookie');
      vendor.behave('accept');
      expect(remembered(await registerBy(token, HOME, rongCloud)).status).toBe(200);
      expect(await rongCloud.db('users')).toHaveLength(1);
      expect(await rongCloud.db('session')).toHaveLength(1);
    } finally {
      await rongCloud.close();
      await vendor.close();
    }
  });
});

describe('/user/set_password', () => {
  it('sets the first password, keeps this session, and ends the others and all tokens of the phone', async () => {
    const person = await newcomer();
    const other = cookieOf(await signedInByCode(person, ELSEWHERE));
    const [hoarded, token] = [await verificationToken(app, person), await verificationToken(app, person)];
    const password = newPassword();
    expectBody(await setPassword(person.cookie, token, password), { code: 200 });
    expect(await statusWith(person.cookie)).toBe(200);
    expect(await statusWith(other)).toBe(401);
    expectUnknown(await logIn(hoarded));
    const login = remembered(await post(app.api, '/user/login', { ...person, password }, HOME));
    expect(login.body).toMatchObject({ code: 200, result: { id: person.id } });
    const events = await eventsOf(person.id);
    expect(events).toContainEqual({ event: 'password_reset', detail: 'set_password' });
    expect(events).toContainEqual({ event: 'sessions_ended', detail: '1, by the new password' });
  });

  it('renews the cookie of the device, if the request has it', async () => {
    const phone = newPhone();
    const answer = remembered(await registerBy(await verificationToken(app, phone)));
    const cookies = [cookieOf(answer), deviceCookieOf(answer)].join('; ');
    const set = await setPassword(cookies, await verificationToken(app, phone));
    expect(set.headers['set-cookie']).toEqual([expect.stringMatching(/^device=/)]);
    expect(deviceCookieOf(set)).not.toBe(deviceCookieOf(answer));
  });

  // guard token-logins-15: set_password does not replace a password
  // src/features/auth/auth-service.ts
  // - if (account.passwordHash !== '') throw new BadRequest('has_password', HAS_PASSWORD);
  it('refuses an account that has a password, and leaves the token good', async () => {
    const person = await insertPerson(app);
    const token = await verificationToken(app, person);
    const Cookie = cookieOf(remembered(await post(app.api, '/user/login', person, HOME)));
    expectRefusal(await setPassword(Cookie, token), 400, 'change_password', 'has_password');
    expect((await post(app.api, '/user/login', person, HOME)).body).toMatchObject({ code: 200 });
    expectBody(await reset(token), { code: 200 });
  });

  // guard token-logins-14: a stolen session cannot set the first password with a token of the thief's own phone
  // src/features/auth/auth-service.ts
  // - if ((await users.idByPhone(phone.number)) !== userId)
  // + if (!userId)
  it("wants a fresh token of the account's own phone: a stolen session cannot set it", async () => {
    const person = await newcomer();
    const ofThief = await verificationToken(app, newPhone());
    const ofOther = await verificationToken(app, await insertPerson(app));
    for (const token of ['unknown', ofThief, ofOther])
      expectRefusal(await setPassword(person.cookie, token), 400, 'verification_token', 'wrong_token');
    expect(await app.db('users').where({ id: person.id })).toMatchObject([{ password_hash: '' }]);
    expect(remembered(await registerBy(ofThief)).status).toBe(200);
  });

  it('does not take the token that has begun the session', async () => {
    const phone = newPhone();
    const token = await verificationToken(app, phone);
    const Cookie = cookieOf(remembered(await registerBy(token)));
    expectRefusal(await setPassword(Cookie, token), 400, 'verification_token', 'wrong_token');
  });

  it('sets one password, even if two are sent at once', async () => {
    const person = await newcomer();
    const tokens = [await verificationToken(app, person), await verificationToken(app, person)];
    const passwords = [newPassword(), newPassword()];
    const answers = await inParallel(2, (index) => setPassword(person.cookie, tokens[index] ?? '', passwords[index]));
    expect(countCodes(answers)).toEqual({ 200: 1, 400: 1 });
    const winner = answers.findIndex(({ status }) => status === 200);
    for (const index of [0, 1])
      expect((await post(app.api, '/user/login', { ...person, password: passwords[index] })).body).toMatchObject({
        code: index === winner ? 200 : 1000,
      });
  });

  // guard token-logins-21: a first password lets an owner in whom strangers have locked out
  // src/features/auth/auth-service.ts
  // -     await attempts.forget(phone.number);
  // -     const version
  // + const version
  it('lets an owner in whom strangers have locked out', async () => {
    const few = await instance({ LOGIN_FAILURES_PER_PHONE_DAY: '1' });
    const person = await newcomer();
    const password = newPassword();
    const attempt = () => post(few.api, '/user/login', { ...person, password }, ELSEWHERE);
    expectBody(await attempt(), { code: 1000 });
    expect((await attempt()).status).toBe(429);
    const token = await verificationToken(app, person);
    expectBody(await setPassword(person.cookie, token, password, few), { code: 200 });
    expect(remembered(await attempt()).body).toMatchObject({ code: 200 });
  });
});

describe('an account without a password', () => {
  it('refuses operations that ask for it, like a wrong password', async () => {
    const { cookie: Cookie } = await newcomer();
    const password = newPassword();
    const calls: [path: string, body: object][] = [
      ['/user/close_account', { password }],
      ['/user/change_password', { oldPassword: password, newPassword: newPassword() }],
      ['/user/change_phone', { password, verification_token: await verificationToken(app, newPhone()) }],
    ];
    for (const [path, body] of calls)
      expectRefusal(await post(app.api, path, body, { ...HOME, Cookie }), 400, 'assword', 'wrong_password');
  });

  it('gets one by reset_password, too', async () => {
    const person = await newcomer();
    const password = newPassword();
    expectBody(await reset(await verificationToken(app, person), password), { code: 200 });
    expect(await statusWith(person.cookie)).toBe(401);
    expect((await post(app.api, '/user/login', { ...person, password })).body).toMatchObject({ code: 200 });
  });
});

describe('a session without the password', () => {
  const listed = async (Cookie: string) =>
    field((await sendRaw(app, '/user/sessions', { headers: { Cookie } })).body, 'result') as Record<string, unknown>[];
  const exported = async (Cookie: string) =>
    field((await sendRaw(app, '/user/export', { headers: { Cookie } })).body, 'result') as {
      sessions: Record<string, unknown>[];
      securityEvents: Record<string, unknown>[];
    };
  const placesIn = (rows: Record<string, unknown>[]) => rows.map(({ ip, userAgent }) => [ip, userAgent]);
  const [HERE, THERE] = [HOME, ELSEWHERE].map((headers) => [headers['X-Forwarded-For'], headers['User-Agent']]);

  // guard token-logins-16: a session without the password does not see where the password was used
  // src/features/sessions/sessions-repository.ts
  // - CASE WHEN own.by_token AND NOT ${BY_TOKEN} THEN '' ELSE
  // + CASE WHEN own.by_token AND NOT ${BY_TOKEN} AND false THEN '' ELSE
  // guard token-logins-17: an export without the password shows no other places
  // src/features/account/export-service.ts
  // - own.byToken ? own.ip : undefined,
  // + undefined,
  it('sees no places where the password was used, in its sessions or in an export', async () => {
    const person = await register(app);
    await expectOk(app.api.post('/user/login').set(HOME).send(person));
    const Cookie = cookieOf(await signedInByCode(person, ELSEWHERE));
    await expectOk(app.api.post('/user/login').set(HOME).send(person));
    expect(placesIn(await listed(Cookie))).toEqual([['', ''], THERE, ['', '']]);
    const { sessions, securityEvents } = await exported(Cookie);
    expect(placesIn(sessions)).toEqual([['', ''], THERE, ['', '']]);
    expect(new Set(placesIn(securityEvents).map(String))).toEqual(new Set([',', String(THERE)]));
  });

  it('sees places of others without the password, and the session with it sees all', async () => {
    const person = await insertPerson(app);
    const [here, there] = [await signedInByCode(person), await signedInByCode(person, ELSEWHERE)];
    expect(placesIn(await listed(cookieOf(here)))).toEqual([THERE, HERE]);
    expect(placesIn(await listed(cookieOf(there)))).toEqual([THERE, HERE]);
    const byPassword = cookieOf(remembered(await post(app.api, '/user/login', person, HOME)));
    expect(placesIn(await listed(byPassword))).toEqual([HERE, THERE, HERE]);
    expect(placesIn((await exported(byPassword)).securityEvents)).toContainEqual(THERE);
  });

  it('stays one when it is renewed', async () => {
    const person = await insertPerson(app);
    remembered(await post(app.api, '/user/login', person, HOME));
    const Cookie = cookieOf(await signedInByCode(person, ELSEWHERE));
    const longAgo = app.db.raw(`jsonb_set(sess::jsonb, '{renewedAt}', '1')::json`);
    await sessionsOf(person.id).update({ sess: longAgo });
    expect((await sendRaw(app, '/user/sessions', { headers: { Cookie } })).headers).toHaveProperty('set-cookie');
    expect(placesIn(await listed(Cookie))).toEqual([THERE, ['', '']]);
  });
});

describe('PASSWORDS=required', () => {
  // guard token-logins-11: PASSWORDS=required refuses before a token is used
  // src/features/auth/token-logins.ts
  // - if (this.rules.passwordRequired)
  // + if (this.rules.passwordRequired && !hash)
  it('refuses to sign in and up by a token, before it is used', async () => {
    const strict = await instance({ PASSWORDS: 'required' });
    const [person, phone] = [await insertPerson(app), newPhone()];
    const [token, ofNewcomer] = [await verificationToken(app, person), await verificationToken(app, phone)];
    expectRefusal(await logIn(token, HOME, strict), 403, 'password', 'password_required');
    expectRefusal(await registerBy(ofNewcomer, HOME, strict), 403, 'password', 'password_required');
    expectRefusal(await logIn('unknown', HOME, strict), 403, 'password', 'password_required');
    expectBody(await post(strict.api, '/user/reset_password', { verification_token: token, password: newPassword() }), {
      code: 200,
    });
    const body = { nickname: 'Ann', password: newPassword(), verification_token: ofNewcomer };
    expect((await post(strict.api, '/user/register', body)).status).toBe(200);
  });

  it('lets an account without a password set one', async () => {
    const strict = await instance({ PASSWORDS: 'required' });
    const person = await newcomer();
    expectBody(await setPassword(person.cookie, await verificationToken(app, person), newPassword(), strict), {
      code: 200,
    });
  });
});

describe('notices', () => {
  const TEXTS = { NOTIFY: 'sms', NOTIFY_TEXT_NEW_DEVICE: 'new device', NOTIFY_TEXT_PASSWORD_RESET: 'reset' };
  const toldTo = (on: TestApp, phone: PhoneFields) =>
    on.sms.sent.filter(({ to, code }) => to === e164(phone) && code === undefined).map(({ body }) => body);

  // guard token-logins-19: the owner is told of a login by a code on a new device
  // src/features/auth/token-logins.ts
  // - notices.loggedIn(id, caller);
  // guard token-logins-20: the owner is told of a first password
  // src/features/auth/auth-service.ts
  // - notices.notify('password_reset', { id: userId, phone }, caller);
  it('tell the owner of a login by a code on a new device, and not of one that is sent again', async () => {
    const on = await instance(TEXTS);
    const person = await register(app);
    await expectOk(app.api.post('/user/login').set(HOME).send(person));
    const token = await verificationToken(app, person);
    remembered(await logIn(token, ELSEWHERE, on));
    await until(() => toldTo(on, person).length > 0);
    await app.db('rate_limits').delete();
    remembered(await logIn(token, ELSEWHERE, on));
    const other = await newcomerAt(on);
    const set = { verification_token: await verificationToken(app, other), password: newPassword() };
    expectBody(await post(on.api, '/user/set_password', set, { ...HOME, Cookie: other.cookie }), { code: 200 });
    await until(() => toldTo(on, other).length > 0);
    expect(toldTo(on, person)).toEqual(['new device']);
    expect(toldTo(on, other)).toEqual(['reset']);
  });

  async function newcomerAt(on: TestApp) {
    const phone = newPhone();
    const answer = remembered(await registerBy(await verificationToken(app, phone), HOME, on));
    return { ...phone, cookie: cookieOf(answer) };
  }
});
