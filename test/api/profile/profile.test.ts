import { countCodes, expectBody, expectRefusal, post, retryAfterOf, inParallel } from '../../support/calls';
import { instancesBeside } from '../../support/instances';
import { expectOk, field, insertAndSignIn, insertAndSignInAll, insertPerson, signIn } from '../../support/people';
import { stage } from '../../support/stage';

describe('profile', () => {
  const { app } = stage();

  const profileOf = async (id: string) =>
    app.db('users').where({ id }).first('nickname', 'portrait_uri') as Promise<unknown>;

  describe('POST /user/set_nickname', () => {
    it('changes the nickname and returns only the code', async () => {
      const { agent, id } = await insertAndSignIn(app);
      const answer = await agent.post('/user/set_nickname').send({ nickname: 'Bea' });
      expect({ status: answer.status, body: answer.body as unknown }).toEqual({ status: 200, body: { code: 200 } });
      expect(await profileOf(id)).toMatchObject({ nickname: 'Bea' });
    });

    it.each(['<b>&"\'', '  ', 'é'.repeat(16), '🙂'.repeat(8), 'x'.repeat(32), '\u200fabc'])(
      'stores %j as sent',
      async (nickname) => {
        const { agent, id } = await insertAndSignIn(app);
        await expectOk(agent.post('/user/set_nickname').send({ nickname }));
        expect(await profileOf(id)).toMatchObject({ nickname });
      },
    );

    // guard profile-8: text that is not valid Unicode is refused
    // src/base/schemas.ts
    // - .refine((value) => value.isWellFormed(), 'must be well-formed Unicode')
    // guard profile-11: nicknames follow the rules of all names
    // src/features/users/profile.ts
    // - inLine(bytes(1, 32))
    // + bytes(1, 32)
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
      ['with a line break', 'a\nb'],
      ['with an escape', '\u001b[31m'],
      ['with an override', '\u202egnp'],
    ])('refuses a nickname that is %s, and names the field', async (_what, nickname) => {
      const { agent, id } = await insertAndSignIn(app, 'Bob');
      const answer = await agent.post('/user/set_nickname').send(JSON.stringify({ nickname }));
      expect(answer.status).toBe(400);
      expect(field(answer.body, 'details')).toEqual([{ path: 'nickname', message: expect.any(String) as string }]);
      expect(await profileOf(id)).toMatchObject({ nickname: 'Bob' });
    });

    // guard profile-9: a field that the operation does not name is ignored
    // src/features/profile/profile-schemas.ts
    // - z.object({ nickname })
    // + z.looseObject({ nickname })
    it('changes nothing else, whatever other fields are sent', async () => {
      const { agent, id } = await insertAndSignIn(app);
      const other = await insertAndSignIn(app);
      const row = () => app.db('users').where({ id }).first<Record<string, unknown>>();
      const before = await row();
      const uri = 'https://a.example/p.png';
      const fields = { portraitUri: uri, id: other.id, userId: other.id, passwordHash: 'x', closedAt: null };
      const columns = { portrait_uri: uri, password_hash: 'x', credentials_version: 9, closed_at: '2020-01-01' };
      for (const [name, value] of Object.entries({ ...fields, ...columns })) {
        await expectOk(agent.post('/user/set_nickname').send({ nickname: name, [name]: value }));
        expect(await row()).toEqual({ ...before, nickname: name, version: expect.any(Number) as number });
      }
      expect(await profileOf(other.id)).toMatchObject({ nickname: 'Bob' });
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

    // guard profile-7: text with a NUL is refused
    // src/base/schemas.ts
    // - .refine((value) => !value.includes('\0'), 'must not contain NUL')
    it.each([
      '',
      '/p.png',
      'p.png',
      '//a.b/p.png',
      'ftp://a.b/p.png',
      'javascript:alert(1)',
      'data:image/png;base64,x',
      'http://',
      'http://[',
      'http://a b/',
      `https://a.b/${'x'.repeat(1_024)}`,
      5,
      null,
      {},
      'https://a.b/\0',
      'http://http://a.b/files/x/p.png',
      'http://https://a.b/p.png',
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

    // guard profile-10: a portrait's address has no user and password
    // src/features/profile/profile-schemas.ts
    // - hasForm && !/^[^/]*\/\/[^/?#]*@/.test(value) &&
    // + hasForm &&
    it('refuses a portrait with a user and password, or with characters that end an HTML attribute', async () => {
      const { agent } = await insertAndSignIn(app);
      const addresses = [
        'http://admin:admin@images.example/p',
        'https://@images.example/p',
        'https://x/"><b',
        'https://x/<b',
      ];
      for (const portraitUri of addresses)
        expectRefusal(await post(agent, '/user/set_portrait_uri', { portraitUri }), 400);
    });
  });

  describe('POST /user/remove_portrait', () => {
    it('empties it for the user, for others and for sync', async () => {
      const [ann, bob] = await insertAndSignInAll(app, 'Ann', 'Bob');
      await expectOk(ann.agent.post('/user/set_portrait_uri').send({ portraitUri: 'https://a.b/p.png' }));
      const before = field((await expectOk(ann.agent.post('/user/sync/0'))).result, 'user');
      expectBody(await post(ann.agent, '/user/remove_portrait'), { code: 200 });
      const shown = { id: ann.id, nickname: ann.nickname, portraitUri: '' };
      expect((await expectOk(bob.agent.post(`/user/${ann.id}`))).result).toMatchObject(shown);
      const { result } = await expectOk(ann.agent.post('/user/sync/0'));
      expect(field(result, 'user')).toMatchObject(shown);
      expect(Number(field(field(result, 'user'), 'timestamp'))).toBeGreaterThan(Number(field(before, 'timestamp')));
    });

    it('changes nothing without a portrait, and needs a session', async () => {
      const { agent } = await insertAndSignIn(app);
      expectBody(await post(agent, '/user/remove_portrait'), { code: 200 });
      expectRefusal(await post(app.api, '/user/remove_portrait'), 401);
    });
  });

  describe('with CHANGES_PER_USER_HOUR', () => {
    const instance = instancesBeside(() => app, { CHANGES_PER_USER_HOUR: '3' });

    // guard profile-2: set_findable is limited per user
    // src/features/account/account-router.ts
    // - limits: ['changesPerHour'],
    // guard profile-3: only calls of end_session that end no session are limited per user
    // src/features/sessions/sessions-service.ts
    // - if (!(await sessions.has(userId, id))) {
    // +     if (limiter.limits.changesPerHour) {
    // +       void sessions;
    it('also counts set_findable and calls of end_session that end nothing, but not those that end a session', async () => {
      const limited = await instance();
      const person = await insertPerson(limited);
      const { agent } = await signIn(limited, person);
      for (let devices = 0; devices < 3; devices += 1) await signIn(limited, person);
      const { result } = await expectOk(agent.post('/user/sessions'));
      const others = (result as { id: string; current: boolean }[]).filter(({ current }) => !current);
      const findable = await inParallel(10, (index) =>
        post(agent, '/user/set_findable', { findable: index % 2 === 0 }),
      );
      expect(countCodes(findable)).toEqual({ 200: 3, 429: 7 });
      expectRefusal(await post(agent, '/user/end_session', { id: 'f'.repeat(64) }), 429);
      for (const { id } of others) expectBody(await post(agent, '/user/end_session', { id }), { code: 200 });
      expectRefusal(await post(agent, '/user/end_session', { id: others[0]?.id }), 429);
    });

    // guard profile-4: names for friends are limited per user
    // src/features/friendships/friendships-router.ts
    // - limits: ['displayNamesPerHour'],
    it('allows twenty times as many names for friends', async () => {
      const limited = await instance();
      const [ann, bob] = await insertAndSignInAll(limited, 'Ann', 'Bob');
      await app.db('friendships').insert({ user_id: ann.id, friend_id: bob.id, status: 20 });
      const named = (index: number) => ({ friendId: bob.id, displayName: `Bob ${index}` });
      const names = await inParallel(70, (index) => post(ann.agent, '/friendship/set_display_name', named(index)));
      expect(countCodes(names)).toEqual({ 200: 60, 429: 10 });
    });

    // guard profile-1: changes of a profile are limited per user
    // src/features/profile/profile-router.ts
    // -       limits: ['changesPerHour'],
    // -       handle: (nickname,
    // + handle: (nickname,
    it('limits names and portraits together, without writing more rows of groups, and does not limit other users', async () => {
      const limited = await instance();
      const { agent, id } = await insertAndSignIn(limited);
      const other = await insertAndSignIn(limited);
      const groups = Array.from({ length: 20 }, (_, index) => `hour${index}`);
      await app.db('groups').insert(groups.map((group) => ({ id: group, name: group, creator_id: id })));
      await app.db('group_members').insert(groups.map((group_id) => ({ group_id, member_id: id })));
      const rows = async () =>
        (await app.db('group_members').where({ member_id: id }).pluck<string[]>('version')).sort();

      expectBody(await post(agent, '/user/set_portrait_uri', { portraitUri: 'https://a.example/p.png' }), {
        code: 200,
      });
      const names = await inParallel(60, (index) => post(agent, '/user/set_nickname', { nickname: `Ann ${index}` }));
      expect(countCodes(names)).toEqual({ 200: 2, 429: 58 });
      const before = await rows();
      const refused = await post(agent, '/user/set_portrait_uri', { portraitUri: 'https://a.example/q.png' });
      expectRefusal(refused, 429);
      expect(retryAfterOf(refused)).toBeGreaterThan(3_000);
      expectRefusal(await post(agent, '/user/remove_portrait'), 429);
      expect(await rows()).toEqual(before);
      expect(await profileOf(id)).toMatchObject({ portrait_uri: 'https://a.example/p.png' });
      expectBody(await post(other.agent, '/user/set_nickname', { nickname: 'Bea' }), { code: 200 });
    });

    it('does not count a malformed change', async () => {
      const { agent } = await insertAndSignIn(await instance());
      for (let count = 0; count < 5; count += 1)
        expectRefusal(await post(agent, '/user/set_nickname', { nickname: '' }), 400);
      expectBody(await post(agent, '/user/set_nickname', { nickname: 'Bea' }), { code: 200 });
    });
  });

  describe('with PORTRAIT_HOSTS', () => {
    const instance = instancesBeside(() => app, { PORTRAIT_HOSTS: 'images.example.com,cdn.example:8443' });

    it.each([
      'https://images.example.com/p.png',
      'http://images.example.com',
      'HTTPS://Images.Example.com/p.png?x=1#y',
      'https://cdn.example:8443/p.png',
    ])('takes %s', async (portraitUri) => {
      const { agent, id } = await insertAndSignIn(await instance());
      expectBody(await post(agent, '/user/set_portrait_uri', { portraitUri }), { code: 200 });
      expect(await profileOf(id)).toMatchObject({ portrait_uri: portraitUri });
    });

    it('lets a portrait be removed', async () => {
      const { agent, id } = await insertAndSignIn(await instance());
      await app.db('users').where({ id }).update({ portrait_uri: 'https://elsewhere.example/p.png' });
      expectBody(await post(agent, '/user/remove_portrait'), { code: 200 });
      expect(await profileOf(id)).toMatchObject({ portrait_uri: '' });
    });

    // guard profile-5: portraits must be on the hosts that the operator names
    // src/features/profile/portrait-host.ts
    // - throw notAllowed(`must be on ${hosts.join(' or ')}`);
    // + return;
    // guard profile-6: a portrait's address must not name its host in two ways
    // src/features/profile/portrait-host.ts
    // - && address.toLowerCase().startsWith(start) && /^([/?#]|$)/.test(rest)
    it.each([
      'https://tracker.example/p.png',
      'https://images.example.com.tracker.example/p.png',
      'https://tracker.example/images.example.com/p.png',
      'https://images.example.com@tracker.example/p.png',
      'https://tracker.example@images.example.com/p.png',
      'https:///images.example.com/p.png',
      'https://images.example.com:8443/p.png',
      'https://cdn.example/p.png',
      'https://images.example.com%2ftracker.example/p.png',
      'https://tracker.example#.images.example.com/p.png',
    ])('refuses %s, and names the field', async (portraitUri) => {
      const { agent, id } = await insertAndSignIn(await instance());
      expectRefusal(await post(agent, '/user/set_portrait_uri', { portraitUri }), 400, 'portraitUri');
      expect(await profileOf(id)).toMatchObject({ portrait_uri: '' });
    });
  });
});
