import { countCodes, expectBody, expectRefusal, post, sendRaw, inParallel } from '../../support/calls';
import { itOnOneServer } from '../../support/on-one-server';
import { e164, field, newPassword, newPhone, register, verificationToken } from '../../support/people';
import { stage } from '../../support/stage';

const { app } = stage();

const accountsOf = (phone: ReturnType<typeof newPhone>) => app.db('phones').where({ phone: e164(phone) });

async function call(fields: object, on = app) {
  const defaults = { nickname: 'Ann', password: newPassword() };
  return post(on.api, '/user/register', { ...defaults, ...fields });
}

describe('/user/register', () => {
  it('makes an account with a valid token, and returns its id: verification token → user registered', async () => {
    const phone = newPhone();
    const answer = await call({ verification_token: await verificationToken(app, phone), nickname: 'Ann' });
    const id = field(field(answer.body, 'result'), 'id');
    expectBody(answer, { code: 200, result: { id } });
    expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(await accountsOf(phone)).toMatchObject([{ phone: e164(phone), region: '44', user_id: id }]);
    expect(await app.db('users').where({ id }).first()).toMatchObject({ nickname: 'Ann', portrait_uri: '' });
  });

  it('makes ids that cannot be guessed or counted', async () => {
    const [first, second] = [await register(app), await register(app)];
    expect(first.id).not.toBe(second.id);
    expect(first.id.length).toBeGreaterThanOrEqual(12);
    expect(first.id.slice(0, 4)).not.toBe(second.id.slice(0, 4));
  });

  it('does not sign the user in: no cookie and no session', async () => {
    const before = await app.db('session').select('sid');
    const answer = await call({ verification_token: await verificationToken(app, newPhone()) });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('set-cookie');
    expect(await app.db('session').select('sid')).toEqual(before);
  });

  it('stores no password, only a bcrypt hash', async () => {
    const { id, password } = await register(app);
    const row = await app.db('users').where({ id }).first<{ password_hash: string }>();
    expect(row.password_hash).toMatch(/^\$2b\$04\$/);
    expect(JSON.stringify(row)).not.toContain(password);
  });

  it('answers 404 for a token that does not exist, never did, or is malformed', async () => {
    for (const verification_token of ['x', 'x'.repeat(256), '字'.repeat(85), "' OR ''='", 'a b', '0'.repeat(22)])
      expectRefusal(await call({ verification_token }), 404, 'verification_token');
  });

  it('answers 404 for a token that has been used', async () => {
    const verification_token = await verificationToken(app, newPhone());
    expect((await call({ verification_token })).status).toBe(200);
    expectRefusal(await call({ verification_token }), 404, 'verification_token');
  });

  it('answers 404 for a token that has expired', async () => {
    const phone = newPhone();
    const verification_token = await verificationToken(app, phone);
    await app
      .db('verification_tokens')
      .where({ phone: e164(phone) })
      .update({ expires_at: app.db.fn.now() });
    expectRefusal(await call({ verification_token }), 404, 'verification_token');
    expect(await accountsOf(phone)).toEqual([]);
  });

  it('answers 400 for a phone that has an account; the token stays valid for reset_password', async () => {
    const { id, ...person } = await register(app);
    const verification_token = await verificationToken(app, person);
    expectRefusal(await call({ verification_token }), 400, 'reset_password');
    const password = newPassword();
    expectBody(await post(app.api, '/user/reset_password', { verification_token, password }), { code: 200 });
    const { region, phone } = person;
    const login = await post(app.api, '/user/login', { region, phone, password });
    expect(field(field(login.body, 'result'), 'id')).toBe(id);
  });

  it.each<[string, unknown]>([
    ['1 byte', 'x'],
    ['32 bytes', 'x'.repeat(32)],
    ['32 bytes in 8 characters', '🙂'.repeat(8)],
    ['32 bytes in 11 characters', `${'字'.repeat(10)}ab`],
    ['spaces', ' '],
    ['HTML', '<b>"&\'</b>'],
  ])('accepts a nickname of %s, and stores it unchanged', async (_case, nickname) => {
    const answer = await call({ nickname, verification_token: await verificationToken(app, newPhone()) });
    expect(answer.status).toBe(200);
    const id = field(field(answer.body, 'result'), 'id');
    expect(
      await app
        .db('users')
        .where({ id: String(id) })
        .first('nickname'),
    ).toEqual({ nickname });
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['an array', ['Ann']],
    ['an object', {}],
    ['0 bytes', ''],
    ['33 bytes', 'x'.repeat(33)],
    ['33 bytes in 11 characters', '字'.repeat(11)],
    ['36 bytes in 9 characters', '🙂'.repeat(9)],
    ['NUL', 'a\0b'],
    ['a lone surrogate', '\ud800'],
    ['a control character', 'a\tb'],
    ['an override', 'a\u202e'],
  ])('answers 400 to a nickname of %s, and the token stays valid', async (_case, nickname) => {
    const verification_token = await verificationToken(app, newPhone());
    expectRefusal(await call({ nickname, verification_token }), 400, 'nickname');
    expect((await call({ verification_token })).status).toBe(200);
  });

  // guard registration-3: a password may have any characters
  // src/features/auth/auth-schemas.ts
  // - bytes(6, 20).refine(
  // + bytes(6, 20).refine((value) => /[a-z]/.test(value)).refine(
  it.each(['sixsix', 'x'.repeat(20), '字'.repeat(6), `🙂🙂🙂🙂🙂`, `<'"&>\\/`, '\u0001\u0002\u0003\u0004\u0005\u0006'])(
    'accepts the password %j, and so does login',
    async (password) => {
      const phone = newPhone();
      const verification_token = await verificationToken(app, phone);
      expect((await call({ password, verification_token })).status).toBe(200);
      expect((await post(app.api, '/user/login', { ...phone, password })).body).toMatchObject({ code: 200 });
    },
  );

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a number', 123456],
    ['an array', ['secret1']],
    ['5 bytes', 'x'.repeat(5)],
    ['21 bytes', 'x'.repeat(21)],
    ['21 bytes in 7 characters', '字'.repeat(7)],
    ['a space', 'secret 1'],
    ['a space before', ' secret1'],
    ['a tab', 'secret\t1'],
    ['a line break', 'secret1\n'],
    ['a no-break space', 'secret\u00a01'],
    ['an ideographic space', 'secret\u30001'],
    ['NUL', 'secret\u00001'],
    ['a lone surrogate', 'secret\udc00'],
  ])('answers 400 to a password of %s, like every other operation with one', async (_case, password) => {
    expectRefusal(await call({ password, verification_token: 'x' }), 400, 'password');
    expectRefusal(await post(app.api, '/user/login', { ...newPhone(), password }), 400, 'password');
    expectRefusal(await post(app.api, '/user/reset_password', { password, verification_token: 'x' }), 400, 'password');
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 1],
    ['0 bytes', ''],
    ['257 bytes', 'x'.repeat(257)],
    ['258 bytes in 86 characters', '字'.repeat(86)],
    ['NUL', 'a\0'],
  ])('answers 400 to a verification_token of %s, and so does reset_password', async (_case, verification_token) => {
    expectRefusal(await call({ verification_token }), 400, 'verification_token');
    const password = newPassword();
    expectRefusal(
      await post(app.api, '/user/reset_password', { password, verification_token }),
      400,
      'verification_token',
    );
  });

  it('makes one account with one token, even for 20 concurrent requests', async () => {
    for (let round = 0; round < 3; round += 1) {
      const phone = newPhone();
      const verification_token = await verificationToken(app, phone);
      const nickname = `one ${phone.phone}`;
      const { 200: made, ...refused } = countCodes(await inParallel(20, () => call({ verification_token, nickname })));
      expect(made).toBe(1);
      expect(Object.keys(refused).every((code) => code === '400' || code === '404')).toBe(true);
      expect(await accountsOf(phone)).toHaveLength(1);
      expect(await app.db('users').where({ nickname })).toHaveLength(1);
    }
  });

  // guard registration-2: a phone gets one account, even with several concurrent tokens
  // src/features/auth/auth-service.ts
  // - if (!(await repos.users.claimPhone(phone, id))) throw new PhoneTaken('still good for reset_password');
  // + await repos.users.claimPhone(phone, id);
  // src/features/verification/verification-tokens-repository.ts
  // - (await useToken(this.db, { tokenHash })).length > 0
  // + (await this.db('verification_tokens').where({ token_hash: tokenHash }).delete()) > 0
  it('makes one account for a phone with several tokens, even for 20 concurrent requests', async () => {
    for (let round = 0; round < 3; round += 1) {
      const phone = newPhone();
      const tokens: string[] = [];
      for (let count = 0; count < 4; count += 1) tokens.push(await verificationToken(app, phone));
      const nickname = `many ${phone.phone}`;
      const answers = await inParallel(20, (index) => call({ verification_token: tokens[index % 4], nickname }));
      const { 200: made, ...refused } = countCodes(answers);
      expect(made).toBe(1);
      expect(Object.keys(refused).every((code) => code === '400' || code === '404')).toBe(true);
      expect(await accountsOf(phone)).toHaveLength(1);
      expect(await app.db('users').where({ nickname })).toHaveLength(1);
      expect(await app.db('verification_tokens').where({ phone: e164(phone) })).toEqual([]);
    }
  });

  // guard registration-1: writes that belong together are in one transaction
  // src/database/transaction.ts
  // - db.transaction((trx) => work(bind(trx)))
  // + work(bind(db))
  itOnOneServer('keeps a token valid when the database fails', async () => {
    const phone = newPhone();
    const verification_token = await verificationToken(app, phone);
    await app.db.raw(`
      CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'shutting down' USING ERRCODE = '57P01'; END $$;
      CREATE TRIGGER away BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION away();`);
    const refused = await call({ verification_token });
    await app.db.raw('DROP FUNCTION away CASCADE');
    expectRefusal(refused, 503);
    expect((await call({ verification_token })).status).toBe(200);
  });

  it('accepts a body without a content type, as curl -d and a plain fetch send it', async () => {
    const verification_token = await verificationToken(app, newPhone());
    const body = JSON.stringify({ nickname: 'Ünï', password: newPassword(), verification_token });
    expect((await sendRaw(app, '/user/register', { body })).status).toBe(200);
  });
});
