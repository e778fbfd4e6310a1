import { cookieOf, expectRefusal, post } from '../../support/calls';
import {
  e164,
  expectOk,
  insertAndSignIn,
  newPassword,
  profileOf,
  registerAndSignIn,
  signIn,
  verificationToken,
  type SignedInPerson,
} from '../../support/people';
import { stage } from '../../support/stage';
import { insertGroup } from '../../support/sync';
import { whileHeld } from '../../support/waiting';

interface Exported extends Record<string, unknown> {
  sessions: object[];
  blacklist: { friendId: string }[];
  friendships: { friendId: string }[];
  memberships: { groupId: string }[];
  securityEvents: { event: string; detail: string; ip: string; userAgent: string }[];
}

describe('POST /user/export', () => {
  let ann: SignedInPerson;
  let bob: SignedInPerson;
  const { app } = stage();
  beforeEach(async () => {
    [ann, bob] = [await registerAndSignIn(app, 'Ann'), await insertAndSignIn(app, 'Bob')];
  });

  const exported = async ({ agent }: SignedInPerson) => (await expectOk(agent.post('/user/export'))).result as Exported;
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

  it('returns all stored data of the user, including what has ended', async () => {
    await app.db('blacklist').insert({ user_id: ann.id, friend_id: bob.id });
    await app.db('friendships').insert([
      { user_id: ann.id, friend_id: bob.id, status: 20, display_name: 'Bobby' },
      { user_id: ann.id, friend_id: 'gone', status: 30, display_name: '' },
      { user_id: ann.id, friend_id: 'new', status: 11, message: 'It is me' },
      { user_id: bob.id, friend_id: ann.id, status: 20, display_name: 'Annie' },
    ]);
    const [living, left] = [`living-${ann.id}`, `left-${ann.id}`];
    await insertGroup(app, living, [bob, ann]);
    await insertGroup(app, left, [bob, ann]);
    await app.db('group_members').where({ group_id: left, member_id: ann.id }).delete();
    await app.db('images').insert({ user_id: ann.id, name: 'a.png', bytes: 100 });

    const { securityEvents, ...rest } = await exported(ann);
    expect(rest).toEqual({
      user: { ...profileOf(ann), findable: true, createdAt: time },
      phones: [{ phone: e164(ann), region: '44', language: '' }],
      numberClaims: [],
      sessions: [expect.objectContaining({ current: true })],
      images: [{ key: `${ann.id}/a.png`, bytes: 100 }],
      blacklist: [{ friendId: bob.id, status: true, updatedAt: time }],
      friendships: [
        { friendId: bob.id, displayName: 'Bobby', message: '', status: 20, updatedAt: time },
        { friendId: 'gone', displayName: '', message: '', status: 30, updatedAt: time },
        { friendId: 'new', displayName: '', message: 'It is me', status: 11, updatedAt: time },
      ].sort((a, b) => (a.friendId < b.friendId ? -1 : 1)),
      memberships: [
        { groupId: left, groupName: '', displayName: '', role: 1, isDeleted: true, updatedAt: time },
        { groupId: living, groupName: `Group ${living}`, displayName: '', role: 1, isDeleted: false, updatedAt: time },
      ],
    });
    expect(securityEvents.map(({ event }) => event)).toEqual(['registered', 'logged_in', 'data_exported']);
  });

  // guard export-5: an export contains no credentials
  // src/features/account/export-repository.ts
  // - is_findable AS findable,
  // + is_findable AS findable, password_hash AS "passwordHash",
  it('returns no credentials', async () => {
    const { region, phone, password } = ann;
    const cookie = cookieOf(await post(app.api, '/user/login', { region, phone, password }));
    const sid = decodeURIComponent(cookie).replace('sid=s:', '').split('.')[0] ?? '';
    expect(sid).toHaveLength(32);
    await app
      .db('messaging_tokens')
      .insert({ user_id: ann.id, app: 'app', token: 'kept', nickname: '', portrait_uri: '' });
    const text = JSON.stringify(await exported(ann));
    const { password_hash } = await app.db('users').where({ id: ann.id }).first<{ password_hash: string }>();
    for (const kept of [password_hash, sid, 'kept']) expect(text).not.toContain(kept);
    expect(text).not.toMatch(/hash|credential|secret/i);
  });

  // guard export-4: an export is sent as a download
  // src/http/json-stream.ts
  // - if (file) res.set(
  // + if (!file) res.set(
  it('is sent as a download', async () => {
    const { headers } = await post(ann.agent, '/user/export');
    expect(headers).toMatchObject({
      'content-disposition': 'attachment; filename="account.json"',
      'content-type': 'application/json; charset=utf-8',
    });
  });

  // guard export-3: an export shows no places from before the last password reset
  // src/features/account/export-repository.ts
  // - CASE WHEN security_events.at >= reset.at AND
  // + CASE WHEN
  it('leaves out addresses and devices from before the last password reset', async () => {
    const before = await exported(ann);
    expect(before.securityEvents.find(({ event }) => event === 'logged_in')).toMatchObject({ ip: '127.0.0.1' });
    const verification_token = await verificationToken(app, ann);
    const password = newPassword();
    await expectOk(app.api.post('/user/reset_password').send({ password, verification_token }));
    const { securityEvents } = await exported(await signIn(app, { ...ann, password }));
    const reset = securityEvents.findIndex(({ event }) => event === 'password_reset');
    const [past, since] = [securityEvents.slice(0, reset), securityEvents.slice(reset)];
    expect(past.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['registered', 'logged_in', 'data_exported']),
    );
    for (const event of past) expect(event).toMatchObject({ ip: '', userAgent: '' });
    for (const event of since) expect(event).toMatchObject({ ip: '127.0.0.1' });
  });

  // guard export-6: an export contains nothing of others
  // src/features/account/export-repository.ts
  // - FROM blacklist
  // -   WHERE user_id = :userId AND friend_id > :after ORDER BY friend_id
  // + FROM (SELECT user_id AS friend_id, friend_id AS user_id, status, updated_at FROM blacklist) turned
  // +   WHERE user_id = :userId AND friend_id > :after ORDER BY friend_id
  // guard export-7: an export does not contain the present name of a group that the user has left
  // src/features/account/export-repository.ts
  // - CASE WHEN is_deleted OR is_dismissed THEN '' ELSE g.name END
  // + g.name
  it('returns nothing of others: neither who blacklisted the user, nor the present name of a group the user left', async () => {
    await app.db('blacklist').insert({ user_id: bob.id, friend_id: ann.id });
    const left = `left-${ann.id}`;
    await insertGroup(app, left, [bob, ann]);
    await app.db('group_members').where({ group_id: left, member_id: ann.id }).delete();
    await app.db('groups').where({ id: left }).update({ name: 'New name' });
    const text = JSON.stringify(await exported(ann));
    expect(text).toContain(left);
    expect(text).not.toContain(bob.id);
    expect(text).not.toContain('New name');
  });

  // guard export-9: an export contains events of the same moment once each
  // src/features/account/export-repository.ts
  // - (security_events.at, id) > (:afterAt::timestamptz, :afterId::bigint)
  // + security_events.at > :afterAt::timestamptz AND :afterId::bigint >= 0
  it('returns lists longer than a page completely, in order, each row once', async () => {
    await app.db.raw(`INSERT INTO blacklist (user_id, friend_id) SELECT ?, 'b' || n FROM generate_series(1, 1200) n`, [
      ann.id,
    ]);
    await app.db.raw(
      `INSERT INTO friendships (user_id, friend_id, status) SELECT ?, 'f' || n, 20 FROM generate_series(1, 1200) n`,
      [ann.id],
    );
    await app.db.raw(
      `WITH made AS (INSERT INTO groups (id, name, creator_id) SELECT ? || n, 'G', 'x' FROM generate_series(1, 1200) n
                     RETURNING id) SELECT count(*) FROM made`,
      [`page-${ann.id}-`],
    );
    await app.db.raw(`INSERT INTO group_members (group_id, member_id) SELECT id, ? FROM groups WHERE id LIKE ?`, [
      ann.id,
      `page-${ann.id}-%`,
    ]);
    // Many events at the same time.
    await app.db.raw(
      `INSERT INTO security_events (event, user_id, ip, user_agent, request_id, detail)
       SELECT 'limit_met', ?, '203.0.113.7', '', '', n::text FROM generate_series(1, 1200) n`,
      [ann.id],
    );
    const { blacklist, friendships, memberships, securityEvents } = await exported(ann);
    expect(new Set(blacklist.map(({ friendId }) => friendId)).size).toBe(1_200);
    expect(new Set(friendships.map(({ friendId }) => friendId)).size).toBe(1_200);
    expect(new Set(memberships.map(({ groupId }) => groupId)).size).toBe(1_200);
    const noted = securityEvents.filter(({ event }) => event === 'limit_met').map(({ detail }) => Number(detail));
    expect(noted).toEqual(Array.from({ length: 1_200 }, (_, index) => index + 1));
    expect([blacklist, friendships, memberships].map(({ length }) => length)).toEqual([1_200, 1_200, 1_200]);
  });

  // guard export-1: an export is recorded
  // src/features/account/export-service.ts
  // - await this.audit.noteUpToLimit({ event: 'data_exported', userId }, caller);
  // + void [this.audit, caller];
  // guard export-2: exports of others at the same address do not keep an export from being recorded
  // src/features/audit/audit-trail.ts
  // - userId === undefined ? networksOf(caller.address)
  // + userId !== null ? networksOf(caller.address)
  it('is logged up to 20 times per user and hour, and contains its own event', async () => {
    const noted = async ({ id }: SignedInPerson) =>
      (await app.db('security_events').where({ user_id: id, event: 'data_exported' })).length;
    const bob = await insertAndSignIn(app, 'Bob');
    for (let times = 0; times < 21; times += 1) await exported(bob);
    expect(await noted(bob)).toBe(20);
    const { securityEvents } = await exported(ann);
    expect(securityEvents.map(({ event }) => event)).toContain('data_exported');
    expect(await noted(ann)).toBe(1);
  });

  // guard export-8: a user runs one export at a time
  // src/load/queues.ts
  // - per: 'user', share: 1, waiting: 0,
  // + per: 'user', share: 9, waiting: 0,
  it('allows one export per user at a time, and answers 429 to another', async () => {
    const ask = () => post(ann.agent, '/user/export');
    const first = await whileHeld(app, 'LOCK TABLE friendships', [], ask, async () => expectRefusal(await ask(), 429));
    expect(first.status).toBe(200);
    expect((await ask()).status).toBe(200);
  });

  it('needs a session', async () => {
    expectRefusal(await post(app.api, '/user/export'), 401);
  });
});
