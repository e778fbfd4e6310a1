import { newUserId } from '../../../src/features/users/user-id';
import { countCodes, expectBody, expectRefusal, post, retryAfterOf, inParallel } from '../../support/calls';
import { instancesBeside } from '../../support/instances';
import { expectOk, field, insertAndSignIn, insertPerson, signIn, type SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';
import { LOCK_USER, whileHeld } from '../../support/waiting';

describe('blacklist', () => {
  const { app } = stage();

  describe('POST /user/blacklist', () => {
    it('is empty at first', async () => {
      const { agent } = await insertAndSignIn(app);
      expect(await expectOk(agent.post('/user/blacklist'))).toEqual({ code: 200, result: [] });
    });

    it('lists id, nickname, portraitUri and updatedAt of each entry, newest first', async () => {
      const { agent } = await insertAndSignIn(app);
      const first = await insertPerson(app, 'First');
      const second = await insertPerson(app, 'Second');
      await app.db('users').where({ id: second.id }).update({ portrait_uri: 'https://a.b/c.png' });
      await expectOk(agent.post('/user/add_to_blacklist').send({ friendId: first.id }));
      await expectOk(agent.post('/user/add_to_blacklist').send({ friendId: second.id }));
      const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
      expect((await expectOk(agent.post('/user/blacklist'))).result).toEqual([
        { id: second.id, nickname: 'Second', portraitUri: 'https://a.b/c.png', updatedAt: iso },
        { id: first.id, nickname: 'First', portraitUri: '', updatedAt: iso },
      ]);
    });

    // guard blacklist-4: a long blacklist is listed in pages
    // src/database/pages.ts
    // - const PAGE = 500;
    // + const PAGE = 1e6;
    it('returns a long list completely and in order, reading it in pages', async () => {
      const { agent, id } = await insertAndSignIn(app);
      const ids = await insertMany(1_001);
      // Some have the same time, and the others are microseconds apart.
      await app.db.raw(
        `INSERT INTO blacklist (user_id, friend_id, updated_at)
           SELECT ?, friend, now() - interval '1 microsecond' * (hashtext(friend) % 300) FROM unnest(?::text[]) friend`,
        [id, ids],
      );
      await app.db('blacklist').insert({ user_id: id, friend_id: 'nobody', updated_at: new Date(0) });
      await app.db('blacklist').where({ user_id: id, friend_id: ids[500] }).delete();
      const rows: number[] = [];
      const note = (response: unknown, { sql }: { sql: string }) => {
        if (sql.includes('blacklist')) rows.push((response as { rows: unknown[] }).rows.length);
      };
      app.serviceDb.on('query-response', note);
      const { result } = await expectOk(agent.post('/user/blacklist'));
      app.serviceDb.off('query-response', note);
      expect(rows).toEqual([500, 500, 1]);
      const kept = await app
        .db('blacklist')
        .where({ user_id: id, status: true })
        .orderBy([{ column: 'updated_at', order: 'desc' }, 'friend_id'])
        .pluck<string[]>('friend_id');
      expect((result as { id: string }[]).map((entry) => entry.id)).toEqual(kept);
      expect((result as unknown[]).at(-1)).toEqual({
        id: 'nobody',
        nickname: '',
        portraitUri: '',
        updatedAt: '1970-01-01T00:00:00.000Z',
      });
    });

    it('shows each user only their own list', async () => {
      const ann = await insertAndSignIn(app);
      const bob = await insertAndSignIn(app);
      await expectOk(ann.agent.post('/user/add_to_blacklist').send({ friendId: bob.id }));
      expect((await expectOk(bob.agent.post('/user/blacklist'))).result).toEqual([]);
    });

    it('needs a session', async () => {
      expect((await app.api.post('/user/blacklist')).status).toBe(401);
    });
  });

  describe.each(['add_to_blacklist', 'remove_from_blacklist'])('POST /user/%s', (operation) => {
    it.each([
      ['missing', undefined],
      ['a number', 5],
      ['malformed', 'a/b'],
      ['empty', ''],
      ['too long', 'x'.repeat(65)],
    ])('refuses a friendId that is %s', async (_what, friendId) => {
      const { agent } = await insertAndSignIn(app);
      const answer = await agent.post(`/user/${operation}`).send({ friendId });
      expect(answer.status).toBe(400);
      expect(String(field(answer.body, 'message'))).toContain('friendId');
    });

    it('needs a session', async () => {
      expect((await app.api.post(`/user/${operation}`).send({ friendId: 'abc' })).status).toBe(401);
    });
  });

  describe('POST /user/add_to_blacklist', () => {
    it('changes nothing when it is repeated', async () => {
      const { agent, id } = await insertAndSignIn(app);
      const { id: friendId } = await insertPerson(app);
      await expectOk(agent.post('/user/add_to_blacklist').send({ friendId }));
      const before: unknown = await app.db('blacklist').where({ user_id: id });
      expect(await expectOk(agent.post('/user/add_to_blacklist').send({ friendId }))).toEqual({ code: 200 });
      expect(await app.db('blacklist').where({ user_id: id })).toEqual(before);
    });

    it('refuses a user that does not exist', async () => {
      const { agent } = await insertAndSignIn(app);
      expect((await agent.post('/user/add_to_blacklist').send({ friendId: 'nobody' })).status).toBe(400);
    });

    it('refuses a user whose account is closed', async () => {
      const { agent } = await insertAndSignIn(app);
      const { id: friendId } = await insertPerson(app);
      await app.db('users').where({ id: friendId }).update({ closed_at: new Date() });
      expect((await agent.post('/user/add_to_blacklist').send({ friendId })).status).toBe(400);
    });

    it("refuses the user's own id", async () => {
      const { agent, id } = await insertAndSignIn(app);
      expect((await agent.post('/user/add_to_blacklist').send({ friendId: id })).status).toBe(400);
    });
  });

  describe('POST /user/remove_from_blacklist', () => {
    it('removes an entry, and add_to_blacklist restores it', async () => {
      const { agent } = await insertAndSignIn(app);
      const { id: friendId } = await insertPerson(app);
      const listed = async () => (await expectOk(agent.post('/user/blacklist'))).result;
      await expectOk(agent.post('/user/add_to_blacklist').send({ friendId }));
      expect(await expectOk(agent.post('/user/remove_from_blacklist').send({ friendId }))).toEqual({ code: 200 });
      expect(await listed()).toEqual([]);
      await expectOk(agent.post('/user/add_to_blacklist').send({ friendId }));
      expect(await listed()).toMatchObject([{ id: friendId }]);
    });

    it('succeeds when there is no such entry', async () => {
      const { agent, id } = await insertAndSignIn(app);
      expect(await expectOk(agent.post('/user/remove_from_blacklist').send({ friendId: 'nobody' }))).toEqual({
        code: 200,
      });
      expect(await app.db('blacklist').where({ user_id: id })).toEqual([]);
    });
  });

  describe('with MAX_BLACKLIST', () => {
    const instance = instancesBeside(() => app, { MAX_BLACKLIST: '3' });
    const add = ({ agent }: SignedInPerson, friendId = '') => post(agent, '/user/add_to_blacklist', { friendId });
    const remove = ({ agent }: SignedInPerson, friendId = '') =>
      post(agent, '/user/remove_from_blacklist', { friendId });

    // guard blacklist-1: a blacklist has a maximum length
    // src/features/blacklist/blacklist-repository.ts
    // - OR :most > (
    // + OR :most::integer > 0 OR :most > (
    it('takes MAX_BLACKLIST entries, and refuses another one until one is removed', async () => {
      const ann = await insertAndSignIn(await instance());
      const ids = await insertMany(5);
      for (const id of ids.slice(0, 3)) expectBody(await add(ann, id), { code: 200 });
      expectRefusal(await add(ann, ids[3]), 400, '3');
      expectRefusal(await add(ann, 'nobody'), 400, 'no such user');
      // Its entry exists already.
      expectBody(await add(ann, ids[0]), { code: 200 });
      expect(await listed(ann)).toEqual(ids.slice(0, 3));

      expectBody(await remove(ann, ids[0]), { code: 200 });
      expectBody(await add(ann, ids[3]), { code: 200 });
      // A removed entry needs a free place again.
      expectRefusal(await add(ann, ids[0]), 400);
      expect(await listed(ann)).toEqual(ids.slice(1, 4));
    });

    // guard blacklist-2: one of two concurrent adds gets the last place on a blacklist
    // src/features/blacklist/blacklist-service.ts
    // - await blacklist.lock(userId);
    it('gives the last place to one of two adds on two instances', async () => {
      const [one, other] = [await instance(), await instance()];
      const ann = await insertAndSignIn(one);
      const there = await signIn(other, ann);
      const [first, second, third, fourth] = await insertMany(4);
      for (const id of [first, second]) expectBody(await add(ann, id), { code: 200 });
      // Both have come as far as they can before either is done.
      const answers = await whileHeld(app, LOCK_USER, [ann.id], [() => add(ann, third), () => add(there, fourth)]);
      expect(countCodes(answers)).toEqual({ 200: 1, 400: 1 });
      expect(await listed(ann)).toHaveLength(3);
    });

    it('keeps a list that is already longer than allowed, and adds nothing to it', async () => {
      const ann = await insertAndSignIn(await instance());
      const ids = await insertMany(6);
      await app.db('blacklist').insert(ids.map((friend_id) => ({ user_id: ann.id, friend_id })));
      expect(await listed(ann)).toEqual(ids);
      expectBody(await remove(ann, ids[0]), { code: 200 });
      expectRefusal(await add(ann, ids[0]), 400);
      expect(await listed(ann)).toEqual(ids.slice(1));
    });

    it('takes any number of entries when it is 0', async () => {
      const ann = await insertAndSignIn(await instance({ MAX_BLACKLIST: '0' }));
      for (const id of await insertMany(5)) expectBody(await add(ann, id), { code: 200 });
    });

    async function listed({ agent }: SignedInPerson): Promise<string[]> {
      const { result } = await expectOk(agent.post('/user/blacklist'));
      return (result as { id: string }[]).map(({ id }) => id).sort();
    }

    /** Transactions that wait for another one's end. */
  });

  describe('with BLACKLIST_CHANGES_PER_USER_HOUR', () => {
    const instance = instancesBeside(() => app, { BLACKLIST_CHANGES_PER_USER_HOUR: '3' });

    // guard blacklist-3: adds to the blacklist are limited per user and hour
    // src/features/blacklist/blacklist-router.ts
    // - limits: ['blacklistAddsPerHour'],
    it('limits adds per user across instances, before they write rows, and does not limit other users', async () => {
      const limited = await instance();
      const ann = await insertAndSignIn(limited);
      const there = await signIn(await instance(), ann);
      const bob = await insertAndSignIn(limited);
      const ids = await insertMany(20);
      const add = ({ agent }: SignedInPerson, friendId = '') => post(agent, '/user/add_to_blacklist', { friendId });
      const answers = await inParallel(20, (index) => add(index % 2 === 0 ? ann : there, ids[index]));
      expect(countCodes(answers)).toEqual({ 200: 3, 429: 17 });
      for (const refused of answers.filter(({ status }) => status === 429)) {
        expectRefusal(refused, 429);
        expect(retryAfterOf(refused)).toBeGreaterThan(3_000);
      }
      expect(await app.db('blacklist').where({ user_id: ann.id })).toHaveLength(3);
      // Removing entries is not limited.
      for (const friendId of ids)
        expectBody(await post(ann.agent, '/user/remove_from_blacklist', { friendId }), { code: 200 });
      expectBody(await add(bob, ids[0]), { code: 200 });
    });

    it('does not count an add that is malformed or names the user', async () => {
      const { agent, id } = await insertAndSignIn(await instance());
      const add = (friendId: string) => post(agent, '/user/add_to_blacklist', { friendId });
      for (const friendId of ['', id, 'a/b', id]) expectRefusal(await add(friendId), 400);
      expectBody(await add((await insertMany(1))[0] ?? ''), { code: 200 });
    });
  });

  /** Returns the ids in order. */
  async function insertMany(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newUserId()).sort();
    await app.db('users').insert(ids.map((id) => ({ id, nickname: 'Bob' })));
    return ids;
  }
});
