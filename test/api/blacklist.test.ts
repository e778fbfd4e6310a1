import { startApp, type TestApp } from '../support/app';
import { expectOk, field, insertAndSignIn, insertPerson } from '../support/people';

describe('blacklist', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

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

    it("is each user's own", async () => {
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
      ['of another shape', 'a/b'],
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

    it('refuses oneself', async () => {
      const { agent, id } = await insertAndSignIn(app);
      expect((await agent.post('/user/add_to_blacklist').send({ friendId: id })).status).toBe(400);
    });
  });

  describe('POST /user/remove_from_blacklist', () => {
    it('takes an entry off, and adding puts it on again', async () => {
      const { agent } = await insertAndSignIn(app);
      const { id: friendId } = await insertPerson(app);
      const listed = async () => (await expectOk(agent.post('/user/blacklist'))).result;
      await expectOk(agent.post('/user/add_to_blacklist').send({ friendId }));
      expect(await expectOk(agent.post('/user/remove_from_blacklist').send({ friendId }))).toEqual({ code: 200 });
      expect(await listed()).toEqual([]);
      await expectOk(agent.post('/user/add_to_blacklist').send({ friendId }));
      expect(await listed()).toMatchObject([{ id: friendId }]);
    });

    it('succeeds for what is not there', async () => {
      const { agent, id } = await insertAndSignIn(app);
      expect(await expectOk(agent.post('/user/remove_from_blacklist').send({ friendId: 'nobody' }))).toEqual({
        code: 200,
      });
      expect(await app.db('blacklist').where({ user_id: id })).toEqual([]);
    });
  });
});
