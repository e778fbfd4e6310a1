import { REASONS, type Reason } from '../../src/base/reasons';
import { startApp } from '../support/app';
import { expectBody, expectRefusal, expectReturnCode, post, sendRaw, type Answer } from '../support/calls';
import { solvedCaptcha } from '../support/captchas';
import { befriend } from '../support/groups';
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
} from '../support/people';
import { rememberSecret } from '../support/secrets';
import { stage } from '../support/stage';
import { watchStatements } from '../support/statements';

const { app, instance } = stage({ env: { CORS_ORIGINS: 'https://web.example.com' } });

const sendCode = (body: object, on = app) => post(on.api, '/user/send_code', body);
const verifyCode = (phone: object, code: string, on = app) => post(on.api, '/user/verify_code', { ...phone, code });

const TABLES_OF_CODES = /phones|rate_limits|verification_|sms_|security_events/;

/** Returns all that a client sees of an answer, except what is unique to each. */
function seen({ status, body, headers }: Answer): object {
  const { date: _date, 'x-request-id': _id, 'retry-after': _seconds, ...others } = headers;
  return { status, body, headers: others };
}

describe('the reason of a return code', () => {
  const textOf = async (path: string, body: object, headers = {}) => {
    const answer = await fetch(`${app.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return [answer.status, answer.headers.get('X-Reason'), await answer.text()];
  };

  // guard reasons-1: every refusal has its reason in X-Reason
  // src/http/error-handler.ts
  // - res.set('X-Reason', appError.reason);
  // guard reasons-2: the body of a return code contains only the code
  // src/http/error-handler.ts
  // - res.json({ code: appError.code });
  // + res.json({ code: appError.code, reason: appError.reason });
  it.each(['1000', '2000', '5000'])(
    'is only in the header, and the body stays the same to the byte: %s',
    async (code) => {
      const phone = newPhone();
      const login = ['/user/login', { ...newPhone(), password: 'secret1' }] as const;
      const verify = ['/user/verify_code', { ...phone, code: '1' }] as const;
      const send = ['/user/send_code', phone] as const;
      expectBody(await sendCode(phone), { code: 200 });
      await app
        .db('verification_codes')
        .where({ phone: e164(phone) })
        .update({ expires_at: app.db.fn.now() });
      const [call, reason] = {
        1000: [login, 'wrong_credentials'] as const,
        2000: [verify, 'code_expired'] as const,
        5000: [send, 'too_soon'] as const,
      }[code as '1000'];
      expect(await textOf(...call)).toEqual([200, reason, `{"code":${code}}`]);
    },
  );

  it('is absent when nothing is refused', async () => {
    expect((await sendCode(newPhone())).headers).not.toHaveProperty('x-reason');
  });

  // guard reasons-3: a page of an allowed origin can read X-Reason
  // src/http/cross-site.ts
  // - 'X-Reason, Retry-After,
  // + 'Retry-After,
  it('is readable by a page of an allowed origin', async () => {
    const answer = await post(app.api, '/user/groups', {}, { Origin: 'https://web.example.com' });
    expectRefusal(answer, 401, 'log in', 'not_signed_in');
    const exposed = String(answer.headers['access-control-expose-headers']).split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['X-Reason', 'Retry-After', 'X-Request-Id']));
  });
});

describe('the reason of send_code says', () => {
  // guard reasons-8: a captcha is requested only while it helps
  // src/load/limits.ts
  // - met[1] < most
  // + met[1] < Infinity
  it('when a captcha helps, and when only waiting helps', async () => {
    const on = await instance({ SEND_CODE_PER_PHONE_DAY: '1' });
    const phone = newPhone();
    const send = (captcha = {}) => sendCode({ ...phone, ...captcha }, on);
    expectBody(await send(), { code: 200 });
    expectReturnCode(await send(), 'too_soon');
    await passResendTime(app, phone);
    expectReturnCode(await send(), 'captcha_required');
    expectReturnCode(await send({ verifyId: 'x', verifyCode: 'wrong' }), 'captcha_required');
    expectBody(await send(await solvedCaptcha(app)), { code: 200 });
    const late = await send(await solvedCaptcha(app));
    expectReturnCode(late, 'too_soon');
    await passResendTime(app, phone);
    expectReturnCode(await send(await solvedCaptcha(app)), 'daily_limit');
    expectReturnCode(await send(), 'daily_limit');
  });

  // guard reasons-10: Retry-After belongs to the reason
  // src/features/limits/limiter.ts
  // - other.reason === first.reason &&
  it('when it is too soon and for how long, whatever other limit is reached too', async () => {
    const on = await instance({ SEND_CODE_PER_PHONE_DAY: '1' });
    const phone = newPhone();
    expectBody(await sendCode(phone, on), { code: 200 });
    const answer = await sendCode(phone, on);
    expectReturnCode(answer, 'too_soon');
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
  });

  // guard reasons-9: no captcha is requested when captchas are off
  // src/features/verification/send-code-service.ts
  // - if (raised === 'nothing') return name;
  // + if (raised === 'nothing') return orCaptcha(limits[name], limits[withCaptcha]);
  it('nothing of a captcha where captchas are off', async () => {
    const on = await instance({ SEND_CODE_PER_PHONE_DAY: '1', CAPTCHA_POLICY: 'off' });
    const phone = newPhone();
    expectBody(await sendCode(phone, on), { code: 200 });
    await passResendTime(app, phone);
    expectReturnCode(await sendCode(phone, on), 'daily_limit');
  });

  it('whether a required captcha is missing or wrong', async () => {
    const on = await instance({ CAPTCHA_POLICY: 'always' });
    expectRefusal(await sendCode(newPhone(), on), 400, 'verifyCode', 'captcha_missing');
    const wrong = { verifyId: 'x', verifyCode: 'wrong' };
    expectRefusal(await sendCode({ ...newPhone(), ...wrong }, on), 400, 'verifyCode', 'captcha_wrong');
  });

  it("whether the limit is the address's, the service's for the day, or the guesses", async () => {
    const address = await instance({ SEND_CODE_PER_IP_HOUR: '1' });
    await sendCode(newPhone(), address);
    expectReturnCode(await sendCode(newPhone(), address), 'address_limit');

    const budget = await startApp({ SEND_CODE_PER_DAY: '1' });
    await sendCode(newPhone(), budget);
    expectReturnCode(await sendCode(newPhone(), budget), 'sending_paused');
    await budget.close();

    const guesses = await instance({ WRONG_CODES_PER_PHONE_DAY: '1' });
    const phone = newPhone();
    await sendCode(phone, guesses);
    expectReturnCode(await verifyCode(phone, 'wrong', guesses), 'wrong_code');
    expectReturnCode(await verifyCode(phone, 'wrong', guesses), 'guesses_spent');
    expectReturnCode(await sendCode(phone, guesses), 'no_guesses_left');
  });
});

describe('a reason tells a stranger no more than the code about', () => {
  const login = (phone: object, password: string, on = app) => post(on.api, '/user/login', { ...phone, password });

  // guard reasons-4: the reason of a failed login does not tell whether the account exists
  // src/features/auth/auth-service.ts
  // - audit.noteLoginFailed(phone, known?.id, caller);
  // - throw wrongCredentials();
  // + audit.noteLoginFailed(phone, known?.id, caller);
  // + throw known ? wrongCredentials() : new Wrong('wrong_code', 'x');
  it('a login: an unknown phone, a wrong password and a closed account have the same answer', async () => {
    const { region, phone } = await insertPerson(app);
    const closed = await insertAndSignIn(app);
    expectBody(await post(closed.agent, '/user/close_account', { password: closed.password }), { code: 200 });
    const wrong = await login({ region, phone }, 'wrong-1');
    expectReturnCode(wrong, 'wrong_credentials');
    expect(seen(await login(newPhone(), 'wrong-1'))).toEqual(seen(wrong));
    expect(seen(await login({ region, phone: closed.phone }, closed.password))).toEqual(seen(wrong));
  });

  // guard reasons-5: the reason of a login beyond a limit does not tell whether earlier ones were right
  // src/load/limits.ts
  // - name: 'logins_pa', per: 'phone and address', seconds: HOUR, refusal: loggingIn
  // + name: 'logins_pa', per: 'phone and address', seconds: HOUR, refusal: tooMany('too_many_checks')
  it('a login: too many wrong passwords and too many right ones have the same answer', async () => {
    const on = await instance({ LOGIN_FAILURES_PER_PHONE_AND_IP: '1', LOGINS_PER_PHONE_AND_IP_HOUR: '1' });
    const [one, other] = [await insertPerson(app), await insertPerson(app)];
    await login({ region: 44, phone: one.phone }, 'wrong-1', on);
    await login({ region: 44, phone: other.phone }, other.password, on);
    const failed = await login({ region: 44, phone: one.phone }, one.password, on);
    expectRefusal(failed, 429, '', 'too_many_attempts');
    expect(seen(await login({ region: 44, phone: other.phone }, 'wrong-1', on))).toEqual(seen(failed));
  });

  // guard reasons-6: the reason of a wrong code does not tell whether one was sent
  // src/features/verification/verify-code-service.ts
  // - new Wrong('wrong_code', 'no code was sent to this phone')
  // + new Wrong('too_many_groups', 'no code was sent to this phone')
  it('verify_code: a wrong code, and a code that was never sent', async () => {
    const phone = newPhone();
    expectBody(await sendCode(phone), { code: 200 });
    const wrong = await verifyCode(phone, 'wrong');
    expectReturnCode(wrong, 'wrong_code');
    expect(seen(await verifyCode(newPhone(), 'wrong'))).toEqual(seen(wrong));
  });

  // guard reasons-7: the reason for not sending a code does not tell whether there is an account
  // src/features/verification/send-code-service.ts
  // - const raised = await this.raisedBy(captcha, phone, caller);
  // + const raised = (await knownPlaces.trustOf(phone.number, caller)) !== 'no account' ? 'nothing' : await this.raisedBy(captcha, phone, caller);
  it('send_code: a phone with an account, and one without', async () => {
    const { region, phone } = await insertPerson(app);
    const on = await instance({ SEND_CODE_PER_PHONE_DAY: '1' });
    const answers = [];
    for (const one of [{ region, phone }, newPhone()]) {
      await sendCode(one, on);
      const soon = seen(await sendCode(one, on));
      await passResendTime(app, one);
      answers.push([soon, seen(await sendCode(one, on))]);
    }
    expect(answers[1]).toEqual(answers[0]);
  });

  it('send_code and verify_code: accounts with and without a password, and none; they run the same statements', async () => {
    const [withPassword, without] = [await insertPerson(app), await insertPerson(app)];
    await app.db('users').where({ id: without.id }).update({ password_hash: '' });
    const seenOf = async ({ region, phone }: ReturnType<typeof newPhone>) => {
      const watched = watchStatements('');
      const answers = [
        await sendCode({ region, phone }),
        await verifyCode({ region, phone }, 'wrong'),
        await verifyCode({ region, phone }, app.sms.codeFor(e164({ region, phone }))),
      ];
      jest.restoreAllMocks();
      const token = rememberSecret(String(field(field(answers[2]?.body, 'result'), 'verification_token')));
      const answered = answers.map(seen);
      return {
        answered: JSON.parse(JSON.stringify(answered).replace(token, 'token')) as unknown,
        // Without those of new connections, webhooks and messaging, which run beside requests.
        statements: watched.sent.map(({ text }) => text).filter((text) => TABLES_OF_CODES.test(text)),
      };
    };
    // The first code to a country also reads how many were sent there in the past.
    await seenOf(newPhone());
    const first = await seenOf(withPassword);
    expect(first.answered).toMatchObject([{ body: { code: 200 } }, { body: { code: 1000 } }, { body: { code: 200 } }]);
    expect(first.statements.length).toBeGreaterThan(5);
    expect(await seenOf(without)).toEqual(first);
    expect(await seenOf(newPhone())).toEqual(first);
  });

  it('a verification token: unknown, spent and expired', async () => {
    const person = await insertPerson(app);
    const reset = (verification_token: string) =>
      post(app.api, '/user/reset_password', { verification_token, password: newPassword() });
    const spent = await verificationToken(app, { region: 44, phone: person.phone });
    expectBody(await reset(spent), { code: 200 });
    const late = await verificationToken(app, { region: 44, phone: person.phone });
    await app
      .db('verification_tokens')
      .where({ phone: e164(person) })
      .update({ expires_at: app.db.fn.now() });
    const unknown = await reset('unknown');
    expectRefusal(unknown, 400, 'verification_token', 'wrong_token');
    for (const token of [spent, late]) expect(seen(await reset(token))).toEqual(seen(unknown));
  });

  it('a user: unknown, closed, and not findable', async () => {
    const { agent } = await insertAndSignIn(app);
    const [closed, hidden] = await insertAndSignInAll(app, 'Closed', 'Hidden');
    await post(closed.agent, '/user/close_account', { password: closed.password });
    await post(hidden.agent, '/user/set_findable', { findable: false });
    const unknown = await post(agent, '/user/abcdefghijkl');
    expectRefusal(unknown, 404, '', 'no_such_user');
    for (const path of [`/user/${closed.id}`, `/user/find/44/${closed.phone}`, `/user/find/44/${hidden.phone}`])
      expect(seen(await post(agent, path))).toEqual(seen(unknown));
    const invite = (friendId: string) => post(agent, '/friendship/invite', { friendId });
    expect(seen(await invite(closed.id))).toEqual(seen(await invite('abcdefghijkl')));
  });

  it('a group: unknown, foreign, and one that the user was kicked out of', async () => {
    const [ann, bob] = await insertAndSignInAll(app, 'Ann', 'Bob');
    await befriend(app, ann, [bob]);
    const create = async (memberIds: string[]) => {
      const { body } = await post(ann.agent, '/group/create', { name: 'Hikers', memberIds });
      return String(field(field(body, 'result'), 'id'));
    };
    const [foreign, former] = [await create([]), await create([bob.id])];
    expectBody(await post(ann.agent, '/group/kick', { groupId: former, memberIds: [bob.id] }), { code: 200 });
    for (const [path, fields] of [
      ['/group/quit', {}],
      ['/group/rename', { name: 'Bikers' }],
    ] as const) {
      const ask = async (groupId: string) => seen(await post(bob.agent, path, { groupId, ...fields }));
      const unknown = await ask('abcdefghijkl');
      expect(unknown).toMatchObject({ body: { reason: 'no_such_group' } });
      for (const id of [foreign, former]) expect(await ask(id)).toEqual(unknown);
    }
    const join = async (groupId: string) => seen(await post(bob.agent, '/group/join', { groupId }));
    expect(await join(former)).toEqual(await join('abcdefghijkl'));
  });

  it('an invitation: a blacklisted sender, and one who asks again too early', async () => {
    const [ann, bob, eve] = await insertAndSignInAll(app, 'Ann', 'Bob', 'Eve');
    await post(bob.agent, '/user/add_to_blacklist', { friendId: eve.id });
    const invite = ({ agent }: typeof ann) => post(agent, '/friendship/invite', { friendId: bob.id });
    await invite(ann);
    const early = await invite(ann);
    expect(seen(await invite(eve))).toEqual(seen(early));
    expect(early.headers).not.toHaveProperty('x-reason');
  });
});

describe('the reason of an answer that no operation gives', () => {
  it.each<[reason: Reason, method: string, path: string]>([
    ['no_such_path', 'POST', '/nothing'],
    ['method_not_allowed', 'GET', '/user/login'],
    ['malformed_path', 'POST', '/user/%'],
    ['no_such_captcha', 'GET', '/captcha/x.png'],
    ['no_such_image', 'GET', '/files/a/b.png'],
    ['upload_token_refused', 'POST', '/mkfile/1'],
    ['malformed_upload', 'POST', '/files'],
    ['malformed_upload', 'POST', '/'],
  ])('is %s', async (reason, method, path) => {
    const answer = await sendRaw(app, path, { method });
    const { error: _error, ...body } = answer.body as { error?: string };
    expectRefusal({ ...answer, body }, REASONS[reason].code, '', reason);
  });
});
