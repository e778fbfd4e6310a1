import { fixedWords } from '../../../src/http/operations-router';
import { OPERATIONS } from '../../support/operations';
import { expectOk, field, insertAndSignIn, insertPerson, profileOf } from '../../support/people';
import { stage } from '../../support/stage';

describe('users', () => {
  const { app } = stage({ env: { FINDS_PER_USER_MINUTE: '5' } });

  describe('POST /user/:id', () => {
    // guard users-2: other users see only the profile of a user
    // src/features/users/users-repository.ts
    // - 'profile',
    // - `SELECT ${columnList(PROFILE_COLUMNS)} FROM users
    // + 'profile',
    // + `SELECT ${columnList(PROFILE_COLUMNS)}, version FROM users
    it('returns only id, nickname and portraitUri', async () => {
      const { agent } = await insertAndSignIn(app);
      const bob = await insertPerson(app, 'Bob');
      expect(await expectOk(agent.post(`/user/${bob.id}`))).toEqual({
        code: 200,
        result: profileOf(bob),
      });
    });

    it('accepts ids that were imported in another form', async () => {
      const { agent } = await insertAndSignIn(app);
      const id = `A_b-${'9'.repeat(60)}`;
      await app.db('users').insert({ id, nickname: 'Old' });
      expect((await expectOk(agent.post(`/user/${id}`))).result).toMatchObject({ id, nickname: 'Old' });
    });

    it('answers 404 for an unknown id, and for a closed account', async () => {
      const { agent } = await insertAndSignIn(app);
      const closed = await insertPerson(app);
      await app.db('users').where({ id: closed.id }).update({ closed_at: new Date() });
      for (const id of ['abcdefghijkl', closed.id]) {
        const answer = await agent.post(`/user/${id}`);
        expect({ status: answer.status, body: answer.body as unknown }).toEqual({
          status: 404,
          body: { code: 404, reason: 'no_such_user', message: 'no such user' },
        });
      }
    });

    it.each(['a.b', 'x'.repeat(65), '%00', '%20', 'ä', '..%2f..', '%27'])('answers 400 to %s', async (id) => {
      const { agent } = await insertAndSignIn(app);
      const answer = await agent.post(`/user/${encodeURI(decodeURIComponent(id)).replaceAll('/', '%2f')}`);
      expect(answer.status).toBe(400);
      expect(String(field(answer.body, 'message'))).toContain('id');
    });

    it('needs a session', async () => {
      expect((await app.api.post('/user/abcdefghijkl')).status).toBe(401);
    });
  });

  describe('POST /user/batch', () => {
    // guard users-3: a closed account is not in a batch of profiles
    // src/features/users/users-repository.ts
    // - WHERE id = ANY (:ids::text[]) AND closed_at IS NULL
    // + WHERE id = ANY (:ids::text[])
    // guard users-4: a batch of profiles is in the order asked
    // src/features/users/users-service.ts
    // - return [...new Set(ids)].flatMap((id) => profiles.get(id) ?? []);
    // + return [...profiles.values()];
    it('returns the profiles of open accounts, in the order asked, each once', async () => {
      const { agent, ...ann } = await insertAndSignIn(app, 'Ann');
      const [bob, cat, closed] = [
        await insertPerson(app, 'Bob'),
        await insertPerson(app, 'Cat'),
        await insertPerson(app),
      ];
      await app.db('users').where({ id: closed.id }).update({ closed_at: new Date() });
      for (const order of [
        [cat, ann, bob],
        [bob, cat, ann],
      ]) {
        const ids = ['abcdefghijkl', ...order.map(({ id }) => id), closed.id, cat.id];
        expect(await expectOk(agent.post('/user/batch').send({ ids }))).toEqual({
          code: 200,
          result: order.map(profileOf),
        });
      }
    });

    it('accepts 1 to 100 ids', async () => {
      const { agent, id } = await insertAndSignIn(app);
      const many = (length: number) => Array.from({ length }, (_, index) => `${id}${index}`);
      expect((await expectOk(agent.post('/user/batch').send({ ids: [...many(99), id] }))).result).toHaveLength(1);
      for (const ids of [[], many(101), id, null, [id, 'a.b'], [id, 5]]) {
        const answer = await agent.post('/user/batch').send({ ids });
        expect(answer.status).toBe(400);
        expect(String(field(answer.body, 'message'))).toContain('ids');
      }
    });

    it('needs a session, whatever is asked for', async () => {
      for (const ids of [['abcdefghijkl'], []])
        expect((await app.api.post('/user/batch').send({ ids })).status).toBe(401);
    });
  });

  describe('ids', () => {
    it('are 12 letters and digits that do not count up', async () => {
      const ids = await Promise.all([insertPerson(app), insertPerson(app), insertPerson(app)]);
      for (const { id } of ids) expect(id).toMatch(/^[A-Za-z0-9]{12}$/);
      expect(new Set(ids.map(({ id }) => id.slice(0, 6))).size).toBe(3);
    });

    it('are never a word of a fixed path, in any case', async () => {
      const words = fixedWords(OPERATIONS, 'user');
      expect(words).toContain('login');
      for (const word of words) {
        for (const id of [word, word.toUpperCase()])
          await expect(app.db('users').insert({ id, nickname: 'x' })).rejects.toThrow('users_id_no_path');
      }
    });
  });

  describe('POST /user/find/:region/:phone', () => {
    // guard users-1: no log contains a phone, since requests are logged by their route
    // src/http/request-log.ts
    // - const route = req.pattern ?? routeOf(req);
    // + const route = req.originalUrl;
    it('finds a user by the phone, as it is dialled at home or from abroad', async () => {
      const { agent } = await insertAndSignIn(app);
      const bob = await insertPerson(app, 'Bob');
      const found = { code: 200, result: profileOf(bob) };
      expect(await expectOk(agent.post(`/user/find/44/${bob.phone}`))).toEqual(found);
      expect(await expectOk(agent.post(`/user/find/44/0${bob.phone}`))).toEqual(found);
    });

    it('answers 404 to a phone without an account', async () => {
      const { agent } = await insertAndSignIn(app);
      const answer = await agent.post('/user/find/1/2025550123');
      expect({ status: answer.status, message: field(answer.body, 'message') }).toEqual({
        status: 404,
        message: 'no such user',
      });
    });

    it.each([
      ['44/1', 'phone'],
      ['999/7911123456', 'region'],
      ['abc/7911123456', 'region'],
      ['44/79x1', 'phone'],
      ['+44/7911123456', 'region'],
    ])('answers 400 to %s, naming %s', async (path, name) => {
      const { agent } = await insertAndSignIn(app);
      const answer = await agent.post(`/user/find/${path}`);
      expect({ status: answer.status, fields: field(answer.body, 'details') }).toMatchObject({
        status: 400,
        fields: [{ path: name }],
      });
    });

    it('answers 429 with Retry-After to a user who looks up too many', async () => {
      const { agent } = await insertAndSignIn(app);
      for (let count = 0; count < 5; count += 1) expect((await agent.post('/user/find/1/2025550123')).status).toBe(404);
      const answer = await agent.post('/user/find/1/2025550123');
      expect(answer.status).toBe(429);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      const { agent: other } = await insertAndSignIn(app);
      expect((await other.post('/user/find/1/2025550123')).status).toBe(404);
    });

    it('needs a session', async () => {
      expect((await app.api.post('/user/find/44/7911123456')).status).toBe(401);
    });
  });
});
