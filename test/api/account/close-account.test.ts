import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cookieOf, expectBody, expectRefusal, post } from '../../support/calls';
import { PNG } from '../../support/images';
import { instancesBeside } from '../../support/instances';
import {
  e164,
  expectOk,
  field,
  insertAndSignIn,
  insertPerson,
  newPassword,
  signIn,
  verificationToken,
  type Person,
  type SignedInPerson,
} from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { fullState, insertGroup, settledClient, sync } from '../../support/sync';
import { until } from '../../support/until';

describe('POST /user/close_account', () => {
  const { app, ann, cat } = stage({ people: 3 });

  const close = ({ agent, password }: SignedInPerson) => post(agent, '/user/close_account', { password });
  const closed = async (person: SignedInPerson) => expectBody(await close(person), { code: 200 });
  const logIn = ({ region, phone, password }: Person) => post(app.api, '/user/login', { region, phone, password });
  const befriend = (one: Person, other: Person) =>
    app.db('friendships').insert([
      { user_id: one.id, friend_id: other.id, status: 20, display_name: 'A name' },
      { user_id: other.id, friend_id: one.id, status: 20, display_name: '' },
    ]);
  const rowOf = ({ id }: Person) => app.db('users').where({ id }).first<Record<string, unknown>>();

  it('answers only code 200, clears the cookie, and ends all sessions', async () => {
    const second = await signIn(app, cat);
    const answer = await close(cat);
    expectBody(answer, { code: 200 });
    expect(cookieOf(answer)).toBe('sid=');
    for (const { agent } of [cat, second]) expectRefusal(await post(agent, '/user/groups'), 401);
    expect(await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [cat.id])).toEqual([]);
  });

  it("keeps the user's row, emptied", async () => {
    await expectOk(cat.agent.post('/user/set_portrait_uri').send({ portraitUri: 'https://a.b/p.png' }));
    await closed(cat);
    expect(await rowOf(cat)).toMatchObject({
      nickname: '',
      portrait_uri: '',
      password_hash: '',
      closed_at: expect.any(Date) as Date,
    });
  });

  it('answers 400 for a wrong password, and changes nothing', async () => {
    expectRefusal(await post(cat.agent, '/user/close_account', { password: 'wrong-one' }), 400, 'password');
    expect((await logIn(cat)).body).toMatchObject({ code: 200 });
    expect((await post(cat.agent, '/user/groups')).status).toBe(200);
  });

  // guard close-account-1: closing an account counts a wrong password as a failed login
  // src/features/auth/own-password.ts
  // - await attempt.end(isRight);
  it('counts a wrong password as a failed login of that phone, and logs it', async () => {
    const person = await insertPerson(app);
    // A client that keeps only the first cookie.
    const headers = { Cookie: cookieOf(await logIn(person)) };
    const closeBy = (password: string) => post(app.api, '/user/close_account', { password }, headers);
    for (let failure = 0; failure < 10; failure += 1) expectRefusal(await closeBy('wrong-one'), 400);
    expect((await logIn(person)).status).toBe(429);
    expectRefusal(await closeBy(person.password), 429);
    const noted = await app.db('security_events').where({ user_id: person.id, detail: 'close_account' });
    expect(noted).toHaveLength(10);
  });

  it('frees the phone, and a new account there has nothing of the old one', async () => {
    const { region, phone } = cat;
    await closed(cat);
    expectBody(await post(app.api, '/user/check_phone_available', { region, phone }), { code: 200, result: true });
    expectBody(await logIn(cat), { code: 1000 });
    expectRefusal(await post(ann.agent, `/user/find/${region}/${phone}`), 404);
    const body = { nickname: 'New', password: newPassword(), verification_token: await verificationToken(app, cat) };
    const { result } = await expectOk(app.api.post('/user/register').send(body));
    expect(field(result, 'id')).not.toBe(cat.id);
  });

  // guard close-account-2: a closed account ends its codes and tokens
  // src/features/account/account-service.ts
  // -   if (phone) await repos.verificationTokens.endAll(phone.number);
  // -   if (!(await repos.users.lock
  // + if (!(await repos.users.lock
  it('ends the codes and tokens of the phone', async () => {
    const verification_token = await verificationToken(app, cat);
    await closed(cat);
    expectRefusal(
      await post(app.api, '/user/reset_password', { password: newPassword(), verification_token }),
      400,
      'verification_token',
    );
    const body = { nickname: 'New', password: newPassword(), verification_token };
    expectRefusal(await post(app.api, '/user/register', body), 404);
  });

  it('hides the user and refuses to blacklist them; blacklist entries of others stay', async () => {
    const bob = await insertAndSignIn(app);
    await expectOk(bob.agent.post('/user/add_to_blacklist').send({ friendId: cat.id }));
    await closed(cat);
    expectRefusal(await post(ann.agent, `/user/${cat.id}`), 404);
    expectBody(await post(ann.agent, '/user/batch', { ids: [cat.id] }), { code: 200, result: [] });
    expectRefusal(await post(ann.agent, '/user/add_to_blacklist', { friendId: cat.id }), 400, 'friendId');
    const { blacklist } = await sync(bob);
    expect(blacklist).toMatchObject([{ friendId: cat.id, status: true }]);
  });

  // guard close-account-3: friends learn that an account is closed
  // src/features/account/closings-repository.ts
  // - export const LISTS = ['blacklist', 'own sides', 'other sides'] as const;
  // + export const LISTS: ('blacklist' | 'own sides' | 'other sides')[] = ['blacklist', 'own sides'];
  it('tells friends, users with a pending request, and members of the same groups by sync', async () => {
    const bob = await insertAndSignIn(app, 'Bob');
    await befriend(ann, cat);
    await app.db('friendships').insert([
      { user_id: cat.id, friend_id: bob.id, status: 10 },
      { user_id: bob.id, friend_id: cat.id, status: 11 },
    ]);
    await insertGroup(app, `told-${cat.id}`, [ann, bob, cat]);
    const clients = [
      { person: ann, client: await settledClient(ann) },
      { person: bob, client: await settledClient(bob) },
    ];
    await closed(cat);
    for (const { person, client } of clients) {
      const { friends, group_members } = await client.sync();
      expect(friends).toMatchObject([{ friendId: cat.id, status: 30 }]);
      const gone = group_members.filter(({ memberId }) => memberId === cat.id);
      expect(gone).toMatchObject([{ isDeleted: true, displayName: '', user: { nickname: '', portraitUri: '' } }]);
      expect(client.state()).toEqual(await fullState(person));
      expect(client.state()).toMatchObject({ friends: [], groups: [{ members: [{}, {}] }] });
    }
  });

  it("ends the user's blacklist, friendships and memberships, with the names given in them", async () => {
    await app.db('blacklist').insert({ user_id: cat.id, friend_id: ann.id });
    await befriend(cat, ann);
    await insertGroup(app, `own-${cat.id}`, [ann, cat]);
    await app.db('group_members').where({ member_id: cat.id }).update({ display_name: 'Kitty' });
    await closed(cat);
    expect(await app.db('blacklist').where({ user_id: cat.id }).select('status')).toEqual([{ status: false }]);
    const ended = { status: 30, display_name: '' };
    expect(await app.db('friendships').where({ user_id: cat.id }).select(Object.keys(ended))).toEqual([ended]);
    const left = { is_deleted: true, display_name: '' };
    expect(await app.db('group_members').where({ member_id: cat.id }).select(Object.keys(left))).toEqual([left]);
  });

  it('ends pending requests and their messages, and friendships with only one side', async () => {
    const bob = await insertAndSignIn(app, 'Bob');
    await expectOk(cat.agent.post('/friendship/invite').send({ friendId: ann.id, message: 'It is me' }));
    await expectOk(bob.agent.post('/friendship/invite').send({ friendId: cat.id, message: 'And me' }));
    const dan = await insertAndSignIn(app, 'Dan');
    await app.db('friendships').insert({ user_id: dan.id, friend_id: cat.id, status: 20 });
    const client = await settledClient(dan);
    await closed(cat);
    const sides = app
      .db('friendships')
      .where((side) => void side.where({ user_id: cat.id }).orWhere('friend_id', cat.id));
    expect(await sides.select('status', 'message')).toEqual(Array(5).fill({ status: 30, message: '' }));
    expect((await client.sync()).friends).toMatchObject([{ friendId: cat.id, status: 30 }]);
    for (const { agent } of [ann, bob]) expect((await expectOk(agent.post('/friendship/all'))).result).toEqual([]);
    expectRefusal(await post(ann.agent, '/friendship/agree', { friendId: cat.id }), 404);
    expectRefusal(await post(bob.agent, '/friendship/invite', { friendId: cat.id }), 400, 'friendId');
  });

  // guard close-account-4: a closed account keeps no name that it has given to a former friend
  // src/features/account/closings-repository.ts
  // - `(status <> 30 OR display_name <> '')`
  // + `status <> 30`
  it('also empties the names given to former friends', async () => {
    await befriend(cat, ann);
    await expectOk(cat.agent.post('/friendship/delete').send({ friendId: ann.id }));
    await closed(cat);
    expect(await app.db('friendships').where({ user_id: cat.id }).pluck('display_name')).toEqual(['']);
  });

  describe('passes a group on', () => {
    const people = async (count: number) => {
      const persons: Person[] = [];
      while (persons.length < count) persons.push(await insertPerson(app));
      return persons as [Person, Person, Person];
    };
    const join = (group_id: string, { id }: Person, role = 1) =>
      app.db('group_members').insert({ group_id, member_id: id, role });
    const rolesIn = async (group_id: string) => {
      const rows = await app
        .db('group_members')
        .where({ group_id, is_deleted: false })
        .orderBy('version')
        .select<{ member_id: string; role: number }[]>('member_id', 'role');
      return Object.fromEntries(rows.map(({ member_id, role }) => [member_id, role]));
    };
    const creatorOf = async (id: string) =>
      (await app.db('groups').where({ id }).first<{ creator_id: string }>('creator_id')).creator_id;

    // guard close-account-6: a group passes to a manager before plain members
    // migrations/0018_groups.up.sql
    // - ORDER BY role = 1, joined_version
    // + ORDER BY joined_version
    it('to the manager who has been there longest', async () => {
      const [first, second, third] = await people(3);
      const groupId = `managers-${cat.id}`;
      await insertGroup(app, groupId, [cat]);
      await join(groupId, first);
      await join(groupId, third, 2);
      await join(groupId, second, 2);
      await closed(cat);
      expect(await rolesIn(groupId)).toEqual({ [first.id]: 1, [third.id]: 0, [second.id]: 2 });
      expect(await creatorOf(groupId)).toBe(third.id);
    });

    // guard close-account-7: a group passes to the member who has been there longest
    // migrations/0018_groups.up.sql
    // - joined_version, member_id LIMIT 1
    // + joined_version DESC LIMIT 1
    it('without a manager, to the member who has been there longest since coming back', async () => {
      const [first, second] = await people(2);
      const groupId = `members-${cat.id}`;
      await insertGroup(app, groupId, [cat]);
      await join(groupId, first);
      await join(groupId, second);
      const away = { group_id: groupId, member_id: first.id };
      await app.db('group_members').where(away).update({ is_deleted: true });
      await app.db('group_members').where(away).update({ is_deleted: false });
      await closed(cat);
      expect(await rolesIn(groupId)).toEqual({ [second.id]: 0, [first.id]: 1 });
      expect(await creatorOf(groupId)).toBe(second.id);
    });

    it('to nobody when the user was its only member or not its creator', async () => {
      const [first, second] = await people(2);
      const [alone, others] = [`alone-${cat.id}`, `others-${cat.id}`];
      await insertGroup(app, alone, [cat]);
      await insertGroup(app, others, [first, cat, second]);
      await closed(cat);
      expect([await rolesIn(alone), await creatorOf(alone)]).toEqual([{}, cat.id]);
      expect(await rolesIn(others)).toEqual({ [first.id]: 0, [second.id]: 1 });
      expect(await creatorOf(others)).toBe(first.id);
    });
  });

  it('ends the stored messaging tokens', async () => {
    await app
      .db('messaging_tokens')
      .insert({ user_id: cat.id, app: 'app', token: 'x', nickname: '', portrait_uri: '' });
    await closed(cat);
    expect(await app.db('messaging_tokens').where({ user_id: cat.id })).toEqual([]);
  });

  // guard close-account-5: the images of a closed account are removed at once
  // src/features/account/account-service.ts
  // - await storage.accountClosed(userId)
  // + await Promise.resolve()
  it("removes the user's uploads, even one that a group shows", async () => {
    const { result } = await expectOk(cat.agent.post('/user/get_image_token'));
    const token = rememberSecret(String(field(result, 'token')));
    const sent = await app.api.post('/').field('token', token).attach('file', PNG, 'portrait.png');
    const key = String(field(sent.body, 'key'));
    const file = join(app.dataDir, 'uploads', key);
    expect(existsSync(file)).toBe(true);
    await insertGroup(app, `shows-${cat.id}`, [ann, cat]);
    await app
      .db('groups')
      .where({ id: `shows-${cat.id}` })
      .update({ portrait_uri: `${app.url}/files/${key}` });
    await closed(cat);
    expect(existsSync(file)).toBe(false);
    expect(await app.db('images').where({ user_id: cat.id })).toEqual([]);
    expect((await app.api.post('/').field('token', token).attach('file', PNG, 'portrait.png')).status).toBe(401);
  });

  it('leaves an event in the audit trail, with a masked phone', async () => {
    await closed(cat);
    const events = await app.db('security_events').where({ user_id: cat.id, event: 'account_closed' });
    expect(events).toHaveLength(1);
    expect(String((events as { phone: string }[])[0]?.phone)).toMatch(/^\+447.*\d\d$/);
  });

  it('needs a session', async () => {
    expectRefusal(await post(app.api, '/user/close_account', { password: cat.password }), 401);
  });

  describe('with NOTIFY', () => {
    const instance = instancesBeside(() => app, { NOTIFY: 'sms', NOTIFY_TEXT_ACCOUNT_CLOSED: 'closed' });

    it('tells the owner', async () => {
      const one = await instance();
      const person = await insertPerson(app);
      const signedIn = await signIn(one, person);
      // The notice about the new device. After it no other notice goes out for an hour.
      await until(async () => one.sms.sent.length > 0);
      await app.db('rate_limits').where('key', 'like', 'notices%').delete();
      await closed(signedIn);
      await until(async () => one.sms.sent.some(({ to, body }) => to === e164(person) && body === 'closed'));
    });
  });
});
