import { knex, type Knex } from 'knex';
import { tokenHash } from '../../../src/base/secrets';
import { ClosingsRepository, LISTS } from '../../../src/features/account/closings-repository';
import { ImagesRepository } from '../../../src/features/images/images-repository';
import { UsersRepository } from '../../../src/features/users/users-repository';
import { VerificationTokensRepository } from '../../../src/features/verification/verification-tokens-repository';
import { countCodes, expectBody, expectRefusal, post, type Answer } from '../../support/calls';
import {
  e164,
  insertAndSignIn,
  newPassword,
  newPhone,
  signIn,
  verificationToken,
  type Person,
  type PhoneFields,
  type SignedInPerson,
} from '../../support/people';
import { stage } from '../../support/stage';
import { asOtherService } from '../../support/other-service';
import { insertGroup } from '../../support/sync';
import { LOCK_GROUP, untilWaiting, whileHeld, whileOpen } from '../../support/waiting';

const { app, ann, cat } = stage({ people: 3 });

const close = ({ agent, password }: SignedInPerson) => post(agent, '/user/close_account', { password });
const changePhone = ({ agent, password }: SignedInPerson, verification_token: string) =>
  post(agent, '/user/change_phone', { password, verification_token });
const phoneOf = async ({ id }: Person) => app.db('phones').where({ user_id: id }).pluck<string[]>('phone');

async function befriend(db: Knex, friend: Person = ann): Promise<void> {
  const sides = [
    { user_id: friend.id, friend_id: cat.id, status: 20 },
    { user_id: cat.id, friend_id: friend.id, status: 20 },
  ];
  await asOtherService(db, [cat.id, friend.id], (trx) =>
    trx('friendships').insert(sides).onConflict(['user_id', 'friend_id']).merge(['status']),
  );
}

async function blacklist(db: Knex): Promise<void> {
  const entry = { user_id: cat.id, friend_id: ann.id };
  await db('blacklist').insert(entry).onConflict(['user_id', 'friend_id']).merge({ status: true });
}

async function join(db: Knex): Promise<void> {
  const member = { group_id: `race-${cat.id}`, member_id: cat.id };
  await asOtherService(db, [cat.id], (trx) =>
    trx('group_members').insert(member).onConflict(['group_id', 'member_id']).merge({ is_deleted: false }),
  );
}

/** Counts what a user still has, by table. */
async function living({ id }: Person): Promise<Record<string, number>> {
  const sessions = app.db('session').whereRaw(`sess ->> 'userId' = ?`, [id]);
  const friendships = app
    .db('friendships')
    .whereNot({ status: 30 })
    .where((side) => void side.where({ user_id: id }).orWhere({ friend_id: id }));
  const found = {
    sessions: await sessions.select(),
    phones: await app.db('phones').where({ user_id: id }).select(),
    friendships: await friendships.select(),
    blacklist: await app.db('blacklist').where({ user_id: id, status: true }).select(),
    memberships: await app.db('group_members').where({ member_id: id, is_deleted: false }).select(),
    images: await app.db('images').where({ user_id: id }).select(),
    tokens: await app.db('messaging_tokens').where({ user_id: id }).select(),
  };
  return Object.fromEntries(Object.entries(found).map(([name, rows]) => [name, (rows as unknown[]).length]));
}

const NOTHING = { sessions: 0, phones: 0, friendships: 0, blacklist: 0, memberships: 0, images: 0, tokens: 0 };

/** Closes Cat's account, and makes it wait midway, with her row locked, until `beside` is running. */
async function closingBeside<T>(beside: () => Promise<T>): Promise<T> {
  const lock = `SELECT FROM session WHERE sess ->> 'userId' = ? FOR UPDATE`;
  const [closed, answer] = await whileHeld(app, lock, [cat.id], [() => close(cat), beside]);
  expectBody(closed, { code: 200 });
  return answer;
}

describe('closing an account', () => {
  beforeEach(() => insertGroup(app, `race-${cat.id}`, [ann]));

  const WRITERS: [string, (db: Knex) => Promise<void>][] = [
    ['friendship', (db) => befriend(db)],
    ['blacklist entry', blacklist],
    ['membership', join],
  ];

  // guard account-races-7: rows of an account that are just being written end with it
  // migrations/0017_account.up.sql
  // - ORDER BY id FOR SHARE
  // + ORDER BY id
  it.each(WRITERS)('ends a %s that another transaction is just inserting', async (_what, write) => {
    const closed = await whileOpen(app, write, () => close(cat));
    expect(closed.body).toEqual({ code: 200 });
    expect(await living(cat)).toEqual(NOTHING);
  });

  // guard account-races-8: no friendship with a closed account is made
  // migrations/0017_account.up.sql
  // - RETURN CASE WHEN is_any_closed(NEW.user_id, NEW.friend_id) THEN NULL ELSE NEW END;
  // + RETURN NEW;
  it.each(WRITERS)('refuses a %s that is written during the closing or after it', async (_what, write) => {
    await closingBeside(() => write(app.db));
    expect(await living(cat)).toEqual(NOTHING);
    await write(app.db);
    expect(await living(cat)).toEqual(NOTHING);
  });

  // guard account-races-9: a membership of a closed account cannot be brought back
  // migrations/0017_account.up.sql
  // - WHEN (NOT NEW.is_deleted AND OLD.is_deleted) EXECUTE
  // + WHEN (false) EXECUTE
  it.each(WRITERS)('refuses to bring an ended %s back', async (_what, write) => {
    await write(app.db);
    await app.db('friendships').where({ user_id: cat.id }).orWhere({ friend_id: cat.id }).update({ status: 30 });
    await app.db('group_members').where({ member_id: cat.id }).update({ is_deleted: true });
    expectBody(await close(cat), { code: 200 });
    await asOtherService(app.db, [cat.id, ann.id], async (trx) => {
      await trx('friendships').where({ user_id: cat.id }).orWhere({ friend_id: cat.id }).update({ status: 20 });
      await trx('group_members').where({ member_id: cat.id }).update({ is_deleted: false });
    });
    await app.db('blacklist').where({ user_id: cat.id }).update({ status: true });
    expect(await living(cat)).toEqual(NOTHING);
  });

  // guard account-races-10: a login begins no session of an account that is closing
  // src/features/users/users-repository.ts
  // - closed_at: this.db.fn.now(), ...this.newCredentials() }
  // + closed_at: this.db.fn.now() }
  // src/features/sessions/sessions-repository.ts
  // - AND closed_at IS NULL FOR SHARE
  // + FOR SHARE
  it('refuses a login that begins during the closing', async () => {
    const { region, phone, password } = cat;
    const login = await closingBeside(() => post(app.api, '/user/login', { region, phone, password }));
    expectBody(login, { code: 1000 });
    expect(await living(cat)).toEqual(NOTHING);
  });

  it('refuses an image that is uploaded during the closing', async () => {
    // The last question of an upload, once the image has been decoded.
    expect(await closingBeside(() => new ImagesRepository(app.db).lockUploader(cat.id, 0))).toBe(false);
  });

  const CALLS: [string, () => object, number][] = [
    ['/user/set_nickname', () => ({ nickname: 'Kitty' }), 401],
    ['/user/set_portrait_uri', () => ({ portraitUri: 'https://a.b/p.png' }), 401],
    ['/user/set_findable', () => ({ findable: false }), 401],
    ['/user/add_to_blacklist', () => ({ friendId: ann.id }), 200],
    ['/user/change_password', () => ({ oldPassword: cat.password, newPassword: newPassword() }), 400],
    ['/user/close_account', () => ({ password: cat.password }), 400],
  ];
  it.each(CALLS)('is not undone by a concurrent %s', async (path, body, status) => {
    expect((await closingBeside(() => post(cat.agent, path, body()))).status).toBe(status);
    expect(await living(cat)).toEqual(NOTHING);
    const row: unknown = await app.db('users').where({ id: cat.id }).first('nickname', 'portrait_uri', 'is_findable');
    expect(row).toEqual({ nickname: '', portrait_uri: '', is_findable: true });
  });

  it('refuses a concurrent change of the phone, and its token stays valid', async () => {
    const phone = newPhone();
    const token = await verificationToken(app, phone);
    expectRefusal(await closingBeside(() => changePhone(cat, token)), 400, 'password');
    expect(await living(cat)).toEqual(NOTHING);
    expectBody(await changePhone(ann, token), { code: 200 });
  });

  // guard account-races-6: a concurrent password reset prevents closing with the old password
  // src/features/account/account-service.ts
  // - if (!(await repos.users.lock(id, account.credentialsVersion, by))) throw new WrongPassword('password');
  it('waits for a concurrent password reset without a deadlock, and then refuses the old password', async () => {
    const token = await verificationToken(app, cat);
    // The steps of reset_password, in turn.
    const useToken = async (trx: Knex) =>
      expect(await new VerificationTokensRepository(trx).useToken(tokenHash(token), e164(cat))).toBe(true);
    const closed = await whileOpen(
      app,
      useToken,
      () => close(cat),
      (trx) => new UsersRepository(trx).resetPassword(cat.id, 'another'),
    );
    expectRefusal(closed, 400, 'password');
    expect(await phoneOf(cat)).toEqual([e164(cat)]);
  });

  it('succeeds when a friend closes another account at the same time', async () => {
    await befriend(app.db);
    const answers = await Promise.all([close(ann), close(cat)]);
    expect(countCodes(answers)).toEqual({ 200: 2 });
    expect([await living(ann), await living(cat)]).toEqual([NOTHING, NOTHING]);
  });

  // After waiting for a row, PostgreSQL reads it again. How depends on the plan, and so on the size of the table.
  // guard account-races-11: a friendship that is written while an account is closing is ended, whatever the plan
  // src/features/account/closings-repository.ts
  // - UPDATE ${table} SET ${change}
  // -  WHERE ${own} = :userId AND ${key} = ANY (ARRAY(SELECT ${key} FROM page)) AND ${condition})
  // + UPDATE ${table} SET ${change}
  // +  WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${own} = :userId AND ${condition})))
  it.each([
    ['as it is', ''],
    ['without hash joins', '-c enable_hashjoin=off'],
    ['without nested loops', '-c enable_nestloop=off'],
    ['without indexes', '-c enable_indexscan=off -c enable_bitmapscan=off'],
  ])('ends friendships whose rows are written at the same time, by a plan %s', async (_which, options) => {
    const planned = knex({
      client: 'pg',
      connection: { connectionString: app.databaseUrl, options },
      pool: { min: 0, max: 1 },
    });
    const bob = await insertAndSignIn(app, 'Bob');
    await befriend(app.db);
    await befriend(app.db, bob);
    const rows = () => app.db('friendships').where({ user_id: cat.id }).orWhere({ friend_id: cat.id });
    const closings = new ClosingsRepository(planned);
    const write = `UPDATE friendships SET display_name = 'x' WHERE ? IN (user_id, friend_id)`;
    await whileHeld(app, write, [cat.id], async () => {
      for (const list of LISTS) await closings.end(list, cat.id, '');
    });
    await planned.destroy();
    expect((await rows().pluck<number[]>('status')).sort()).toEqual([30, 30, 30, 30]);
  });

  // guard account-races-12: two members who leave a group at once do so in turn
  // src/features/groups/dismissals-repository.ts
  // - ORDER BY group_id FOR NO KEY UPDATE`,
  // + ORDER BY group_id`,
  it('does not pass a group on to a member whose account is closing too', async () => {
    const groupId = `heirs-${cat.id}`;
    const bob = await insertAndSignIn(app, 'Bob');
    await insertGroup(app, groupId, [cat, ann]);
    // The newest member, and so not the heir as long as the other is there.
    await app.db('group_members').insert({ group_id: groupId, member_id: bob.id });
    let departures = 0;
    const note = ({ sql }: { sql: string }) =>
      (departures += sql.includes('UPDATE group_members SET is_deleted') ? 1 : 0);
    app.serviceDb.on('query', note);
    // In turn, so that the first one's group would pass to the second.
    const answers = await whileHeld(app, LOCK_GROUP, [groupId], [() => close(cat), () => close(ann)]);
    expect(countCodes(answers)).toEqual({ 200: 2 });
    app.serviceDb.off('query', note);
    // No deadlock, after which one would have retried.
    expect(departures).toBe(2);
    const members: unknown = await app.db('group_members').where({ group_id: groupId, is_deleted: false });
    expect(members).toMatchObject([{ member_id: bob.id, role: 0 }]);
    expect(await app.db('groups').where({ id: groupId }).first('creator_id')).toEqual({ creator_id: bob.id });
  });
});

describe('changing phones', () => {
  let phone: PhoneFields;
  beforeEach(() => {
    phone = newPhone();
  });
  const claim = (trx: Knex) =>
    new UsersRepository(trx).claimPhone({ number: e164(phone), region: '44', language: '', isTest: false }, 'somebody');

  // guard account-races-5: one of two users who want the same phone gets it
  // src/features/account/account-service.ts
  // - if (!(await verificationTokens.useToken(hash, next.number))) throw new BadRequest('wrong_token', NO_SUCH_TOKEN);
  // + await verificationTokens.useToken(hash, next.number);
  // src/features/account/account-service.ts
  // - if (!(await repos.users.claimPhone(next, id))) throw new PhoneTaken('still good');
  // + await repos.users.claimPhone(next, id);
  it('gives a phone that two users want at once to one of them', async () => {
    const [anns, cats] = [await verificationToken(app, phone), await verificationToken(app, phone)];
    const lock = 'SELECT FROM verification_tokens WHERE phone = ? FOR UPDATE';
    const calls = [() => changePhone(ann, anns), () => changePhone(cat, cats)];
    expect(countCodes(await whileHeld(app, lock, [e164(phone)], calls))).toEqual({ 200: 1, 400: 1 });
    const phones = [...(await phoneOf(ann)), ...(await phoneOf(cat))];
    expect(phones).toHaveLength(2);
    expect(phones.filter((number) => number === e164(phone))).toHaveLength(1);
  });

  // guard account-races-1: a phone that another account has taken is not claimed again
  // src/features/users/users-repository.ts
  // - return claimed.length > 0;
  // + return true;
  // guard account-races-4: a phone cannot be changed to one that another account has taken since
  // src/features/account/account-service.ts
  // - if (!(await repos.users.claimPhone(next, id))) throw new PhoneTaken('still good');
  // + await repos.users.claimPhone(next, id);
  it('refuses a phone that is just being registered; the token stays valid and the sessions stay', async () => {
    const token = await verificationToken(app, phone);
    await signIn(app, ann);
    const changed = await whileOpen(app, claim, () => changePhone(ann, token));
    expectRefusal(changed, 400, 'its phone has an account');
    expect(await phoneOf(ann)).toEqual([e164(ann)]);
    expect((await living(ann)).sessions).toBe(2);
    await app
      .db('phones')
      .where({ phone: e164(phone) })
      .delete();
    expectBody(await changePhone(ann, token), { code: 200 });
  });

  it('gives a phone one account when register and change_phone take it at once', async () => {
    const tokens = [await verificationToken(app, phone), await verificationToken(app, phone)];
    const registration = { nickname: 'New', password: newPassword(), verification_token: tokens[0] };
    const answers = await Promise.all([
      post(app.api, '/user/register', registration),
      changePhone(ann, tokens[1] ?? ''),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(
      await app
        .db('phones')
        .where({ phone: e164(phone) })
        .select(),
    ).toHaveLength(1);
  });

  // guard account-races-2: a reset checks that its token still existed when it was used
  // src/features/auth/auth-service.ts
  // - if (!(await repos.verificationTokens.useToken(hash, phone.number))) throw new BadRequest('wrong_token', NO_SUCH_TOKEN);
  // - // The hash first
  // + await repos.verificationTokens.useToken(hash, phone.number);
  // + // The hash first
  // guard account-races-3: a token of the old phone does not reset the password after the phone is changed
  // src/features/account/account-service.ts
  // -   if (phone) await repos.verificationTokens.endAll(phone.number);
  // -   if (!(await repos.users.renewCredentials
  // + if (!(await repos.users.renewCredentials
  it('does not let a token of the old phone reset the password', async () => {
    const token = await verificationToken(app, phone);
    const password = newPassword();
    const answers: Promise<Answer>[] = [];
    const old = await verificationToken(app, ann);
    const blocker = await app.db.transaction();
    await claim(blocker);
    answers.push(changePhone(ann, token));
    await untilWaiting(app.db, 1);
    // The reset has read whose phone that is, and waits for its token.
    answers.push(post(app.api, '/user/reset_password', { password, verification_token: old }));
    await untilWaiting(app.db, 2);
    await blocker.rollback();
    const [changed, reset] = await Promise.all(answers);
    expect(changed?.body).toEqual({ code: 200 });
    expect(reset?.status).toBe(400);
    const login = { region: phone.region, phone: phone.phone };
    expect((await post(app.api, '/user/login', { ...login, password: ann.password })).body).toMatchObject({
      code: 200,
    });
  });
});
