import { expectBody, expectRefusal, post, reasonOf } from '../../support/calls';
import { createGroup } from '../../support/groups';
import { instancesBeside } from '../../support/instances';
import { command, rowsOf } from '../../support/operator';
import {
  e164,
  expectOk,
  field,
  insertPerson,
  newPassword,
  newPhone,
  register,
  signIn,
  verificationToken,
  type Person,
  type SignedInPerson,
} from '../../support/people';
import { stage } from '../../support/stage';
import { fullState, NAMES, settledClient } from '../../support/sync';
import { until } from '../../support/until';
import { whileHeld } from '../../support/waiting';

const { app, instance, ann, bob } = stage({ people: 2 });
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

/** Forgets the last codes of the phone, so that another is sent at once. */
async function proofOf(person: Person, on = app): Promise<string> {
  await app
    .db('rate_limits')
    .where('key', 'like', `%${e164(person)}%`)
    .delete();
  return verificationToken(on, person);
}
const startOver = (verification_token: string, on = app) => post(on.api, '/user/start_over', { verification_token });
const startOverFor = async (person: Person) => startOver(await proofOf(person));
const keep = ({ agent }: SignedInPerson, password: string) => post(agent, '/user/keep_number', { password });
const claimOf = async ({ agent }: SignedInPerson) => (await expectOk(agent.post('/user/number_claim'))).result;
const FREE = { code: 200, result: { state: 'free' } };
const CLAIMED = { code: 200, result: { state: 'claimed', due: TIME } };

/** Moves the last use of an account back by this number of days. */
const sleep = ({ id }: Person, days: number) =>
  app
    .db('phones')
    .where({ user_id: id })
    .update({ awake_at: app.db.raw('now() - make_interval(hours => ?)', [days * 24]) });

/** Moves the claim of an account back by this number of days. */
const age = ({ id }: Person, days: number) =>
  app
    .db('number_claims')
    .where({ user_id: id })
    .update({
      claimed_at: app.db.raw('claimed_at - make_interval(days => ?)', [days]),
      due_at: app.db.raw('due_at - make_interval(days => ?)', [days]),
    });

const rowOf = ({ id }: Person) =>
  app.db('users').where({ id }).first<{ nickname: string; closed_at: Date | null }>('nickname', 'closed_at');
const isOpen = async (person: Person) => (await rowOf(person)).closed_at === null;
const eventsOf = ({ id }: Person) =>
  app.db('security_events').where({ user_id: id }).orderBy('id').pluck<string[]>('event');
const logIn = ({ region, phone, password }: Person) => post(app.api, '/user/login', { region, phone, password });

describe('POST /user/start_over', () => {
  describe('for an account that is asleep', () => {
    let eve: Person;
    beforeEach(async () => {
      eve = await insertPerson(app, 'Eve');
      await sleep(eve, 121);
    });

    it('closes it, and the token registers the number next, as somebody else', async () => {
      const token = await proofOf(eve);
      expectBody(await startOver(token), FREE);
      expect(await rowOf(eve)).toEqual({ nickname: '', closed_at: expect.any(Date) as Date });
      expect(await eventsOf(eve)).toEqual(['account_closed']);
      expectBody(await logIn(eve), { code: 1000 });
      const body = { nickname: 'New', password: newPassword(), verification_token: token };
      const { result } = await expectOk(app.api.post('/user/register').send(body));
      expect(field(result, 'id')).not.toBe(eve.id);
    });

    it('answers the same when it is asked again, also after a lost answer', async () => {
      const token = await proofOf(eve);
      for (let times = 0; times < 3; times += 1) expectBody(await startOver(token), FREE);
      expect(await eventsOf(eve)).toEqual(['account_closed']);
    });

    it('tells friends and groups of its end, and nothing of it is of the next person', async () => {
      const signedIn = await signIn(app, eve);
      const groupId = await createGroup(app, [signedIn, ann]);
      await app.db('friendships').insert([
        { user_id: eve.id, friend_id: bob.id, status: 20 },
        { user_id: bob.id, friend_id: eve.id, status: 20, display_name: 'Evie' },
      ]);
      await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [eve.id]).delete();
      await sleep(eve, 121);
      const clients = [await settledClient(ann, NAMES), await settledClient(bob, NAMES)] as const;
      const token = await proofOf(eve);
      expectBody(await startOver(token), FREE);
      const body = { nickname: 'New', password: newPassword(), verification_token: token };
      const id = String(field((await expectOk(app.api.post('/user/register').send(body))).result, 'id'));
      const next = await signIn(app, { ...eve, id, nickname: 'New', password: body.password });

      const [ofAnn, ofBob] = [await clients[0].sync(), await clients[1].sync()];
      const gone = { memberId: eve.id, isDeleted: true, user: { nickname: '', portraitUri: '' } };
      expect(ofAnn.group_members.find(({ memberId }) => memberId === eve.id)).toMatchObject(gone);
      expect(ofBob.friends).toMatchObject([{ friendId: eve.id, status: 30 }]);
      for (const [index, person] of [ann, bob].entries()) {
        expect(clients[index]?.state()).toEqual(await fullState(person, NAMES));
        expect(JSON.stringify([ofAnn, ofBob, clients[index]?.state()])).not.toContain(id);
      }
      expect(await fullState(next)).toMatchObject({ blacklist: [], friends: [], groups: [] });
      const attached = app.db('group_members').where({ member_id: id });
      expect([await attached, await app.db('friendships').where({ user_id: id }).orWhere({ friend_id: id })]).toEqual([
        [],
        [],
      ]);
      expectRefusal(await post(ann.agent, '/friendship/invite', { friendId: eve.id }), 400, 'friendId');
      expectRefusal(await post(ann.agent, `/user/${eve.id}`), 404);
      expectRefusal(await post(next.agent, `/group/${groupId}`), 404);
    });

    // guard start-over-15: a closed account leaves no claim
    // src/features/account/account-service.ts
    // - await repos.numberClaims.end(id);
    it('leaves no session, messaging token or claim of it', async () => {
      await app
        .db('messaging_tokens')
        .insert({ user_id: eve.id, app: 'app', token: 'x', nickname: '', portrait_uri: '' });
      await sleep(eve, 1);
      await startOverFor(eve);
      await sleep(eve, 121);
      expectBody(await startOverFor(eve), FREE);
      for (const table of ['messaging_tokens', 'number_claims', 'phones'])
        expect(await app.db(table).where({ user_id: eve.id })).toEqual([]);
    });
  });

  describe('takes an account for awake', () => {
    const WAYS: [string, (person: Person) => Promise<unknown>][] = [
      ['that was used 119 days ago', (person) => sleep(person, 119)],
      [
        'after a login and a logout',
        async (person) => {
          const { agent } = await signIn(app, person);
          await expectOk(agent.post('/user/logout'));
        },
      ],
      [
        'that has a session, whenever it was renewed',
        async (person) => {
          await signIn(app, person);
          await sleep(person, 200);
        },
      ],
      [
        'after the renewal of a session that has ended since',
        async (person) => {
          const { agent } = await signIn(app, person);
          await sleep(person, 200);
          const sess = app.db.raw(`(sess::jsonb || '{"renewedAt": 0}')::json`);
          await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [person.id]).update({ sess });
          await expectOk(agent.post('/user/groups'));
          const woken = app.db('phones').where({ user_id: person.id }).whereRaw(`awake_at > now() - interval '1 day'`);
          await until(async () => (await woken.clone()).length > 0);
          await expectOk(agent.post('/user/logout'));
        },
      ],
    ];
    // guard start-over-3: a login keeps an account awake
    // src/features/sessions/sessions-repository.ts
    // - woken AS (${WAKE} AND EXISTS (SELECT FROM owner)),
    // guard start-over-4: a renewed session keeps an account awake
    // src/features/sessions/sessions-repository.ts
    // - await wake(this.db, { userId: data.userId });
    // guard start-over-5: an account with a session is awake
    // src/features/account/number-claims-repository.ts
    // - && (await sessionOf(this.db, { userId: id })).length === 0;
    // + ;
    it.each(WAYS)('%s', async (_how, use) => {
      const person = await insertPerson(app);
      await sleep(person, 200);
      await use(person);
      expectBody(await startOverFor(person), CLAIMED);
      expect(await isOpen(person)).toBe(true);
    });

    it('that was just registered, or has just got the phone', async () => {
      const person = await register(app);
      const signedIn = await signIn(app, person);
      const phone = newPhone();
      const verification_token = await verificationToken(app, phone);
      await expectOk(signedIn.agent.post('/user/change_phone').send({ password: person.password, verification_token }));
      await expectOk(signedIn.agent.post('/user/logout'));
      expectBody(await startOverFor({ ...person, ...phone }), CLAIMED);
      expectBody(await startOverFor(person), FREE);
    });

    it('for as long as RECYCLE_DAYS says', async () => {
      const on = await instance({ RECYCLE_DAYS: '300' });
      const person = await insertPerson(app);
      await sleep(person, 299);
      expectBody(await startOver(await proofOf(person), on), CLAIMED);
    });
  });

  describe('for an account that is awake', () => {
    it('claims the number for seven days later, and tells the sessions', async () => {
      expect(await claimOf(ann)).toEqual({});
      const before = Date.now();
      const { body } = await startOverFor(ann);
      expect(body).toEqual(CLAIMED);
      const due = String(field(field(body, 'result'), 'due'));
      expect(Math.abs(Date.parse(due) - before - 7 * 86_400_000)).toBeLessThan(60_000);
      expect(await claimOf(ann)).toEqual({ claimedAt: TIME, due });
      expect(await eventsOf(ann)).toContain('number_claimed');
      expect(await claimOf(bob)).toEqual({});
    });

    it('finds the claim when it is asked again, and does not begin it again', async () => {
      const first = await startOverFor(ann);
      await age(ann, 3);
      const claim = await claimOf(ann);
      const second = await startOverFor(ann);
      expect(field(field(second.body, 'result'), 'due')).toBe(field(claim, 'due'));
      expect(second.body).not.toEqual(first.body);
      expect((await eventsOf(ann)).filter((event) => event === 'number_claimed')).toHaveLength(1);
    });

    // guard start-over-1: start_over does not close an account that is awake before the claim is due
    // src/features/account/number-claims-service.ts
    // - if (!isAsleep && claim && claim.dueAt > provedAt) return { ...done, claim };
    it('does not close it before the seven days are over', async () => {
      await startOverFor(ann);
      await age(ann, 6);
      expectBody(await startOverFor(ann), CLAIMED);
      expect(await isOpen(ann)).toBe(true);
    });

    it('closes it after the seven days, even while its sessions are used', async () => {
      await startOverFor(ann);
      await age(ann, 7);
      expectBody(await logIn(ann), expect.objectContaining({ code: 200 }) as object);
      const token = await proofOf(ann);
      expectBody(await startOver(token), FREE);
      expect(await isOpen(ann)).toBe(false);
      expectRefusal(await post(ann.agent, '/user/groups'), 401);
      await expectOk(
        app.api.post('/user/register').send({ nickname: 'New', password: newPassword(), verification_token: token }),
      );
    });

    // guard start-over-2: a due claim is used only by a proof from after it was due
    // src/features/account/number-claims-service.ts
    // - claim.dueAt > provedAt
    // + claim.dueAt > new Date()
    it('closes it only by a proof from after the seven days', async () => {
      const token = await proofOf(ann);
      expectBody(await startOver(token), CLAIMED);
      await age(ann, 7);
      expectBody(await startOver(token), CLAIMED);
      expect(await isOpen(ann)).toBe(true);
      expectBody(await startOverFor(ann), FREE);
    });

    // guard start-over-11: a claim lapses
    // src/features/account/number-claims-repository.ts
    // - AND NOT ${LAPSED}
    it('begins another claim when the last has lapsed, seven days after it was due', async () => {
      await startOverFor(ann);
      await age(ann, 14);
      expect(await claimOf(ann)).toEqual({});
      expectBody(await startOverFor(ann), CLAIMED);
      expect(await isOpen(ann)).toBe(true);
      expect((await eventsOf(ann)).filter((event) => event === 'number_claimed')).toHaveLength(2);
    });

    it('leaves lapsed claims to the sweeper, and no others', async () => {
      await startOverFor(ann);
      await age(ann, 13);
      await startOverFor(bob);
      await age(bob, 14);
      await app.sweep();
      const left = app.db('number_claims').whereIn('user_id', [ann.id, bob.id]).pluck<string[]>('user_id');
      expect(await left).toEqual([ann.id]);
    });
  });

  describe('is refused', () => {
    it('without a token that is valid: 400, whatever the number', async () => {
      expectRefusal(await startOver('unknown'), 400, 'verification_token', 'wrong_token');
      const token = await proofOf(ann);
      await app
        .db('verification_tokens')
        .where({ phone: e164(ann) })
        .update({ expires_at: app.db.fn.now() });
      expectRefusal(await startOver(token), 400, 'verification_token', 'wrong_token');
      const used = await proofOf(ann);
      await expectOk(app.api.post('/user/reset_password').send({ password: newPassword(), verification_token: used }));
      expectRefusal(await startOver(used), 400, 'verification_token', 'wrong_token');
    });

    // guard start-over-17: a token of a fixed code does not start over an account that was proved by a sent one
    // src/features/verification/verification-tokens-repository.ts
    // - this.goodToken(tokenHash).whereRaw(GOOD_FOR_ITS_ACCOUNT).forUpdate()
    // + this.goodToken(tokenHash).forUpdate()
    it('by a token of a fixed code, when the phone of the account was proved by a code that was sent', async () => {
      await sleep(bob, 200);
      await expectOk(bob.agent.post('/user/logout'));
      const token = await proofOf(bob);
      await app
        .db('verification_tokens')
        .where({ phone: e164(bob) })
        .update({ is_test: true });
      expectRefusal(await startOver(token), 400, 'verification_token', 'wrong_token');
      expect(await isOpen(bob)).toBe(true);
    });

    // guard start-over-9: a suspended account is not started over
    // src/features/account/number-claims-service.ts
    // -     if (account.isSuspended) throw new Forbidden('account_suspended', 'the account is suspended by the operator');
    // -     if (!(await repos.users.lock(account.id, account.credentialsVersion))) throw new Overtaken();
    // + await repos.users.lock(account.id, account.credentialsVersion, 'operator');
    it('for a suspended account, asleep or awake, and its token stays valid', async () => {
      const eve = await insertPerson(app, 'Eve');
      await sleep(eve, 200);
      await command(app, 'users suspend', [eve.id]);
      const token = await proofOf(eve);
      expectRefusal(await startOver(token), 403, 'suspended', 'account_suspended');
      expect(await isOpen(eve)).toBe(true);
      await command(app, 'users restore', [eve.id]);
      expectBody(await startOver(token), FREE);
    });

    // guard start-over-14: RECYCLE_DAYS=0 switches start_over off
    // src/features/account/number-claims-service.ts
    // - if (this.rules.recycleDays === 0) throw new Forbidden('start_over_off', 'the operator does not hand numbers on');
    it('with RECYCLE_DAYS=0, also for a number without an account', async () => {
      const on = await instance({ RECYCLE_DAYS: '0' });
      await sleep(bob, 200);
      for (const token of [await proofOf(bob), await verificationToken(app, newPhone()), 'unknown'])
        expectRefusal(await startOver(token, on), 403, 'numbers', 'start_over_off');
    });
  });

  it('answers free for a number without an account', async () => {
    expectBody(await startOver(await verificationToken(app, newPhone())), FREE);
  });

  describe('with NOTIFY', () => {
    const notifying = instancesBeside(() => app, {
      NOTIFY: 'sms',
      NOTIFY_TEXT_NUMBER_CLAIMED: 'claimed',
      NOTIFY_TEXT_ACCOUNT_CLOSED: 'closed',
    });

    // guard start-over-16: the owner of a phone is told of a claim
    // src/features/account/number-claims-service.ts
    // - if (isNew) notices.notify('number_claimed', { id: userId, phone }, caller);
    it('tells the phone of a claim, and of the end of the account', async () => {
      const on = await notifying();
      const token = await proofOf(ann, on);
      const isTold = (body: string) => () => on.sms.sent.some((sms) => sms.to === e164(ann) && sms.body === body);
      expectBody(await startOver(token, on), CLAIMED);
      await until(isTold('claimed'));
      await age(ann, 7);
      expectBody(await startOver(await proofOf(ann, on), on), FREE);
      await until(isTold('closed'));
    });
  });
});

describe('POST /user/keep_number', () => {
  // guard start-over-7: keep_number ends the tokens of the number
  // src/features/account/number-claims-service.ts
  // - await repos.verificationTokens.endAll(number);
  it('ends the claim by the password, and the tokens of the number', async () => {
    await startOverFor(ann);
    const token = await proofOf(ann);
    expectBody(await keep(ann, ann.password), { code: 200 });
    expect(await claimOf(ann)).toEqual({});
    expectRefusal(await startOver(token), 400, '', 'wrong_token');
    expect((await eventsOf(ann)).slice(-2)).toEqual(['number_claimed', 'number_kept']);
    await expectOk(ann.agent.post('/user/groups'));
    await age(ann, 7);
    expectBody(await startOverFor(ann), CLAIMED);
  });

  // guard start-over-6: keep_number wants the password
  // src/features/account/number-claims-service.ts
  // - if (!proved) throw new WrongPassword('password');
  // - const {
  // + if (!proved) return void (await this.deps.claims.end(userId));
  // + const {
  it('does not end it with a wrong password, which counts as a failed login', async () => {
    await startOverFor(ann);
    const claim = await claimOf(ann);
    for (let failure = 0; failure < 10; failure += 1)
      expectRefusal(await keep(ann, 'wrong-one'), 400, 'password', 'wrong_password');
    expectRefusal(await keep(ann, ann.password), 429, '', 'too_many_attempts');
    expect(await claimOf(ann)).toEqual(claim);
    const noted = app.db('security_events').where({ user_id: ann.id, detail: 'keep_number' });
    expect(await noted).toHaveLength(10);
  });

  it('changes nothing without a claim', async () => {
    expectBody(await keep(ann, ann.password), { code: 200 });
    expect(await eventsOf(ann)).not.toContain('number_kept');
  });

  it('needs a session, as number_claim does', async () => {
    for (const path of ['/user/keep_number', '/user/number_claim'])
      expectRefusal(await post(app.api, path, { password: ann.password }), 401);
  });
});

describe('a claim', () => {
  const WAYS: [string, (person: SignedInPerson) => Promise<unknown>][] = [
    [
      'a changed password',
      ({ agent, password }) =>
        expectOk(agent.post('/user/change_password').send({ oldPassword: password, newPassword: `${password}x` })),
    ],
    [
      'a password that is reset by a code',
      async (person) => {
        const reset = { password: `${person.password}x`, verification_token: await proofOf(person) };
        await expectOk(app.api.post('/user/reset_password').send(reset));
      },
    ],
    [
      'a sign-in by a code, and the owner is told',
      async (person) => {
        await expectOk(app.api.post('/user/login_by_token').send({ verification_token: await proofOf(person) }));
        expect(await claimOf(person)).toEqual({});
        expect(await eventsOf(person)).toContain('number_kept');
      },
    ],
    ['a suspension', ({ id }) => command(app, 'users suspend', [id]).then(() => command(app, 'users restore', [id]))],
  ];
  // guard start-over-8: a claim is void once the account has other credentials
  // src/features/account/number-claims-repository.ts
  // - AND credentials_version = :credentialsVersion::integer
  // guard start-over-10: a suspension ends a claim, which its owner cannot answer
  // src/features/account/suspension-service.ts
  // - await repos.numberClaims.end(userId);
  // guard start-over-18: a sign-in by a code ends a claim
  // src/features/auth/token-logins.ts
  // - if (!isNew && (await repos.numberClaims.keep(account.id)))
  // + if (isNew)
  it.each(WAYS)('ends by %s', async (_what, end) => {
    await startOverFor(ann);
    await end(ann);
    await age(ann, 7);
    expectBody(await startOverFor(ann), CLAIMED);
    expect(await isOpen(ann)).toBe(true);
  });

  it('ends by another phone, and the number is free', async () => {
    await startOverFor(ann);
    const verification_token = await verificationToken(app, newPhone());
    await expectOk(ann.agent.post('/user/change_phone').send({ password: ann.password, verification_token }));
    expect(await claimOf(ann)).toEqual({});
    await age(ann, 7);
    expectBody(await startOverFor(ann), FREE);
    expect(await isOpen(ann)).toBe(true);
  });

  // guard start-over-13: a claim does not reach another account of the number
  // src/features/account/number-claims-repository.ts
  // - user_id = :userId AND credentials_version
  // + credentials_version
  it('does not reach the next account of the number', async () => {
    await startOverFor(ann);
    await app.db('number_claims').where({ user_id: ann.id }).update({ user_id: 'another' });
    await age({ ...ann, id: 'another' }, 7);
    expectBody(await startOverFor(ann), CLAIMED);
    expect(await claimOf(ann)).toEqual({ claimedAt: TIME, due: TIME });
  });

  it('is in the export, and seen by support', async () => {
    await startOverFor(ann);
    const { due, claimedAt } = (await claimOf(ann)) as { due: string; claimedAt: string };
    const { result } = await expectOk(ann.agent.post('/user/export'));
    expect(field(result, 'numberClaims')).toEqual([{ phone: e164(ann), claimedAt, due }]);
    for (const words of [
      ['users show', ann.id],
      ['why', e164(ann)],
    ] as const) {
      const [row] = rowsOf(await command(app, words[0], [words[1]]), 'claims of its number');
      expect(row).toMatchObject({ since: claimedAt, due });
    }
  });
});

describe('a reset that began before the account was closed', () => {
  // guard start-over-12: a reset of a closed account is refused
  // src/features/auth/auth-service.ts
  // - if (!(await repos.users.resetPassword(account.id, passwordHash))) throw new BadRequest('no_account', JUST_CLOSED);
  // + await repos.users.resetPassword(account.id, passwordHash);
  it('is refused, and its token stays valid', async () => {
    const eve = await insertPerson(app, 'Eve');
    await sleep(eve, 121);
    const tokens = [await proofOf(eve), await proofOf(eve)] as const;
    // Between the look-up of the account and the use of the token.
    const answer = await whileHeld(
      app,
      'SELECT FROM verification_tokens WHERE phone = ? FOR UPDATE',
      [e164(eve)],
      () => post(app.api, '/user/reset_password', { password: newPassword(), verification_token: tokens[0] }),
      (trx) => trx('users').where({ id: eve.id }).update({ closed_at: trx.fn.now(), nickname: '', password_hash: '' }),
    );
    expect([answer.status, reasonOf(answer)]).toEqual([400, 'no_account']);
    await expectOk(app.api.post('/user/check_phone_available').send({ region: eve.region, phone: eve.phone }));
    expect(await app.db('verification_tokens').where({ phone: e164(eve) })).toHaveLength(2);
  });
});
