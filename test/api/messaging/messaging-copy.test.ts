import { MessagingChangesRepository } from '../../../src/features/messaging/messaging-changes-repository';
import { MessagingCopy } from '../../../src/features/messaging/messaging-copy';
import { startApp, type Env, type TestApp } from '../../support/app';
import { expectEqualCopies, rongCloudEnv, untilTold } from '../../support/messaging';
import { describeOnOneServer } from '../../support/on-one-server';
import { command, rowsOf } from '../../support/operator';
import { insertAndLogIn, insertPerson, signIn, type Person } from '../../support/people';
import { stage } from '../../support/stage';
import { startRongCloudStandIn, type RongCloudStandIn } from '../../support/stand-ins/rongcloud';
import { until } from '../../support/until';
import { untilWaiting } from '../../support/waiting';

const GROUP = 'hikers';
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `many${String(n).padStart(3, '0')}`);

const insertUsers = ({ db }: TestApp, ids: string[]) =>
  db.raw(`INSERT INTO users (id, nickname) SELECT unnest(?::text[]), 'Many'`, [ids]);
const blacklist = ({ db }: TestApp, userId: string, friends: string[], status = true) =>
  db('blacklist').insert(friends.map((id) => ({ user_id: userId, friend_id: id, status })));
const join = ({ db }: TestApp, groupId: string, ids: string[]) =>
  db('group_members').insert(ids.map((id) => ({ group_id: groupId, member_id: id })));

describeOnOneServer('messaging copy', () => {
  let vendor: RongCloudStandIn;
  let env: Env;
  let ann: Person;
  let bob: Person;

  // Without RongCloud.
  const { app, instance: anotherInstance } = stage({ eachTest: true });
  beforeEach(async () => {
    vendor = await startRongCloudStandIn();
    env = rongCloudEnv(vendor);
    // Among the first hundred ids.
    [ann, bob] = [await insertPerson(app, 'Ann', 'a-ann'), await insertPerson(app, 'Bob', 'a-bob')];
  });
  afterEach(() => vendor.close());

  const copy = (options: Record<string, boolean> = {}) => command(app, 'messaging copy', [], options, env);
  /** Makes users, a group of 150 and a dismissed one, and blacklists. Returns the users. */
  async function insertCircles(): Promise<{ id: string }[]> {
    const many = numbered(150);
    await insertUsers(app, many);
    await app.db('groups').insert(['old', GROUP].map((id) => ({ id, name: 'Hikers', creator_id: ann.id })));
    await join(app, GROUP, [ann.id, ...many]);
    await app.db('group_members').where({ member_id: many[0] }).update({ is_deleted: true });
    await app.db('groups').where({ id: 'old' }).update({ dismissed_at: app.db.fn.now() });
    await blacklist(app, ann.id, many.slice(0, 45));
    await blacklist(app, ann.id, many.slice(45, 50), false);
    await blacklist(app, bob.id, [ann.id]);
    return [ann, bob, ...many.map((id) => ({ id }))];
  }

  it('tells RongCloud of all that was there before it was the provider, and sends no notice', async () => {
    const people = await insertCircles();
    await app.db('events').delete();
    await untilTold(await anotherInstance(env));
    expect(vendor.requests).toEqual([]);
    expect(rowsOf(await copy({ dryRun: true }), 'would tell of')).toEqual([{ users: 2, groups: 1 }]);
    await join(app, GROUP, [bob.id]);
    await untilTold(app);
    expect(vendor.group(GROUP)?.members).toEqual([bob.id]);
    const before = vendor.notices.length;
    const told = await copy();
    expect(rowsOf(told, 'tells of')).toEqual([{ users: 2, groups: 1 }]);
    await expectEqualCopies(app, vendor, people, [GROUP, 'old']);
    expect(vendor.group(GROUP)?.members).toHaveLength(151);
    expect(vendor.blacklist(ann.id)).toHaveLength(45);
    expect(vendor.notices).toHaveLength(before);
    expect(vendor.dismissed).toEqual([]);
    expect(await copy({ dryRun: true })).not.toHaveProperty('under way');
  });

  it('mends what RongCloud was told wrongly, or was not told while events were kept', async () => {
    const first = await startApp(env, { databaseUrl: app.databaseUrl, dataDir: app.dataDir });
    const cat = await insertAndLogIn(first, 'Cat');
    await blacklist(app, cat.id, [ann.id, bob.id]);
    await app.db('groups').insert({ id: GROUP, name: 'Hikers', creator_id: ann.id });
    await join(app, GROUP, [ann.id, bob.id]);
    await untilTold(first);
    await first.close();
    await app.db('users').where({ id: cat.id }).update({ nickname: 'Catherine' });
    await app.db('groups').where({ id: GROUP }).update({ name: 'Walkers' });
    await app.db('blacklist').where({ user_id: cat.id, friend_id: ann.id }).update({ status: false });
    await app.db('group_members').where({ member_id: bob.id }).update({ is_deleted: true });
    await app.db('events').delete();
    await anotherInstance(env);
    await copy();
    await expectEqualCopies(app, vendor, [cat], [GROUP]);
    expect(vendor.profile(cat.id)?.name).toBe('Catherine');
  });

  it('does no harm when it begins again, and beside changes', async () => {
    const people = await insertCircles();
    const [instance] = [await anotherInstance(env), await anotherInstance(env)];
    await signIn(instance, ann);
    const many = people.slice(2).map(({ id }) => id);
    await copy();
    for (let n = 0; n < 30; n += 1) {
      await app.db('blacklist').where({ user_id: ann.id, friend_id: many[n] }).update({ status: false });
      await app
        .db('group_members')
        .where({ member_id: many[149 - n] })
        .update({ is_deleted: true });
      await app
        .db('groups')
        .where({ id: GROUP })
        .update({ name: `Hikers ${n}` });
      await app
        .db('users')
        .where({ id: ann.id })
        .update({ nickname: `Ann ${n}` });
      if (n % 10 === 0) await copy();
    }
    await expectEqualCopies(app, vendor, people, [GROUP, 'old']);
    expect(vendor.group(GROUP)?.name).toBe('Hikers 29');
    expect(vendor.profile(ann.id)?.name).toBe('Ann 29');
  });

  it('is refused for a provider that keeps no copies', async () => {
    await expect(command(app, 'messaging copy')).rejects.toThrow('MESSAGING_PROVIDER is not rongcloud');
  });

  describe('step by step', () => {
    let steps: MessagingCopy;
    beforeEach(async () => {
      steps = new MessagingCopy(app.serviceDb);
      await insertCircles();
      await steps.begin();
    });

    const insertTurns = (count: number, due: string) =>
      app.db.raw(
        `INSERT INTO messaging_turns (subject, due_at)
         SELECT 'other' || n, now() + ?::interval FROM generate_series(1, ?::integer) AS n`,
        [due, count],
      );
    const subjects = () => app.db('messaging_changes').orderBy('subject').pluck<string[]>('subject');
    const isEnded = async () => (await steps.cursor()) === undefined;

    it('is shown as under way by the command that has begun it', async () => {
      expect(rowsOf(await copy(), 'under way')).toEqual([{ of: 'users', after: '' }]);
    });

    it('is gone on with where it was', async () => {
      await steps.goOn();
      const place = await steps.cursor();
      expect(place).toMatchObject({ of: 'users' });
      expect(place?.after).not.toBe('');
      expect(await new MessagingCopy(app.serviceDb).goOn()).toBe(true);
      await until(async () => (await steps.goOn()) && isEnded());
      expect(await subjects()).toEqual([ann.id, bob.id, GROUP].sort());
    });

    // guard messaging-copy-1: a copy waits while other turns are due
    // src/features/messaging/messaging-copy.ts
    // - AND count(*) FILTER (WHERE due_at <= now()) < ${MOST_DUE}
    // guard messaging-copy-2: a copy waits while many turns cannot be told
    // src/features/messaging/messaging-copy.ts
    // - SELECT count(*) < ${MOST_TURNS} AND
    // + SELECT
    it.each([
      ['20 turns are due', 20, '-1 second'],
      ['1,000 turns wait', 1_000, '5 minutes'],
    ])('waits while %s', async (_what, count, due) => {
      await insertTurns(count, due);
      expect(await steps.goOn()).toBe(false);
      expect(await steps.cursor()).toEqual({ of: 'users', after: '' });
      await app.db('messaging_turns').where({ subject: 'other1' }).delete();
      expect(await steps.goOn()).toBe(true);
    });

    // guard messaging-copy-4: a copy that begins again while it is told is told again
    // src/features/messaging/messaging-changes-repository.ts
    // - FROM turns
    // -    ON CONFLICT (subject, kind, other, what) DO UPDATE SET number = messaging_changes.number + 1, at = excluded.at
    // + FROM turns
    // +    ON CONFLICT (subject, kind, other, what) DO UPDATE SET at = excluded.at
    it('is told of again when it begins again while it is told', async () => {
      const changes = new MessagingChangesRepository(app.serviceDb);
      await steps.goOn();
      const turns = await changes.take(10);
      const turn = turns.find(({ subject }) => subject === ann.id);
      const told = await changes.changes(ann.id);
      await steps.begin();
      await steps.goOn();
      expect(turn).toBeDefined();
      if (turn) await changes.done(turn, told);
      expect(await changes.changes(ann.id)).toMatchObject([{ kind: 'user.all' }]);
    });

    // guard messaging-copy-5: a copy locks turns before changes, so that their end does not drop it
    // src/features/messaging/messaging-changes-repository.ts
    // -        ORDER BY subject
    // -        ON CONFLICT (subject) DO UPDATE SET due_at = ${DUE_FOR_MORE}
    // -        RETURNING subject)
    // - INSERT
    // +        ORDER BY subject
    // +        ON CONFLICT (subject) DO NOTHING)
    // + INSERT
    // src/features/messaging/messaging-changes-repository.ts
    // - sync_horizon(), 0, now() FROM turns
    // + sync_horizon(), 0, now() FROM unnest(:subjects::text[]) AS subject
    it('is not lost while the turn of a user ends', async () => {
      const changes = new MessagingChangesRepository(app.serviceDb);
      await app.db('messaging_turns').insert({ subject: ann.id });
      const [turn] = await changes.take(10);
      const trx = await app.serviceDb.transaction();
      await new MessagingCopy(trx).goOn();
      const ending = turn && changes.done(turn, []);
      await Promise.race([untilWaiting(app.db, 1), ending]);
      await trx.commit();
      await ending;
      expect(await changes.take(10)).toContainEqual(expect.objectContaining({ subject: ann.id }));
    });

    // guard messaging-copy-3: one instance at a time makes a step of a copy
    // src/features/messaging/messaging-copy.ts
    // - FOR UPDATE SKIP LOCKED
    it('is made by one instance at a time', async () => {
      const trx = await app.serviceDb.transaction();
      expect(await new MessagingCopy(trx).goOn()).toBe(true);
      expect(await steps.goOn()).toBe(false);
      await trx.commit();
    });
  });
});
