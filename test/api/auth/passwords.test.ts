import {
  cookieOf,
  countCodes,
  expectBody,
  expectRefusal,
  post,
  sendRaw,
  retryAfterOf,
  inParallel,
} from '../../support/calls';
import { watchHashing } from '../../support/hashing';
import {
  e164,
  insertAndSignIn,
  insertAndSignInAll,
  insertPerson,
  newPassword,
  newPhone,
  register,
  signIn,
  verificationToken,
  type Person,
} from '../../support/people';
import { stage } from '../../support/stage';

const { app, instance } = stage();

async function codeOfLogin({ region, phone }: Person, password: string): Promise<unknown> {
  const { body } = await post(app.api, '/user/login', { region, phone, password });
  return (body as { code: number }).code;
}

const reset = (verification_token: string, password: string) =>
  post(app.api, '/user/reset_password', { verification_token, password });

describe('/user/reset_password', () => {
  it('replaces the password with a valid token: verification token → password replaced', async () => {
    const person = await register(app);
    const password = newPassword();
    expectBody(await reset(await verificationToken(app, person), password), { code: 200 });
    expect(await codeOfLogin(person, person.password)).toBe(1000);
    expect(await codeOfLogin(person, password)).toBe(200);
  });

  // guard passwords-9: a new password ends the other tokens and codes of the phone
  // src/features/verification/verification-tokens-repository.ts
  // - await endAll(this.db, { phone });
  it('ends the other tokens and codes of the phone, so that hoarded ones cannot set another password', async () => {
    const person = await register(app);
    const { region, phone } = person;
    const hoarded = await verificationToken(app, person);
    const token = await verificationToken(app, person);
    expectBody(await post(app.api, '/user/send_code', { region, phone }), { code: 200 });
    const code = app.sms.codeFor(e164(person));
    expectBody(await reset(token, newPassword()), { code: 200 });
    expectRefusal(await reset(hoarded, newPassword()), 400, 'verification_token');
    expectBody(await post(app.api, '/user/verify_code', { region, phone, code }), { code: 2000 });
    await app.db('rate_limits').whereLike('key', 'resend%').delete();
    const next = await verificationToken(app, person);
    const password = newPassword();
    expectBody(await reset(await verificationToken(app, person), password), { code: 200 });
    const { agent } = await signIn(app, { ...person, password });
    const later = await verificationToken(app, person);
    const change = { oldPassword: password, newPassword: newPassword() };
    expectBody(await post(agent, '/user/change_password', change), { code: 200 });
    for (const old of [next, later]) expectRefusal(await reset(old, newPassword()), 400, 'verification_token');
  });

  // guard passwords-2: a reset ends all sessions
  // src/features/auth/auth-service.ts
  // - await repos.sessions.endAll(account.id)
  // + 0
  it('ends all sessions of the user at once, but not those of others', async () => {
    const [person, other] = await insertAndSignInAll(app, 'Person', 'Other');
    const second = await signIn(app, person);
    expectBody(await reset(await verificationToken(app, person), newPassword()), { code: 200 });
    expectRefusal(await post(person.agent, '/user/groups'), 401);
    expectRefusal(await post(second.agent, '/user/groups'), 401);
    expect((await post(other.agent, '/user/groups')).status).toBe(200);
    expect(await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [person.id])).toEqual([]);
  });

  it('ends sessions on other instances too', async () => {
    const person = await insertPerson(app);
    const other = await instance();
    const { agent } = await signIn(other, person);
    expect((await post(agent, '/user/groups')).status).toBe(200);
    expectBody(await reset(await verificationToken(app, person), newPassword()), { code: 200 });
    expectRefusal(await post(agent, '/user/groups'), 401);
  });

  it('does not sign the user in', async () => {
    const answer = await reset(await verificationToken(app, await insertPerson(app)), newPassword());
    expect(answer.headers).not.toHaveProperty('set-cookie');
  });

  // guard passwords-12: a verification token expires
  // src/features/verification/verification-tokens-repository.ts
  // - .where('expires_at', '>', this.db.fn.now())
  // src/features/verification/verification-tokens-repository.ts
  // - WHERE token_hash = :tokenHash AND expires_at > now()
  // + WHERE token_hash = :tokenHash
  it('answers 400 for a token that is unknown, spent or expired', async () => {
    const person = await insertPerson(app);
    expectRefusal(await reset('unknown', newPassword()), 400, 'verification_token');
    const token = await verificationToken(app, person);
    const password = newPassword();
    expectBody(await reset(token, password), { code: 200 });
    expectRefusal(await reset(token, newPassword()), 400, 'verification_token');
    const expired = await verificationToken(app, person);
    await app
      .db('verification_tokens')
      .where({ phone: e164(person) })
      .update({ expires_at: app.db.fn.now() });
    expectRefusal(await reset(expired, newPassword()), 400, 'verification_token');
    expect(await codeOfLogin(person, password)).toBe(200);
  });

  it('answers 400 for a phone without an account; the token stays valid for register', async () => {
    const verification_token = await verificationToken(app, newPhone());
    expectRefusal(await reset(verification_token, newPassword()), 400, 'verification_token');
    const password = newPassword();
    const answer = await post(app.api, '/user/register', { verification_token, nickname: 'Ann', password });
    expect(answer.status).toBe(200);
  });

  it('works at once after register, without waiting for another code', async () => {
    const person = await register(app);
    const password = newPassword();
    expectBody(await reset(await verificationToken(app, person), password), { code: 200 });
    expect(await codeOfLogin(person, password)).toBe(200);
  });

  // guard passwords-1: a verification token is used once, also in parallel
  // src/features/verification/verification-tokens-repository.ts
  // - DELETE FROM verification_tokens WHERE token_hash IN (SELECT token_hash FROM locked) RETURNING token_hash, phone, used_at
  // + SELECT token_hash, phone, used_at FROM verification_tokens WHERE token_hash IN (SELECT token_hash FROM locked)
  it('uses a token once, even for 10 concurrent resets', async () => {
    for (let round = 0; round < 3; round += 1) {
      const person = await insertPerson(app);
      const token = await verificationToken(app, person);
      const passwords = Array.from({ length: 10 }, newPassword);
      const answers = await inParallel(10, (index) => reset(token, passwords[index] ?? ''));
      expect(countCodes(answers)).toEqual({ 200: 1, 400: 9 });
      const winner = answers.findIndex(({ status }) => status === 200);
      expect(await codeOfLogin(person, passwords[winner] ?? '')).toBe(200);
    }
  });

  // guard passwords-5: a limit that was cleared is not remembered as full
  // src/features/limits/limiter.ts
  // - this.full.forgetAll(prefix);
  it('lets an owner in again who was locked out by failed logins', async () => {
    const person = await insertPerson(app);
    await inParallel(10, () => codeOfLogin(person, 'wrong-one'));
    // All at the same moment.
    const frozen = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    expect(await codeOfLogin(person, person.password)).toBe(429);
    const password = newPassword();
    expectBody(await reset(await verificationToken(app, person), password), { code: 200 });
    expect(await codeOfLogin(person, password)).toBe(200);
    expect(await codeOfLogin(person, 'wrong-one')).toBe(1000);
    frozen.mockRestore();
  });

  // guard passwords-6: right logins by a thief of the password do not keep the owner out after a reset
  // src/features/auth/login-attempts.ts
  // - await this.limiter.clear('loginsPerPhone', phone);
  // guard passwords-7: right logins by a thief at one address do not keep the owner out after a reset
  // src/features/auth/login-attempts.ts
  // - await this.limiter.clearAll('loginsPerPhoneAndAddress', `${phone} `);
  // guard passwords-8: right logins by a thief do not keep the owner out after a changed password
  // src/features/auth/auth-service.ts
  // - await attempts.forgetRight(number);
  it('lets an owner in again whom a thief locked out by right logins, like a changed password does', async () => {
    const limits = { TRUST_PROXY: 'loopback', LOGINS_PER_PHONE_AND_IP_HOUR: '4', LOGINS_PER_PHONE_DAY: '6' };
    const limited = await instance(limits);
    const person = await insertAndSignIn(limited);
    const login = (password: string, address: string) =>
      post(limited.api, '/user/login', { ...person, password }, { 'X-Forwarded-For': address });
    const steal = async (password: string) => {
      for (const address of ['10.0.0.1', '10.0.0.2', '127.0.0.1']) await inParallel(4, () => login(password, address));
      expectRefusal(await login(password, '127.0.0.1'), 429);
    };
    await steal(person.password);
    const changed = newPassword();
    const change = { oldPassword: person.password, newPassword: changed };
    expectBody(await post(person.agent, '/user/change_password', change), { code: 200 });
    expect((await login(changed, '127.0.0.1')).body).toMatchObject({ code: 200 });
    await steal(changed);
    const password = newPassword();
    const { region, phone } = person;
    expectBody(await reset(await verificationToken(app, { region, phone }), password), { code: 200 });
    for (const address of ['10.0.0.1', '127.0.0.1'])
      expect((await login(password, address)).body).toMatchObject({ code: 200 });
  });

  it('keeps the failures of other phones, even of one that begins with the same digits', async () => {
    const person = await insertPerson(app);
    const longer = `login_failures_pa:${e164(person)}0 127.0.0.1`;
    const resets_at = app.db.raw(`now() + interval '1 minute'`);
    await app.db('rate_limits').insert({ key: longer, used: 10, amount: 10, resets_at });
    expectBody(await reset(await verificationToken(app, person), newPassword()), { code: 200 });
    expect(await app.db('rate_limits').where({ key: longer })).toHaveLength(1);
  });
});

describe('/user/change_password', () => {
  const change = (agent: Parameters<typeof post>[0], oldPassword: unknown, newPassword_: unknown) =>
    post(agent, '/user/change_password', { oldPassword, newPassword: newPassword_ });

  // guard passwords-10: a new password is valid as soon as it is answered
  // src/features/users/users-repository.ts
  // - password_hash: passwordHash, ...this.newCredentials()
  // + ...this.newCredentials()
  it('replaces the password, and answers only code 200', async () => {
    const person = await insertAndSignIn(app);
    const password = newPassword();
    expectBody(await change(person.agent, person.password, password), { code: 200 });
    expect(await codeOfLogin(person, person.password)).toBe(1000);
    expect(await codeOfLogin(person, password)).toBe(200);
  });

  it("ends the user's other sessions at once; the present one and those of others stay", async () => {
    const [person, other] = await insertAndSignInAll(app, 'Person', 'Other');
    const second = await signIn(app, person);
    expectBody(await change(person.agent, person.password, newPassword()), { code: 200 });
    expect((await post(person.agent, '/user/groups')).status).toBe(200);
    expectRefusal(await post(second.agent, '/user/groups'), 401);
    expect((await post(other.agent, '/user/groups')).status).toBe(200);
  });

  // guard passwords-11: a new password needs the old one
  // src/features/auth/own-password.ts
  // - if (isRight) return
  // + if (isRight || !isRight) return
  it('answers 400 for a wrong old password, and changes nothing', async () => {
    const person = await insertAndSignIn(app);
    const second = await signIn(app, person);
    expectRefusal(await change(person.agent, 'wrong-one', newPassword()), 400, 'oldPassword');
    expect(await codeOfLogin(person, person.password)).toBe(200);
    expect((await post(second.agent, '/user/groups')).status).toBe(200);
  });

  it('counts a wrong old password as a failed login of that phone', async () => {
    const person = await insertPerson(app);
    // A client that keeps only the first cookie.
    const headers = { Cookie: cookieOf(await post(app.api, '/user/login', person)) };
    const changeFrom = (oldPassword: string) =>
      post(app.api, '/user/change_password', { oldPassword, newPassword: newPassword() }, headers);
    for (let failure = 0; failure < 5; failure += 1) {
      expectRefusal(await changeFrom('wrong-one'), 400);
      expect(await codeOfLogin(person, 'wrong-one')).toBe(1000);
    }
    expect(await codeOfLogin(person, person.password)).toBe(429);
    const refused = await changeFrom(person.password);
    expectRefusal(refused, 429);
    expect(retryAfterOf(refused)).toBeGreaterThan(0);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a number', 123456],
    ['5 bytes', 'x'.repeat(5)],
    ['21 bytes', 'x'.repeat(21)],
    ['21 bytes in 7 characters', '字'.repeat(7)],
    ['a space', 'secret 1'],
    ['NUL', 'secret\u00001'],
  ])('answers 400 to an oldPassword or newPassword of %s', async (_case, password) => {
    const person = await insertAndSignIn(app);
    expectRefusal(await change(person.agent, password, newPassword()), 400, 'oldPassword');
    expectRefusal(await change(person.agent, person.password, password), 400, 'newPassword');
    expect(await codeOfLogin(person, person.password)).toBe(200);
  });

  it('takes 6 and 20 bytes', async () => {
    const person = await insertAndSignIn(app);
    expectBody(await change(person.agent, person.password, 'sixsix'), { code: 200 });
    expectBody(await change(person.agent, 'sixsix', `${'字'.repeat(6)}ab`), { code: 200 });
    expect(await codeOfLogin(person, `${'字'.repeat(6)}ab`)).toBe(200);
  });

  // guard passwords-3: a new password ends the other sessions
  // src/features/auth/auth-service.ts
  // - await sessions.endOthers(userId, sid, version)
  // + 0
  // src/features/sessions/live-session.ts
  // - AND credentials_version = (sess ->> 'credentialsVersion')::integer
  it('lets one of 5 concurrent changes win, and keeps only the session that made it', async () => {
    const person = await insertPerson(app);
    const logins = await inParallel(5, () => post(app.api, '/user/login', person));
    const cookies = logins.map(cookieOf);
    const passwords = cookies.map(newPassword);
    const answers = await inParallel(5, (index) =>
      post(
        app.api,
        '/user/change_password',
        { oldPassword: person.password, newPassword: passwords[index] },
        { Cookie: cookies[index] ?? '' },
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(await codeOfLogin(person, passwords[winner] ?? '')).toBe(200);
    for (const [index, cookie] of cookies.entries())
      expect((await sendRaw(app, '/user/groups', { headers: { Cookie: cookie } })).status).toBe(
        index === winner ? 200 : 401,
      );
  });

  describe('with PASSWORD_CHANGES_PER_USER_HOUR', () => {
    // guard passwords-4: a user may change the password ten times an hour
    // src/features/auth/login-attempts.ts
    // - [{ limit: 'passwordChangesPerHour', subject: userId }]
    // + []
    it('answers 429 beyond it, before anything is hashed; mistakes do not count', async () => {
      const limited = await instance({ PASSWORD_CHANGES_PER_USER_HOUR: '2' });
      const [person, other] = await insertAndSignInAll(limited, 'Person', 'Other');
      expectRefusal(await change(person.agent, 'wrong-one', newPassword()), 400);
      expectRefusal(await change(person.agent, person.password, 'short'), 400);
      for (let count = 0; count < 2; count += 1)
        expectBody(await change(person.agent, person.password, person.password), { code: 200 });
      const hashing = watchHashing();
      const refused = await change(person.agent, person.password, newPassword());
      expectRefusal(refused, 429);
      expect(retryAfterOf(refused)).toBeGreaterThan(3_000);
      expectRefusal(await change(person.agent, 'wrong-one', newPassword()), 429);
      expect([...hashing.compared, ...hashing.hashed]).toEqual([]);
      jest.restoreAllMocks();
      expect(await codeOfLogin(person, person.password)).toBe(200);
      const events = await app.db('security_events').where({ event: 'password_changed', user_id: person.id });
      expect(events).toHaveLength(2);
      expectBody(await change(other.agent, other.password, newPassword()), { code: 200 });
    });
  });
});
