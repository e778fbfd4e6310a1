import { startApp, type TestApp } from '../support/app';
import { expectOk, field, insertAndSignIn } from '../support/people';

describe('profile', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  const profileOf = async (id: string) =>
    app.db('users').where({ id }).first('nickname', 'portrait_uri') as Promise<unknown>;

  describe('POST /user/set_nickname', () => {
    it('changes the nickname and returns only the code', async () => {
      const { agent, id } = await insertAndSignIn(app);
      const answer = await agent.post('/user/set_nickname').send({ nickname: 'Bea' });
      expect({ status: answer.status, body: answer.body as unknown }).toEqual({ status: 200, body: { code: 200 } });
      expect(await profileOf(id)).toMatchObject({ nickname: 'Bea' });
    });

    it.each(['<b>&"\'', '  ', 'é'.repeat(16), '🙂'.repeat(8), 'x'.repeat(32), '\u202eabc'])(
      'keeps %j as sent',
      async (nickname) => {
        const { agent, id } = await insertAndSignIn(app);
        await expectOk(agent.post('/user/set_nickname').send({ nickname }));
        expect(await profileOf(id)).toMatchObject({ nickname });
      },
    );

    it.each([
      ['missing', undefined],
      ['empty', ''],
      ['33 bytes', 'x'.repeat(33)],
      ['33 bytes in 17 characters', `${'é'.repeat(16)}x`],
      ['a number', 5],
      ['null', null],
      ['an array', ['Ann']],
      ['with a NUL', 'a\0b'],
      ['with a lone surrogate', 'a\ud800'],
    ])('refuses a nickname that is %s, and names the field', async (_what, nickname) => {
      const { agent, id } = await insertAndSignIn(app, 'Bob');
      const answer = await agent.post('/user/set_nickname').send(JSON.stringify({ nickname }));
      expect(answer.status).toBe(400);
      expect(field(answer.body, 'details')).toEqual([{ path: 'nickname', message: expect.any(String) as string }]);
      expect(await profileOf(id)).toMatchObject({ nickname: 'Bob' });
    });

    it('needs a session', async () => {
      expect((await app.api.post('/user/set_nickname').send({ nickname: 'Bea' })).status).toBe(401);
    });
  });

  describe('POST /user/set_portrait_uri', () => {
    it.each(['http://a.b/c.png', 'https://images.example/p?x=1#y', `https://a.b/${'x'.repeat(1_024 - 12)}`])(
      'takes %.40s',
      async (portraitUri) => {
        const { agent, id } = await insertAndSignIn(app);
        await expectOk(agent.post('/user/set_portrait_uri').send({ portraitUri }));
        expect(await profileOf(id)).toMatchObject({ portrait_uri: portraitUri });
      },
    );

    it.each([
      ...['', '/p.png', 'p.png', '//a.b/p.png', 'ftp://a.b/p.png', 'javascript:alert(1)', 'data:image/png;base64,x'],
      ...['http://', 'http://[', 'http://a b/', `https://a.b/${'x'.repeat(1_024)}`, 5, null, {}, 'https://a.b/\0'],
    ])('refuses %j', async (portraitUri) => {
      const { agent, id } = await insertAndSignIn(app);
      const answer = await agent.post('/user/set_portrait_uri').send({ portraitUri });
      expect(answer.status).toBe(400);
      expect(String(field(answer.body, 'message'))).toContain('portraitUri');
      expect(await profileOf(id)).toMatchObject({ portrait_uri: '' });
    });

    it('needs a session', async () => {
      expect((await app.api.post('/user/set_portrait_uri').send({ portraitUri: 'http://a.b/c' })).status).toBe(401);
    });
  });
});
