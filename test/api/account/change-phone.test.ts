import { cookieOf, deviceCookieOf, expectBody, expectRefusal, post } from '../../support/calls';
import { instancesBeside } from '../../support/instances';
import {
  e164,
  expectOk,
  insertAndSignIn,
  insertPerson,
  newPassword,
  newPhone,
  profileOf,
  signIn,
  verificationToken,
  type Person,
  type PhoneFields,
  type SignedInPerson,
} from '../../support/people';
import { stage } from '../../support/stage';
import { until } from '../../support/until';

describe('POST /user/change_phone', () => {
  let phone: PhoneFields;
  const { app, ann } = stage({ people: 1 });
  beforeEach(async () => {
    phone = newPhone();
  });

  const change = ({ agent, password }: SignedInPerson, verification_token: string) =>
    post(agent, '/user/change_phone', { password, verification_token });
  const logIn = (who: PhoneFields, password: string) =>
    post(app.api, '/user/login', { region: who.region, phone: who.phone, password });
  const phonesOf = ({ id }: Person) => app.db('phones').where({ user_id: id }).select('phone', 'region');

  it('gives the account the new phone, and frees the old one', async () => {
    expectBody(await change(ann, await verificationToken(app, phone)), { code: 200 });
    expect(await phonesOf(ann)).toEqual([{ phone: e164(phone), region: '44' }]);
    expect((await logIn(phone, ann.password)).body).toMatchObject({ code: 200, result: { id: ann.id } });
    expectBody(await logIn(ann, ann.password), { code: 1000 });
    const bob = await insertAndSignIn(app);
    expectBody(await post(bob.agent, `/user/find/44/${phone.phone}`), { code: 200, result: profileOf(ann) });
    expectRefusal(await post(bob.agent, `/user/find/44/${ann.phone}`), 404);
    const body = { nickname: 'New', password: newPassword(), verification_token: await verificationToken(app, ann) };
    await expectOk(app.api.post('/user/register').send(body));
  });

  // guard change-phone-3: a changed phone ends the other sessions
  // src/features/account/account-service.ts
  // - await repos.sessions.endOthers(id, byOwner.sid, credentialsVersion + 1)
  // + 0
  // src/features/sessions/live-session.ts
  // - AND credentials_version = (sess ->> 'credentialsVersion')::integer
  it('ends the other sessions and the messaging tokens, and keeps the present session', async () => {
    const second = await signIn(app, ann);
    await app
      .db('messaging_tokens')
      .insert({ user_id: ann.id, app: 'app', token: 'x', nickname: '', portrait_uri: '' });
    expectBody(await change(ann, await verificationToken(app, phone)), { code: 200 });
    expectRefusal(await post(second.agent, '/user/groups'), 401);
    expect((await post(ann.agent, '/user/groups')).status).toBe(200);
    expect(await app.db('messaging_tokens').where({ user_id: ann.id })).toEqual([]);
  });

  it('keeps the device on which it was changed known', async () => {
    const { region, phone: number, password } = ann;
    const first = await post(app.api, '/user/login', { region, phone: number, password });
    const Cookie = `${cookieOf(first)}; ${deviceCookieOf(first)}`;
    const body = { password, verification_token: await verificationToken(app, phone) };
    const changed = await post(app.api, '/user/change_phone', body, { Cookie });
    expectBody(changed, { code: 200 });
    const value = decodeURIComponent(deviceCookieOf(changed));
    expect(value).toContain(`device=${ann.id}.1.`);
  });

  // guard change-phone-1: a wrong password does not change the phone
  // src/features/account/account-service.ts
  // - if (!proved) throw new WrongPassword('password');
  // - return proved;
  // + const account = proved?.account ?? (await this.deps.users.account(userId));
  // + if (!account) throw new WrongPassword('password');
  // + return proved ?? { account, phone: undefined, number: '' };
  it('answers 400 for a wrong password and counts it as a failed login; the token stays valid', async () => {
    const verification_token = await verificationToken(app, phone);
    const wrong = { password: 'wrong-one', verification_token };
    expectRefusal(await post(ann.agent, '/user/change_phone', wrong), 400, 'password');
    const noted = await app.db('security_events').where({ user_id: ann.id, event: 'login_failed' }).select('detail');
    expect(noted).toEqual([{ detail: 'change_phone' }]);
    expectBody(await change(ann, verification_token), { code: 200 });
  });

  it('answers 400 for a phone that has an account; the token stays valid', async () => {
    const bob = await insertPerson(app, 'Bob');
    const verification_token = await verificationToken(app, bob);
    expectRefusal(await change(ann, verification_token), 400, 'verification_token');
    expect(await phonesOf(ann)).toHaveLength(1);
    await expectOk(app.api.post('/user/reset_password').send({ password: newPassword(), verification_token }));
  });

  it("answers 400 for the account's own phone", async () => {
    expectRefusal(await change(ann, await verificationToken(app, ann)), 400, 'verification_token');
  });

  it('answers 400 for a token that is unknown or was used', async () => {
    expectRefusal(await change(ann, 'unknown'), 400, 'verification_token');
    const token = await verificationToken(app, phone);
    expectBody(await change(ann, token), { code: 200 });
    expectRefusal(await change(await insertAndSignIn(app), token), 400, 'verification_token');
  });

  it('leaves an event in the audit trail, with masked phones', async () => {
    expectBody(await change(ann, await verificationToken(app, phone)), { code: 200 });
    const [event] = (await app.db('security_events').where({ user_id: ann.id, event: 'phone_changed' })) as {
      phone: string;
      detail: string;
    }[];
    expect(event?.phone).toMatch(/^\+447.*\d\d$/);
    expect(event?.detail).toMatch(/^before: \+447.*\d\d$/);
    expect(event?.detail).not.toMatch(/\d{6}/);
  });

  it('needs a session', async () => {
    const body = { password: ann.password, verification_token: await verificationToken(app, phone) };
    expectRefusal(await post(app.api, '/user/change_phone', body), 401);
  });

  describe('with NOTIFY', () => {
    const instance = instancesBeside(() => app, { NOTIFY: 'sms', NOTIFY_TEXT_PHONE_CHANGED: 'changed' });

    // guard change-phone-2: an owner gets a notice of a new phone at the old one
    // src/features/account/account-service.ts
    // - notices.notify('phone_changed', { id: account.id, phone }, caller);
    // + notices.notify('phone_changed', { id: account.id, phone: move.next }, caller);
    it('tells the owner at the old phone', async () => {
      const one = await instance();
      const person = await insertPerson(app);
      const signedIn = await signIn(one, person);
      // The notice about the new device. After it no other notice goes out for an hour.
      await until(async () => one.sms.sent.length > 0);
      await app.db('rate_limits').where('key', 'like', 'notices%').delete();
      expectBody(await change(signedIn, await verificationToken(one, phone)), { code: 200 });
      await until(async () => one.sms.sent.some(({ to, body }) => to === e164(person) && body === 'changed'));
    });
  });
});
