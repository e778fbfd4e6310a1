import { post } from '../../support/calls';
import { Gate } from '../../support/gate';
import { makeTurnsDue, rongCloudStage, untilRead, untilTold } from '../../support/messaging';
import {
  expectOk,
  field,
  insertAndSignIn,
  newPassword,
  signIn,
  verificationToken,
  type SignedInPerson,
} from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { watchStatements } from '../../support/statements';
import { until } from '../../support/until';
import { LOCK_USER, untilWaiting, whileHeld } from '../../support/waiting';

const NEW = '/user/getToken.json';
const REFRESH = '/user/refresh.json';
const EXPIRE = '/user/token/expire.json';

describe('ending messaging tokens at RongCloud', () => {
  const { app, instance: anotherInstance, vendor, env } = rongCloudStage();
  afterEach(() => {
    app.beforeOperation = () => Promise.resolve();
  });

  /** Is not sent until it is awaited. */
  const getToken = ({ agent }: SignedInPerson) => agent.post('/user/get_token');
  const tokenOf = async (person: SignedInPerson) =>
    rememberSecret(String(field((await expectOk(getToken(person))).result, 'token')));
  const asking = (person: SignedInPerson) => getToken(person).then((answer) => answer);
  const kept = async ({ id }: { id: string }) =>
    (await app.db('messaging_tokens').where({ user_id: id }).select<{ token: string }[]>('token')).map(
      ({ token }) => token,
    );
  /** Like any of the operations that end tokens. */
  const forgetKept = ({ id }: { id: string }) => app.db('messaging_tokens').where({ user_id: id }).delete();
  /** Waits until RongCloud has refused the end, and keeps it from being sent again for minutes. */
  const untilPutOffForLong = ({ id }: { id: string }) =>
    until(async () => {
      const putOff = app
        .db('messaging_turns')
        .where({ subject: id })
        .whereRaw(`attempts > 0 AND due_at BETWEEN now() + interval '50 ms' AND now() + interval '10 s'`);
      return (await putOff.update({ due_at: app.db.raw(`now() + interval '5 minutes'`) })) > 0;
    });
  const timesTold = ({ id }: { id: string }) => vendor.expired.filter((userId) => userId === id).length;

  const reset = async (person: SignedInPerson): Promise<SignedInPerson> => {
    const verification_token = await verificationToken(app, person);
    const password = newPassword();
    await expectOk(app.api.post('/user/reset_password').send({ verification_token, password }));
    return { ...person, password };
  };
  const change = async ({ agent, password, ...person }: SignedInPerson): Promise<SignedInPerson> => {
    const changed = newPassword();
    await expectOk(agent.post('/user/change_password').send({ oldPassword: password, newPassword: changed }));
    return { ...person, agent, password: changed };
  };
  /** Ends the sessions of a person except the one that asks. */
  const endOthers = async (person: SignedInPerson): Promise<SignedInPerson> => {
    const { result } = await expectOk(person.agent.post('/user/sessions'));
    for (const { id, current } of result as { id: string; current: boolean }[])
      if (!current) await expectOk(person.agent.post('/user/end_session').send({ id }));
    return person;
  };

  /** Operations that end all sessions but the owner's, called by an owner who is signed in elsewhere. */
  const ENDS: [string, (owner: SignedInPerson) => Promise<SignedInPerson>][] = [
    ['reset_password', reset],
    ['change_password', change],
    ['end_session', endOthers],
  ];

  async function expectOwnersAlone(owner: SignedInPerson): Promise<void> {
    const token = await tokenOf(await signIn(app, owner));
    await untilTold(app);
    expect(vendor.isValid(token)).toBe(true);
    expect(await kept(owner)).toEqual([token]);
  }

  /** Asks for a token, and waits right after its session is found, until the gate is opened. */
  async function askingOnceFound(thief: SignedInPerson) {
    const gate = new Gate();
    // The statement after the one that finds the session.
    watchStatements('messaging_tokens', { value: thief.id, beforeSending: () => gate.wait() });
    const asked = asking(thief);
    await gate.reached;
    jest.restoreAllMocks();
    return { asked, gate };
  }

  /** Asks for a token, and waits when RongCloud is called for it, until the gate is opened. */
  async function askingOnceCalled(thief: SignedInPerson) {
    const gate = vendor.holdRequest(NEW);
    const asked = asking(thief);
    await gate.reached;
    return { asked, gate };
  }

  describe.each(ENDS)('by %s', (_operation, end) => {
    // guard messaging-ends-1: a session that was ended after it was found gets no messaging token
    // src/features/tokens/messaging-tokens-repository.ts
    // - if ('sid' in asker) return (await liveSession(this.db, asker.sid)) !== undefined;
    // + if ('sid' in asker) return true;
    it('refuses a thief whose session was found before', async () => {
      const owner = await insertAndSignIn(app);
      const thief = await signIn(app, owner);
      const { asked, gate } = await askingOnceFound(thief);
      const after = await end(owner);
      gate.open();
      expect((await asked).status).toBe(401);
      await expectOwnersAlone(after);
    });

    // guard messaging-ends-2: a messaging token is stored only in the round in which it was requested
    // src/features/tokens/messaging-tokens-repository.ts
    // - AND messaging_round = :round
    // + AND messaging_round >= 0 * :round
    // guard messaging-ends-3: a new password begins a new round of messaging tokens
    // src/features/users/users-repository.ts
    // - , messaging_round: next('messaging_round')
    // guard messaging-ends-4: end_session begins a new round of messaging tokens
    // src/features/sessions/sessions-service.ts
    // - await repos.messagingTokens.beginRound(userId);
    it('refuses a thief for whom RongCloud was called before', async () => {
      const owner = await insertAndSignIn(app);
      const thief = await signIn(app, owner);
      await forgetKept(owner);
      const { asked, gate } = await askingOnceCalled(thief);
      const after = await end(owner);
      gate.open();
      expect((await asked).status).toBe(401);
      await expectOwnersAlone(after);
    });

    it("does not give a thief the owner's new token", async () => {
      const owner = await insertAndSignIn(app);
      const thief = await signIn(app, owner);
      const { asked, gate } = await askingOnceFound(thief);
      const after = await end(owner);
      await tokenOf(await signIn(app, after));
      gate.open();
      expect((await asked).status).toBe(401);
    });

    // guard messaging-ends-9: updating a profile does not bring an ended messaging token back
    // src/features/tokens/messaging-tokens-repository.ts
    // - .where({ user_id: userId, app, token })
    // - .update({ nickname, portrait_uri: portraitUri });
    // + .insert({ user_id: userId, app, token, nickname, portrait_uri: portraitUri })
    // + .onConflict(['user_id', 'app']).merge();
    it('does not return an ended token to the owner after a pending profile change', async () => {
      const owner = await insertAndSignIn(app);
      const gate = vendor.holdAnswer(REFRESH);
      const thief = await signIn(app, owner);
      await expectOk(thief.agent.post('/user/set_nickname').send({ nickname: 'Thief' }));
      await gate.reached;
      const after = await end(owner);
      gate.open();
      await untilTold(app);
      await expectOwnersAlone(after);
    });

    // guard messaging-ends-12: ended tokens are reported to the messaging provider until it takes the report
    // src/features/messaging/messaging-updates.ts
    // - const left = await note(() => this.putOff(lease, changes, error)).catch(() => changes);
    // + const left: KeptChange[] = [];
    // + await this.changes.done(lease, await this.changes.changes(lease.subject)).catch(() => error);
    // guard messaging-ends-13: a late report of ended tokens spares those given since
    // src/integrations/messaging/rongcloud/follower.ts
    // - const time = Math.max(...ends.map(({ at }) => at.getTime()));
    // + const time = Math.max(Date.now(), ...ends.map(({ at }) => at.getTime()));
    it('is retried at RongCloud when it fails at first, and spares tokens given since', async () => {
      const owner = await insertAndSignIn(app);
      const thief = await signIn(app, owner);
      const stolen = await tokenOf(thief);
      vendor.behave('gateway');
      const after = await end(owner);
      await untilPutOffForLong(owner);
      expect(vendor.isValid(stolen)).toBe(true);
      vendor.behave('accept');
      const own = await tokenOf(await signIn(app, after));
      await makeTurnsDue(app);
      await untilTold(app);
      expect([vendor.isValid(stolen), vendor.isValid(own)]).toEqual([false, true]);
      expect(await tokenOf(await signIn(app, after))).toBe(own);
    });
  });

  it.each([
    ['end_session', endOthers],
    ['change_password', change],
  ])('by %s gives a remaining session a valid token instead of the pending one', async (_name, end) => {
    const owner = await insertAndSignIn(app);
    await signIn(app, owner);
    await forgetKept(owner);
    const gate = vendor.holdAnswer(NEW);
    const asked = asking(owner);
    await gate.reached;
    const other = await anotherInstance(env);
    const early = await tokenOf(await signIn(other, owner));
    await end(owner);
    await untilTold(app);
    expect(vendor.isValid(early)).toBe(false);
    gate.open();
    const answer = await asked;
    expect(answer.status).toBe(200);
    const given = rememberSecret(String(field(field(answer.body, 'result'), 'token')));
    expect(vendor.isValid(given)).toBe(true);
    expect(await kept(owner)).toEqual([given]);
  });

  // guard messaging-ends-8: a pending login with the old password stores no messaging token
  // src/features/tokens/messaging-tokens-repository.ts
  // - return asker.credentialsVersion === credentialsVersion;
  // + return credentialsVersion > 0;
  it('stores no token for a login with the old password', async () => {
    const owner = await insertAndSignIn(app);
    await forgetKept(owner);
    const gate = vendor.holdRequest(NEW);
    const { region, phone, password } = owner;
    const thief = app.api
      .post('/user/login')
      .send({ region, phone, password })
      .then((answer) => answer);
    await gate.reached;
    const after = await reset(owner);
    gate.open();
    expect((await thief).body).toEqual({ code: 1000 });
    expect(await kept(owner)).toEqual([]);
    await expectOwnersAlone(after);
  });

  // guard messaging-ends-5: an unknown session does not begin a new round of messaging tokens
  // src/features/sessions/sessions-service.ts
  // - if ((await repos.sessions.end(userId, id)) === 0) return;
  // + if ((await repos.sessions.end(userId, id)) === 0) return void (await repos.messagingTokens.beginRound(userId));
  // src/features/sessions/sessions-service.ts
  // - if (!(await sessions.has(userId, id))) {
  // + if (id === '') {
  it('does not happen when end_session names no session: a login succeeds, and RongCloud is called once', async () => {
    const owner = await insertAndSignIn(app);
    await forgetKept(owner);
    const row = () => app.db('users').where({ id: owner.id }).select<object[]>('xmin', 'messaging_round');
    const before = await row();
    const gate = vendor.holdAnswer(NEW);
    const asked = vendor.requests.length;
    const { region, phone, password } = owner;
    const login = app.api
      .post('/user/login')
      .send({ region, phone, password })
      .then(({ status }) => status);
    await gate.reached;
    await expectOk(owner.agent.post('/user/end_session').send({ id: '0'.repeat(64) }));
    gate.open();
    expect(await login).toBe(200);
    expect(vendor.requests.slice(asked).map(({ path }) => path)).toEqual([NEW]);
    expect(await row()).toEqual(before);
  });

  // guard messaging-ends-6: end_session locks the user before the session
  // src/features/sessions/sessions-service.ts
  // - await repos.messagingTokens.lock(userId);
  it('by end_session waits for the user without locking sessions that a new password needs', async () => {
    const owner = await insertAndSignIn(app);
    const { result } = await expectOk(owner.agent.post('/user/sessions'));
    const [{ id }] = result as [{ id: string }];
    const end = async () => expectOk(owner.agent.post('/user/end_session').send({ id }));
    await whileHeld(app, LOCK_USER, [owner.id], end, async (holder) => {
      const free = await holder('session').whereRaw(`sess ->> 'userId' = ?`, [owner.id]).forUpdate().noWait();
      expect(free).toHaveLength(1);
    });
  });

  // guard messaging-ends-14: an end of tokens includes the last of them that was given
  // migrations/0027_events.up.sql
  // - date_trunc('milliseconds', clock_timestamp())
  // + date_trunc('milliseconds', now())
  // guard messaging-ends-15: an end of tokens is told
  // src/features/tokens/messaging-tokens-repository.ts
  // - if (dropped > 0) await new EventsRepository(this.db).tell('tokens.ended', userId);
  // + void dropped;
  it('includes the last token given, however long the reset has waited', async () => {
    const owner = await insertAndSignIn(app);
    await forgetKept(owner);
    const verification_token = await verificationToken(app, owner);
    let stolen = '';
    const { status } = await whileHeld(
      app,
      'SELECT FROM users WHERE id = ? FOR SHARE',
      [owner.id],
      () => post(app.api, '/user/reset_password', { verification_token, password: newPassword() }),
      async () => (stolen = await tokenOf(owner)),
    );
    expect(status).toBe(200);
    await untilTold(app);
    expect(vendor.isValid(stolen)).toBe(false);
  });

  // guard messaging-ends-7: storing a token waits for a pending end of tokens
  // src/features/tokens/messaging-tokens-repository.ts
  // - AND closed_at IS NULL FOR SHARE)
  // + AND closed_at IS NULL)
  it('makes a token that is about to be stored wait, and be replaced by another', async () => {
    const owner = await insertAndSignIn(app);
    await forgetKept(owner);
    const gate = vendor.holdAnswer(NEW);
    const asked = asking(owner);
    await gate.reached;
    const ending = await app.db.transaction();
    await ending('users').where({ id: owner.id }).increment('messaging_round');
    gate.open();
    await untilWaiting(app.db, 1);
    const before = vendor.requests.length;
    await ending.commit();
    expect((await asked).status).toBe(200);
    expect(vendor.requests.slice(before).map(({ path }) => path)).toEqual([NEW]);
  });

  // guard messaging-ends-16: a second end of tokens is not dropped together with the first
  // src/features/messaging/messaging-changes-repository.ts
  // - AND (kind, other, what, version, number) IN (
  // + AND (kind, other, what, version, number) IS NOT NULL AND EXISTS (
  it('is not lost when it happens while an earlier one is being sent', async () => {
    const owner = await insertAndSignIn(app);
    await signIn(app, owner);
    const gate = vendor.holdAnswer(EXPIRE);
    await endOthers(owner);
    await gate.reached;
    const between = await tokenOf(owner);
    await change(owner);
    await untilRead(app);
    gate.open();
    await untilTold(app);
    expect(vendor.isValid(between)).toBe(false);
    expect(timesTold(owner)).toBe(2);
  });

  // guard messaging-ends-10: a request for a messaging token after an end does not share one from before it
  // src/integrations/messaging/rongcloud/provider.ts
  // - this.newTokens.run(`${user.id} ${round}`,
  // + this.newTokens.run(user.id,
  it.each([
    ['end_session', endOthers],
    ['change_password', change],
  ])('by %s does not let the owner wait for, or share, a call made before it', async (_by, end) => {
    const owner = await insertAndSignIn(app);
    const thief = await signIn(app, owner);
    await forgetKept(owner);
    const { asked, gate } = await askingOnceCalled(thief);
    const token = await tokenOf(await end(owner));
    await untilTold(app);
    expect(vendor.isValid(token)).toBe(true);
    gate.open();
    expect((await asked).status).toBe(401);
    expect(await kept(owner)).toEqual([token]);
  });

  // guard messaging-ends-11: the stored one of two first messaging tokens is given out
  // src/features/tokens/messaging-tokens-repository.ts
  // - ON CONFLICT (user_id, app) DO NOTHING RETURNING token
  // + ON CONFLICT (user_id, app) DO UPDATE SET token = excluded.token RETURNING token
  it('gives two concurrent first requests at two instances the same token', async () => {
    const owner = await insertAndSignIn(app);
    await forgetKept(owner);
    const other = await anotherInstance(env);
    const gate = vendor.holdAnswer(NEW);
    const first = asking(owner);
    await gate.reached;
    const second = await tokenOf(await signIn(other, owner));
    gate.open();
    expect(field(field((await first).body, 'result'), 'token')).toBe(second);
  });
});
