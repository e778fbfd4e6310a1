import { newUserId } from '../../../src/features/users/user-id';
import type { TestApp } from '../../support/app';
import { expectBody, post } from '../../support/calls';
import { describeOnOneServer } from '../../support/on-one-server';
import { expectOk, insertPerson, signIn, type Person, type SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';
import { foldingClientOf, fullState, insertGroup, sync } from '../../support/sync';
import { until } from '../../support/until';

/** Closes accounts with more data than the closing request can end. */
describeOnOneServer('POST /user/close_account for an account with much data', () => {
  const { app, instance, ann, cat } = stage({ people: 3 });

  const close = ({ agent, password }: SignedInPerson) => post(agent, '/user/close_account', { password });
  const closed = async (person: SignedInPerson) => expectBody(await close(person), { code: 200 });
  const count = async (sql: string, ...values: string[]) =>
    Number((await app.db.raw<{ rows: { n: number }[] }>(`SELECT count(*) AS n FROM ${sql}`, values)).rows[0]?.n);
  const friendsOf = ({ id }: Person) => count('friendships WHERE ? IN (user_id, friend_id) AND status <> 30', id);
  const left = ({ id }: Person) => count('account_closings WHERE user_id = ?', id);
  const away = (on: TestApp = app) => on.logged().filter(({ msg }) => msg === 'the database is unavailable');
  const postponed = () =>
    app.logged().filter(({ msg }) => msg === 'the remaining rows of a closed account will be ended later');
  const befriend = (person: Person, friends: Person[]) =>
    app.db('friendships').insert(
      friends.flatMap(({ id }) => [
        { user_id: person.id, friend_id: id, status: 20 },
        { user_id: id, friend_id: person.id, status: 20 },
      ]),
    );

  afterEach(() => jest.useRealTimers());

  /** Inserts friends with user rows, without running triggers. */
  async function insertFriends({ id }: Person, friends: number): Promise<void> {
    await app.db.transaction(async (trx) => {
      await trx.raw('SET LOCAL session_replication_role = replica');
      await trx.raw(
        `INSERT INTO users (id, nickname, version)
           SELECT 'friend' || n, 'Friend', 1 FROM generate_series(1, ?::integer) n ON CONFLICT DO NOTHING`,
        [friends],
      );
      for (const sides of [`:id, 'friend' || n`, `'friend' || n, :id`])
        await trx.raw(
          `INSERT INTO friendships (user_id, friend_id, status, version)
             SELECT ${sides}, 20, 1 FROM generate_series(1, :friends::integer) n`,
          { id, friends },
        );
    });
  }

  /** Runs `work` while a trigger does `what` with each friendship of the friend that is written. */
  async function whileFriendships(friend: Person, what: string, work: () => Promise<void>): Promise<void> {
    await app.db.raw(`
      CREATE FUNCTION disturb() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          IF '${friend.id}' IN (NEW.user_id, NEW.friend_id) THEN ${what}; END IF;
          RETURN NEW;
        END $$;
      CREATE TRIGGER disturb BEFORE UPDATE ON friendships FOR EACH ROW EXECUTE FUNCTION disturb();`);
    try {
      await work();
    } finally {
      await app.db.raw('DROP FUNCTION disturb CASCADE');
    }
  }

  // guard close-account-large-1: closing an account with very many friendships leaves none of them
  // src/features/account/closings-service.ts
  // - this.deps.background.run(() => this.endAll(userId, caller), LATER);
  // + void this.deps.background;
  it('closes an account with 60,000 friends at once, ends these in chunks, and serves other users in between', async () => {
    await insertFriends(cat, 60_000);
    await app.db('friendships').insert({ user_id: ann.id, friend_id: cat.id, status: 20 });
    const client = foldingClientOf(ann);
    await client.sync();
    await closed(cat);
    await until(async () => {
      expect((await post(ann.agent, '/user/groups')).status).toBe(200);
      return (await left(cat)) === 0;
    });
    expect(await friendsOf(cat)).toBe(0);
    expect((await client.sync()).friends).toMatchObject([{ friendId: cat.id, status: 30 }]);
    expect(client.state().friends).toEqual([]);
    expect(away()).toEqual([]);
  });

  // guard close-account-large-3: an account is closed even if ending its rows fails
  // src/features/account/closings-service.ts
  // - this.deps.logger.warn({ err: error }, LATER);
  // + throw error;
  // guard close-account-large-8: rows of a closed account end also when their statement takes longer than usual ones may
  // src/features/account/closings-service.ts
  // - const { closings, slowTransaction, logger } = this.deps;
  // + const { closings, transaction: slowTransaction, logger } = this.deps;
  // guard close-account-large-9: the connection of a slow statement is not cut
  // src/database/connections.ts
  // - SLOW * (patience ?? 1), 0
  // + (SLOW / SLOW) * (patience ?? 1), 0
  it('closes an account whose statement takes seven seconds, and ends its rows in the sweep', async () => {
    await befriend(cat, [ann]);
    const impatient = await instance({}, { patience: 1 });
    const there = await signIn(impatient, cat);
    await whileFriendships(ann, `IF NEW.user_id = '${ann.id}' THEN PERFORM pg_sleep(7); END IF`, async () => {
      let isClosed = false;
      const closing = closed(there).finally(() => (isClosed = true));
      while (!isClosed) expect((await post(ann.agent, '/user/groups')).status).toBe(200);
      await closing;
      expect((await post(ann.agent, `/user/${cat.id}`)).status).toBe(404);
      expect(await friendsOf(cat)).toBe(1);
      // Its other statements may fail on a busy machine.
      await until(async () => {
        await impatient.sweep();
        return (await friendsOf(cat)) === 0;
      });
    });
    expect(away(impatient)).toEqual([]);
    await app.sweep();
    expect(await left(cat)).toBe(0);
  });

  // guard close-account-large-2: rows of a closed account are ended in chunks
  // src/features/account/closings-repository.ts
  // - ORDER BY ${key} LIMIT ${PAGE}),
  // + ORDER BY ${key} LIMIT 30 * ${PAGE}),
  // guard close-account-large-4: the sweep ends what a closed account has left
  // src/features/account/build-account.ts
  // - { name: 'closings', everyMs: CLOSING_SWEEP_MS, run: () => closings.sweep() },
  // + { name: 'closings', everyMs: CLOSING_SWEEP_MS, run: () => Promise.resolve() },
  // guard close-account-large-5: a closed account whose rows cannot be ended does not delay others
  // src/features/account/closings-service.ts
  // - await this.endAll(id, SWEEPER, slowTransaction).catch((error: unknown) => logger.warn({ err: error }, LATER));
  // +         await this.endAll(id, SWEEPER, slowTransaction);
  // +     void logger;
  it('resumes after a failure, on two instances at once, and does not delay other accounts', async () => {
    const other = await instance();
    // Eve is the first to be swept, and Zoe is a friend in the last chunk.
    const eve = await signIn(app, await insertPerson(app, 'Eve', `00${newUserId()}`));
    const zoe = await signIn(app, await insertPerson(app, 'Zoe', `zz${newUserId()}`));
    await insertFriends(eve, 1_200);
    await befriend(eve, [zoe]);
    await befriend(cat, [ann]);
    const before = postponed().length;
    await whileFriendships(zoe, `RAISE 'broken off'`, async () => {
      await closed(eve);
      await app.db('users').where({ id: cat.id }).update({ closed_at: app.db.fn.now() });
      await Promise.all([app.sweep(), other.sweep()]);
      // Its own work after the answer has to fail while the trigger is there, like the sweep of this instance.
      await until(() => postponed().length === before + 2);
    });
    expect([await left(cat), await friendsOf(cat), await left(eve)]).toEqual([0, 0, 1]);
    expect(await friendsOf(zoe)).toBe(2);
    expect(await friendsOf(eve)).toBeLessThan(1_500);
    const client = foldingClientOf(zoe);
    await client.sync();
    await Promise.all([app.sweep(), other.sweep()]);
    await app.sweep();
    expect([await friendsOf(eve), await left(eve)]).toEqual([0, 0]);
    await client.sync();
    expect(client.state()).toEqual(await fullState(zoe));
  });

  // guard close-account-large-10: the rest of a closed account ends within a minute
  // src/features/account/build-account.ts
  // - const CLOSING_SWEEP_MS = 60_000;
  // + const CLOSING_SWEEP_MS = 600_000;
  it('ends what remains of an account that another service closed, and logs the groups dismissed with it', async () => {
    await befriend(cat, [ann]);
    await app.db('blacklist').insert({ user_id: cat.id, friend_id: ann.id });
    const [alone, shared] = [`alone-${cat.id}`, `shared-${cat.id}`];
    await insertGroup(app, alone, [cat]);
    await insertGroup(app, shared, [cat, ann]);
    const { version } = await sync(ann);
    await app.db('users').where({ id: cat.id }).update({ closed_at: app.db.fn.now(), nickname: '' });
    jest.useFakeTimers({
      doNotFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'nextTick', 'Date', 'performance'],
    });
    await instance();
    jest.advanceTimersByTime(60_000);
    await until(async () => (await left(cat)) === 0);
    expect(await friendsOf(cat)).toBe(0);
    expect(await app.db('blacklist').where({ user_id: cat.id }).pluck('status')).toEqual([false]);
    expect(
      await app.db('groups').whereIn('id', [alone, shared]).orderBy('id').select('creator_id', 'dismissed_at'),
    ).toEqual([
      { creator_id: cat.id, dismissed_at: expect.any(Date) as Date },
      { creator_id: ann.id, dismissed_at: null },
    ]);
    const dismissed = app.db('security_events').where({ event: 'group_dismissed', user_id: cat.id });
    expect(await dismissed.pluck('detail')).toEqual([alone]);
    expect((await sync(ann, version)).friends).toMatchObject([{ friendId: cat.id, status: 30 }]);
  });

  // guard close-account-large-6: an emptied name is not reported by itself
  // migrations/0021_closings.up.sql
  // - WHEN (NEW.closed_at IS NULL AND (NEW.nickname, NEW.portrait_uri) IS DISTINCT FROM (OLD.nickname, OLD.portrait_uri))
  // - EXECUTE FUNCTION users_touch_memberships();
  // + WHEN ((NEW.nickname, NEW.portrait_uri) IS DISTINCT FROM (OLD.nickname, OLD.portrait_uri))
  // + EXECUTE FUNCTION users_touch_memberships();
  it('writes each membership once, for its end, and not for the emptied name', async () => {
    await insertGroup(app, `once-${cat.id}`, [ann, cat]);
    await befriend(cat, [ann]);
    await app.db.raw(`
      CREATE FUNCTION refuse_names() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'written for a name'; END $$;
      CREATE TRIGGER refuse_names BEFORE UPDATE ON group_members FOR EACH ROW
        WHEN (NOT NEW.is_deleted) EXECUTE FUNCTION refuse_names();
      CREATE TRIGGER refuse_names BEFORE UPDATE ON friendships FOR EACH ROW
        WHEN (NEW.status <> 30) EXECUTE FUNCTION refuse_names();`);
    try {
      await closed(cat);
    } finally {
      await app.db.raw('DROP FUNCTION refuse_names CASCADE');
    }
    expect(await left(cat)).toBe(0);
  });

  // guard close-account-large-7: a request of a closed account cannot become a friendship before it is ended
  // migrations/0021_closings.up.sql
  // - OR NEW.status = 20 AND OLD.status <> 20)
  // + )
  it('does not let a pending request of it become a friendship until that request is ended', async () => {
    await expectOk(cat.agent.post('/friendship/invite').send({ friendId: ann.id }));
    await whileFriendships(ann, `IF NEW.status = 30 THEN RAISE 'broken off'; END IF`, async () => {
      await closed(cat);
      await app.db('friendships').where({ user_id: ann.id, friend_id: cat.id }).update({ status: 20 });
      expect((await post(ann.agent, '/friendship/agree', { friendId: cat.id })).status).toBe(404);
    });
    expect(await app.db('friendships').where({ user_id: ann.id }).pluck('status')).toEqual([11]);
    await app.sweep();
    expect(await friendsOf(cat)).toBe(0);
  });
});
