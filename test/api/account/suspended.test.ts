import type { Knex } from 'knex';
import { ImagesRepository } from '../../../src/features/images/images-repository';
import { SessionsRepository, type NewSession } from '../../../src/features/sessions/sessions-repository';
import type { TestApp } from '../../support/app';
import { cookieOf, expectBody, expectRefusal, expectReturnCode, post, sendRaw, type Answer } from '../../support/calls';
import { Gate } from '../../support/gate';
import { callGroup, createGroup } from '../../support/groups';
import { watchHashing } from '../../support/hashing';
import { multipartForm, PNG } from '../../support/images';
import { rongCloudStage, untilTold } from '../../support/messaging';
import { itOnOneServer } from '../../support/on-one-server';
import { OPERATIONS, pathOf } from '../../support/operations';
import { command, rowsOf } from '../../support/operator';
import {
  e164,
  expectOk,
  field,
  insertAndSignInAll,
  newPassword,
  newPhone,
  signIn,
  verificationToken,
  type Person,
  type SignedInPerson,
} from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { watchStatements } from '../../support/statements';
import { fullState, NAMES, settledClient, sync } from '../../support/sync';
import { until } from '../../support/until';
import { whileHeld, whileOpen } from '../../support/waiting';

const WITH_SESSION = OPERATIONS.filter(({ access }) => access === 'user' || access === 'reader').map(pathOf);

const logIn = (on: TestApp, { region, phone, password }: Person, headers = {}) =>
  post(on.api, '/user/login', { region, phone, password }, headers);

/** Suspends the account as another service of the operator may, and ends nothing. */
const suspendInSql = (on: TestApp, { id }: Person) =>
  on.db('users').where({ id }).update({ suspended_at: on.db.fn.now() });

const sessionsOf = (on: TestApp, { id }: Person) => on.db('session').whereRaw(`sess ->> 'userId' = ?`, [id]);

function expectSuspended(answer: Answer): void {
  expectRefusal(answer, 403, 'suspended', 'account_suspended');
  expect(answer.headers).not.toHaveProperty('set-cookie');
}

describe('a suspended account', () => {
  const { app, instance, ann, bob, cat } = stage({ people: 3 });

  const suspend = (person: Person = ann, ...reason: string[]) => command(app, 'users suspend', [person.id, ...reason]);
  const restore = (person: Person = ann) => command(app, 'users restore', [person.id]);
  const eventsOf = ({ id }: Person) =>
    app
      .db('security_events')
      .where({ user_id: id })
      .orderBy('id')
      .select<{ event: string; detail: string | null; user_agent: string }[]>('event', 'detail', 'user_agent');

  describe('has no sessions', () => {
    const WAYS: [string, () => Promise<unknown>][] = [
      ['an operator', () => suspend()],
      ['another service, in SQL,', () => suspendInSql(app, ann)],
    ];

    // guard suspended-1: a session of a suspended account is worth nothing
    // src/features/sessions/live-session.ts
    // -     AND suspended_at IS NULL
    // -       AND credentials_version = (sess ->> 'credentialsVersion')::integer
    // + AND credentials_version = (sess ->> 'credentialsVersion')::integer
    it.each(WAYS)('once %s has suspended it: every operation with a session answers 401 at once', async (_who, end) => {
      const Cookie = cookieOf(await logIn(app, ann));
      const other = await instance();
      for (const on of [app, other])
        expect((await sendRaw(on, '/user/groups', { headers: { Cookie } })).status).toBe(200);
      await end();
      expect(WITH_SESSION.length).toBeGreaterThan(30);
      for (const on of [app, other])
        for (const path of WITH_SESSION) {
          const { status } = await sendRaw(on, path, { headers: { Cookie } });
          expect({ path, status }).toEqual({ path, status: 401 });
        }
    });

    // guard suspended-2: a suspension ends the sessions
    // src/features/account/suspension-service.ts
    // - const ended = await repos.sessions.endAll(userId);
    // + const ended = 2;
    it('in the table, and the audit trail has the reason, the operator and their number', async () => {
      await signIn(app, ann);
      await suspend(ann, 'sends spam');
      expect(await sessionsOf(app, ann)).toEqual([]);
      expect((await eventsOf(ann)).slice(-3)).toEqual([
        { event: 'account_suspended', detail: 'sends spam', user_agent: 'operator olga' },
        { event: 'sessions_ended', detail: '2, by the suspension', user_agent: 'operator olga' },
        { event: 'operator', detail: `users suspend ${ann.id} sends spam, by olga`, user_agent: 'operator olga' },
      ]);
    });

    // guard suspended-3: sessions that another service left do not come back with the account
    // src/features/account/suspension-service.ts
    // -       await repos.sessions.endAll(userId);
    // -       await repos.messagingTokens.end(userId);
    // + await repos.messagingTokens.end(userId);
    it('that come back when it is restored, even if another service left them', async () => {
      await suspendInSql(app, ann);
      expect(await sessionsOf(app, ann)).toHaveLength(1);
      await restore();
      expectRefusal(await post(ann.agent, '/user/groups'), 401);
    });
  });

  describe('a login', () => {
    // guard suspended-4: a suspended account cannot log in
    // src/features/auth/auth-service.ts
    // - if (account?.isSuspended) {
    // + if (account?.id === '') {
    // src/features/sessions/sessions-repository.ts
    // - AND suspended_at IS NULL
    it('with the right password is refused with a reason of its own, without a session or cookie', async () => {
      await suspend();
      expectSuspended(await logIn(app, ann));
      expect(await sessionsOf(app, ann)).toEqual([]);
      expect((await eventsOf(ann)).at(-1)).toMatchObject({ event: 'login_failed', detail: 'login, suspended' });
    });

    it('keeps the session of another user that the client had', async () => {
      const Cookie = cookieOf(await logIn(app, bob));
      await suspend();
      expectSuspended(await logIn(app, ann, { Cookie }));
      expect((await sendRaw(app, '/user/groups', { headers: { Cookie } })).status).toBe(200);
    });

    // guard suspended-6: only the right password tells that an account is suspended
    // src/features/auth/auth-service.ts
    // - known = await users.accountByPhone(phone.number);
    // +       known = await users.accountByPhone(phone.number);
    // +       if (known?.isSuspended) throw suspended();
    it('with a wrong password has the answer of any wrong password', async () => {
      const seen = ({ status, body, headers }: Answer) => ({ status, body, headers: Object.keys(headers).sort() });
      const wrong = (person: Person) => logIn(app, { ...person, password: `${person.password}x` });
      await suspend();
      const answer = await wrong(ann);
      expectReturnCode(answer, 'wrong_credentials');
      expect(seen(answer)).toEqual(seen(await wrong(bob)));
      await until(async () => (await eventsOf(ann)).at(-1)?.event === 'login_failed');
      expect((await eventsOf(ann)).at(-1)).toMatchObject({ detail: 'login' });
    });

    // guard suspended-8: a login to a suspended account counts as a right one
    // src/features/auth/auth-service.ts
    // - await attempt.end(account !== undefined);
    // + if (!account?.isSuspended) await attempt.end(account !== undefined);
    it('counts as a right one, and not as a failure', async () => {
      const strict = await instance({ LOGIN_FAILURES_PER_PHONE_AND_IP: '1', LOGINS_PER_PHONE_AND_IP_HOUR: '3' });
      await suspend();
      for (let count = 0; count < 3; count += 1) expectSuspended(await logIn(strict, ann));
      expectRefusal(await logIn(strict, ann), 429, '', 'too_many_attempts');
    });
  });

  describe('a login beside the suspension', () => {
    /** Suspends the account, and makes it wait midway, with the user's row written, until the login waits for it. */
    async function loggedInBeside(): Promise<Answer> {
      const lock = `SELECT FROM session WHERE sess ->> 'userId' = ? FOR UPDATE`;
      const [, login] = await whileHeld(app, lock, [ann.id], [() => suspend(), () => logIn(app, ann)]);
      return login;
    }

    // guard suspended-5: a login begins no session of an account that is being suspended
    // src/features/sessions/sessions-repository.ts
    // - AND suspended_at IS NULL
    it('that has compared the password before gets no session', async () => {
      expectSuspended(await loggedInBeside());
      expect(await sessionsOf(app, ann)).toEqual([]);
    });

    it('that is just inserting its session loses it', async () => {
      const { sess } = await sessionsOf(app, ann).first<{ sess: NewSession['data'] }>('sess');
      const expires = new Date(Date.now() + 60_000);
      const begun = { sid: rememberSecret(newPassword()), userId: ann.id, data: sess, expires };
      const caller = { address: '', ip: '', userAgent: '', requestId: '' };
      const start = async (trx: Knex) => expect(await new SessionsRepository(trx).start(begun, 0, caller)).toBe(true);
      await whileOpen(app, start, () => suspend());
      expect(await sessionsOf(app, ann)).toEqual([]);
    });

    // guard suspended-7: a password that was changed beside the login does not tell of a suspension
    // src/features/auth/auth-service.ts
    // - now?.isSuspended && now.credentialsVersion === credentialsVersion ? suspended()
    // + now?.isSuspended && credentialsVersion >= 0 ? suspended()
    it('is told that the password is wrong when it was changed before the suspension', async () => {
      const change = 'UPDATE users SET credentials_version = 1, suspended_at = now() WHERE id = ?';
      expectReturnCode(await whileHeld(app, change, [ann.id], () => logIn(app, ann)), 'wrong_credentials');
    });
  });

  describe('a request beside the suspension', () => {
    // guard suspended-20: a request that has begun before a suspension does not move or close the account after it
    // src/features/users/users-repository.ts
    // - return by === 'owner' ? found.where({ suspended_at: null }) : found;
    // + return found;
    it.each<[string, (token: string) => object]>([
      ['change_phone', (verification_token) => ({ verification_token })],
      ['close_account', () => ({})],
    ])('by %s that has compared the password before moves and closes nothing', async (operation, fields) => {
      const gate = new Gate();
      const token = await verificationToken(app, newPhone());
      watchHashing({ before: () => gate.wait() });
      const answer = post(ann.agent, `/user/${operation}`, { password: ann.password, ...fields(token) });
      await gate.reached;
      await suspend();
      gate.open();
      expectRefusal(await answer, 400, 'password');
      jest.restoreAllMocks();
      await restore();
      expect((await logIn(app, ann)).status).toBe(200);
    });
  });

  describe('keeps its phone and password', () => {
    const available = ({ region, phone }: Person) => post(app.api, '/user/check_phone_available', { region, phone });

    it('and nobody else can register its phone', async () => {
      await suspend();
      expectBody(await available(ann), { code: 200, result: false });
      const body = { nickname: 'New', password: newPassword(), verification_token: await verificationToken(app, ann) };
      expectRefusal(await post(app.api, '/user/register', body), 400, '', 'phone_taken');
    });

    it('and reset_password sets a new one, but the account stays suspended', async () => {
      await suspend();
      const password = newPassword();
      const verification_token = await verificationToken(app, ann);
      expectBody(await post(app.api, '/user/reset_password', { password, verification_token }), { code: 200 });
      expectReturnCode(await logIn(app, ann), 'wrong_credentials');
      expectSuspended(await logIn(app, { ...ann, password }));
      await restore();
      expect((await logIn(app, { ...ann, password })).body).toMatchObject({ code: 200 });
    });

    it('and a code that was asked for before the suspension', async () => {
      const verification_token = await verificationToken(app, ann);
      await suspend();
      const body = { password: newPassword(), verification_token };
      expectBody(await post(app.api, '/user/reset_password', body), { code: 200 });
    });
  });

  describe('images', () => {
    const tokenOf = async ({ agent }: SignedInPerson) =>
      rememberSecret(String(field((await expectOk(agent.post('/user/get_image_token'))).result, 'token')));
    const upload = async (token: string, file: Buffer) => {
      const { headers, body } = multipartForm([
        ['token', token],
        ['file', file],
      ]);
      return (await fetch(app.url, { method: 'POST', headers, body: new Uint8Array(body) })).status;
    };

    // guard suspended-9: a suspended account cannot use its upload tokens
    // src/features/images/image-accounts.ts
    // - if (account.isSuspended) throw ended();
    it('cannot be uploaded with a token from before, whose file is not even read', async () => {
      const token = await tokenOf(ann);
      await suspend();
      expect(await upload(token, PNG)).toBe(401);
      expect(await upload(token, Buffer.from('no image'))).toBe(401);
      await restore();
      expect(await upload(token, PNG)).toBe(200);
    });

    // guard suspended-10: an image that is decoded while its account is suspended is not kept
    // src/features/images/images-repository.ts
    // - .whereNull('suspended_at')
    it('that are decoded during the suspension are not kept', async () => {
      await suspend();
      // The last question of an upload.
      expect(await new ImagesRepository(app.db).lockUploader(ann.id, 0)).toBe(false);
    });

    it('that it has shown stay', async () => {
      const { headers, body } = multipartForm([
        ['token', await tokenOf(ann)],
        ['file', PNG],
      ]);
      const sent: unknown = await (
        await fetch(app.url, { method: 'POST', headers, body: new Uint8Array(body) })
      ).json();
      const portraitUri = `${app.url}/files/${String(field(sent, 'key'))}`;
      await expectOk(ann.agent.post('/user/set_portrait_uri').send({ portraitUri }));
      await suspend();
      await app.db('images').update({ due_at: app.db.fn.now() });
      await app.sweep();
      expect((await fetch(portraitUri)).status).toBe(200);
    });
  });

  describe('for others', () => {
    let groupId: string;
    beforeEach(async () => {
      groupId = await createGroup(app, [ann, bob, cat]);
      await expectOk(cat.agent.post('/user/add_to_blacklist').send({ friendId: ann.id }));
      await expectOk(bob.agent.post('/friendship/set_display_name').send({ friendId: ann.id, displayName: 'Annie' }));
    });

    /** Returns every answer to another user that shows the account, without sync's version, which always moves on. */
    async function shownTo({ agent }: SignedInPerson): Promise<Record<string, string>> {
      const calls: [string, object?][] = [
        ['/user/sync/0'],
        ['/user/sync/0', NAMES],
        [`/user/${ann.id}`],
        [`/user/find/${ann.region}/${ann.phone}`],
        ['/user/batch', { ids: [ann.id] }],
        ['/user/blacklist'],
        ['/user/groups'],
        [`/group/${groupId}`],
        [`/group/${groupId}/members`],
        ['/friendship/all'],
        [`/friendship/${ann.id}/profile`],
      ];
      const shown: Record<string, string> = {};
      for (const [path, body] of calls) {
        const { status, text } = await agent.post(path).send(body);
        shown[`${path} ${JSON.stringify(body)}`] = `${status} ${text.replace(/"version":\d+/, '')}`;
      }
      return shown;
    }

    // guard suspended-19: other users see no difference in a suspended account
    // src/features/users/users-repository.ts
    // - WHERE id = ANY (:ids::text[]) AND closed_at IS NULL
    // + WHERE id = ANY (:ids::text[]) AND closed_at IS NULL AND suspended_at IS NULL
    it('is as before, byte for byte, while it is suspended and after', async () => {
      const shown = async () => [await shownTo(bob), await shownTo(cat)];
      const before = await shown();
      const toBob = Object.values(before[0] ?? {});
      expect(toBob.filter((text) => text.startsWith('200 ') && text.includes(ann.id))).toHaveLength(toBob.length - 1);
      await suspend();
      expect(await shown()).toEqual(before);
      await restore();
      expect(await shown()).toEqual(before);
    });

    it.each([[undefined], [NAMES]])('is in no later sync, with the body %j', async (asked) => {
      const client = await settledClient(bob, asked);
      await suspend();
      await restore();
      await suspend();
      await expectOk(cat.agent.post('/user/set_nickname').send({ nickname: 'Kitty' }));
      // Versions grow: an earlier write is delivered with the new name at the latest.
      const told: string[] = [];
      await until(async () => {
        const { friends, group_members, groups, blacklist } = await client.sync();
        told.push(...[...friends, ...blacklist].map(({ friendId }) => friendId));
        told.push(...group_members.map(({ memberId }) => memberId));
        expect(groups).toEqual([]);
        return told.includes(cat.id);
      });
      expect(told).not.toContain(ann.id);
      expect(client.state()).toEqual(await fullState(bob, asked));
    });

    it('can be invited, agreed with, added to a group and kicked; all of it is there after the restoring', async () => {
      const [dan, eve] = await insertAndSignInAll(app, 'Dan', 'Eve');
      await expectOk(ann.agent.post('/friendship/invite').send({ friendId: dan.id }));
      await suspend();
      const { result } = await expectOk(eve.agent.post('/friendship/invite').send({ friendId: ann.id }));
      expect(result).toEqual({ action: 'Sent' });
      await expectOk(dan.agent.post('/friendship/agree').send({ friendId: ann.id }));
      const danId = await createGroup(app, [dan, ann]);
      const bobsId = await createGroup(app, [bob, ann]);
      expectBody(await callGroup(bob, 'kick', { groupId: bobsId, memberIds: [ann.id] }), { code: 200 });
      await restore();
      const back = await signIn(app, ann);
      const { friends, groups } = await sync(back);
      expect(friends).toContainEqual(expect.objectContaining({ friendId: dan.id, status: 20 }));
      expect(friends).toContainEqual(expect.objectContaining({ friendId: eve.id, status: 11 }));
      expect(groups.map(({ group }) => group.id).sort()).toEqual([danId, groupId].sort());
    });
  });

  it('has everything again after it was restored: the login, its friends, groups, blacklist and settings', async () => {
    await createGroup(app, [ann, bob]);
    await expectOk(ann.agent.post('/user/add_to_blacklist').send({ friendId: cat.id }));
    await expectOk(ann.agent.post('/user/set_findable').send({ findable: false }));
    const everything = async ({ agent }: SignedInPerson) => {
      const { result } = await expectOk(agent.post('/user/export'));
      const { sessions: _sessions, securityEvents: _events, ...kept } = result as Record<string, unknown>;
      return { kept, synced: await fullState({ ...ann, agent }, NAMES) };
    };
    const before = await everything(ann);
    await suspend();
    await restore();
    expect(await everything(await signIn(app, ann))).toEqual(before);
    expect((await eventsOf(ann)).map(({ event }) => event)).toEqual(
      expect.arrayContaining(['account_suspended', 'account_restored']),
    );
  });

  describe('at the command line', () => {
    const noted = () => app.db('security_events').where({ event: 'operator' }).pluck<string[]>('detail');

    it('is shown as suspended, and why tells that its logins are refused for that', async () => {
      const why = async () => {
        const told = await command(app, 'why', [e164(ann)]);
        return { state: rowsOf(told, 'account')[0]?.state, logins: (told.logins as string[]).join() };
      };
      expect(await why()).toMatchObject({ state: 'open', logins: expect.not.stringContaining('suspended') as string });
      await suspend();
      expect(await why()).toMatchObject({
        state: 'suspended',
        logins: 'the account is suspended: users restore lets it log in again',
      });
      expect(rowsOf(await command(app, 'users show', [ann.id]), 'user')[0]).toMatchObject({ state: 'suspended' });
      await restore();
      expect(await why()).toMatchObject({ state: 'open' });
    });

    it('is only told by --dry-run, which changes nothing', async () => {
      const told = await command(app, 'users suspend', [ann.id], { dryRun: true });
      expect(rowsOf(told, 'would suspend')).toEqual([{ id: ann.id, nickname: 'Ann', sessions: 1 }]);
      await expectOk(ann.agent.post('/user/groups'));
      expect(rowsOf(await suspend(), 'suspended')).toEqual([{ id: ann.id, nickname: 'Ann', sessions: 1 }]);
      const restoring = await command(app, 'users restore', [ann.id], { dryRun: true });
      expect(rowsOf(restoring, 'would restore')).toEqual([{ id: ann.id, nickname: 'Ann' }]);
      expectSuspended(await logIn(app, ann));
    });

    // guard suspended-18: a second suspension changes nothing
    // src/features/users/users-repository.ts
    // - .where({ suspended_at: null }).update(
    // + .update(
    it('is neither suspended nor restored twice, nor once it is closed, and the trail has no such change', async () => {
      await suspend(ann, 'first');
      const before = await noted();
      const dry = { dryRun: true };
      for (const options of [{}, dry])
        await expect(command(app, 'users suspend', [ann.id, 'second'], options)).rejects.toThrow('nothing was changed');
      for (const options of [{}, dry])
        await expect(command(app, 'users restore', [bob.id], options)).rejects.toThrow('nothing was changed');
      await expectOk(cat.agent.post('/user/close_account').send({ password: cat.password }));
      for (const name of ['users suspend', 'users restore'])
        await expect(command(app, name, [cat.id])).rejects.toThrow('nothing was changed');
      expect(await noted()).toEqual(before);
      const suspensions = (await eventsOf(ann)).filter(({ event }) => event === 'account_suspended');
      expect(suspensions).toMatchObject([{ detail: 'first' }]);
    });

    // guard suspended-17: no phone gets into the audit trail by the reason of a suspension
    // src/admin/suspension-commands.ts
    // - withoutPhones(reason) !== reason
    // + withoutPhones('') !== ''
    it('is not suspended for a reason with a phone number, which the audit trail must not keep', async () => {
      for (const phone of [e164(bob), '+44 7911 123 456', '(0) 7911-123.456'])
        await expect(suspend(ann, `calls ${phone} at night`)).rejects.toThrow('contains a phone number');
      await expectOk(ann.agent.post('/user/groups'));
    });
  });
});

describe('the messaging tokens of a suspended account', () => {
  const NEW = '/user/getToken.json';
  const { app, vendor, env, ann } = rongCloudStage({ people: 1 });
  afterEach(() => jest.restoreAllMocks());

  const suspend = () => command(app, 'users suspend', [ann.id], {}, env);
  const restore = () => command(app, 'users restore', [ann.id], {}, env);
  const kept = () => app.db('messaging_tokens').where({ user_id: ann.id }).pluck<string[]>('token');
  const tokenIn = ({ body }: Answer) => rememberSecret(String(field(field(body, 'result'), 'token')));

  /** Logs in, and waits where RongCloud is asked for a new token, before or after it has made one. */
  async function loggingIn(hold: 'holdRequest' | 'holdAnswer') {
    await app.db('messaging_tokens').where({ user_id: ann.id }).delete();
    const gate = vendor[hold](NEW);
    const login = logIn(app, ann);
    await gate.reached;
    return { login, gate };
  }

  // guard suspended-11: a suspension drops the stored messaging token
  // src/features/account/suspension-service.ts
  // -       await repos.messagingTokens.beginRound(userId);
  // -       await repos.messagingTokens.end(userId);
  // + await repos.messagingTokens.beginRound(userId);
  it('end: the stored one is dropped, and the provider is told', async () => {
    const token = tokenIn(await post(ann.agent, '/user/get_token'));
    expect(vendor.isValid(token)).toBe(true);
    await suspend();
    expect(await kept()).toEqual([]);
    await untilTold(app);
    expect(vendor.isValid(token)).toBe(false);
  });

  // On several servers the other service tells: docs/distributed.md.
  // guard suspended-12: a suspension by another service makes the provider end the user's tokens
  // src/integrations/messaging/rongcloud/follower.ts
  // - ['tokens.ended', 'user.suspended', 'user.closed']
  // + ['tokens.ended', 'user.closed']
  // guard suspended-21: a token that another service left is not given out once the account is restored
  // src/features/account/suspension-service.ts
  // -       await repos.sessions.endAll(userId);
  // -       await repos.messagingTokens.end(userId);
  // + await repos.sessions.endAll(userId);
  itOnOneServer(
    'end when another service suspends it: the provider is told, and the restoring drops the stored one',
    async () => {
      const token = tokenIn(await post(ann.agent, '/user/get_token'));
      await suspendInSql(app, ann);
      await untilTold(app);
      expect(vendor.isValid(token)).toBe(false);
      await restore();
      expect(await kept()).toEqual([]);
    },
  );

  it.each(['holdRequest', 'holdAnswer'] as const)(
    'do not include one that a login has asked for before (%s)',
    async (hold) => {
      const { login, gate } = await loggingIn(hold);
      await suspend();
      gate.open();
      expectSuspended(await login);
      expect(await kept()).toEqual([]);
    },
  );

  // guard suspended-14: no messaging token of a suspended account is stored
  // src/features/tokens/messaging-tokens-repository.ts
  // - AND messaging_round = :round AND suspended_at IS NULL
  // + AND messaging_round = :round
  // guard suspended-16: a login to an account that was just suspended gets no messaging token
  // src/features/tokens/messaging-tokens-repository.ts
  // - WHERE users.id = :userId AND closed_at IS NULL AND suspended_at IS NULL
  // + WHERE users.id = :userId AND closed_at IS NULL
  it('do not include one that a login has asked for before another service suspended the account', async () => {
    const { login, gate } = await loggingIn('holdAnswer');
    await suspendInSql(app, ann);
    gate.open();
    expectSuspended(await login);
    expect(await kept()).toEqual([]);
  });

  // guard suspended-15: a session of an account that was just suspended gets no messaging token
  // src/features/tokens/messaging-tokens-repository.ts
  // - if ('sid' in asker) return (await liveSession(this.db, asker.sid)) !== undefined;
  // + if ('sid' in asker) return true;
  // src/features/tokens/messaging-tokens-repository.ts
  // - WHERE users.id = :userId AND closed_at IS NULL AND suspended_at IS NULL
  // + WHERE users.id = :userId AND closed_at IS NULL
  it('are not given to a session that was found before another service suspended the account', async () => {
    const gate = new Gate();
    watchStatements('messaging_tokens', { value: ann.id, beforeSending: () => gate.wait() });
    const asked = post(ann.agent, '/user/get_token');
    await gate.reached;
    jest.restoreAllMocks();
    await suspendInSql(app, ann);
    gate.open();
    expectRefusal(await asked, 401);
  });

  // guard suspended-13: a suspension begins a new round of messaging tokens
  // src/features/account/suspension-service.ts
  // - await repos.messagingTokens.beginRound(userId);
  it('are valid for a login that has waited through the suspension and the restoring', async () => {
    // A stored token, but not one that the login gets.
    await app.db('messaging_tokens').where({ user_id: ann.id }).update({ app: 'another' });
    const gate = vendor.holdAnswer(NEW);
    const login = logIn(app, ann);
    await gate.reached;
    await suspend();
    await restore();
    gate.open();
    const token = tokenIn(await login);
    await untilTold(app);
    expect(vendor.isValid(token)).toBe(true);
  });
});
