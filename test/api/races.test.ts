import { startApp, type TestApp } from '../support/app';
import {
  e164,
  expectOk,
  field,
  insertAndSignIn,
  insertPerson,
  newPassword,
  newPhone,
  register,
  verificationToken,
} from '../support/people';

const together = <T>(times: number, act: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, index) => act(index)));

describe('requests that arrive together', () => {
  let app: TestApp;
  /** A second instance on the same database. */
  let other: TestApp;

  beforeAll(async () => {
    app = await startApp({ DATABASE_POOL_MAX: '20' });
    other = await startApp({ DATABASE_POOL_MAX: '20' }, { databaseUrl: app.databaseUrl, dataDir: app.dataDir });
  });
  afterAll(async () => {
    await other.close();
    await app.close();
  });

  const codeOf = (answer: { body: unknown }) => field(answer.body, 'code');
  const either = (index: number) => (index % 2 === 0 ? app : other);

  it('50 send_code for a phone send one message', async () => {
    const phone = newPhone();
    const answers = await together(50, async (index) => either(index).api.post('/user/send_code').send(phone));
    expect(answers.map(codeOf).filter((code) => code === 200)).toHaveLength(1);
    expect(answers.map(codeOf).filter((code) => code === 5000)).toHaveLength(49);
    expect([...app.sms.sent, ...other.sms.sent].filter(({ to }) => to === e164(phone))).toHaveLength(1);
  });

  it('200 wrong codes, the right one last, are compared 5 times', async () => {
    const phone = newPhone();
    await expectOk(app.api.post('/user/send_code').send(phone));
    const right = app.sms.codeFor(e164(phone));
    const wrong = right === '000000' ? '000001' : '000000';
    const answers = await together(200, async (index) =>
      either(index)
        .api.post('/user/verify_code')
        .send({ ...phone, code: index === 199 ? right : wrong }),
    );
    expect(answers.map(codeOf).filter((code) => code === 1000)).toHaveLength(5);
    expect(answers.map(codeOf).filter((code) => code === 2000)).toHaveLength(195);
    const after = await app.api.post('/user/verify_code').send({ ...phone, code: right });
    expect(codeOf(after)).toBe(2000);
  });

  it('a right code gives one token', async () => {
    const phone = newPhone();
    await expectOk(app.api.post('/user/send_code').send(phone));
    const code = app.sms.codeFor(e164(phone));
    const answers = await together(4, async (index) =>
      either(index)
        .api.post('/user/verify_code')
        .send({ ...phone, code }),
    );
    expect(answers.map(codeOf).sort()).toEqual([200, 2000, 2000, 2000]);
  });

  it('20 registers with one token make one account', async () => {
    const phone = newPhone();
    const verification_token = await verificationToken(app, phone);
    const answers = await together(20, async (index) =>
      either(index)
        .api.post('/user/register')
        .send({ nickname: `N${index}`, password: newPassword(), verification_token }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404 || status === 400)).toHaveLength(19);
    expect(await app.db('phones').where({ phone: e164(phone) })).toHaveLength(1);
  });

  it('20 registers for one phone with a token each make one account, and no user without a phone', async () => {
    const phone = newPhone();
    const tokens: string[] = [];
    for (let index = 0; index < 5; index += 1) tokens.push(await verificationToken(app, phone));
    const nickname = `Race${phone.phone}`;
    const answers = await together(20, async (index) =>
      either(index)
        .api.post('/user/register')
        .send({ nickname, password: newPassword(), verification_token: tokens[index % 5] }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await app.db('phones').where({ phone: e164(phone) })).toHaveLength(1);
    expect(await app.db('users').where({ nickname })).toHaveLength(1);
  });

  it('10 resets with one token: one of them counts', async () => {
    const { region, phone } = await register(app);
    const verification_token = await verificationToken(app, { region, phone });
    const answers = await together(10, async (index) =>
      either(index).api.post('/user/reset_password').send({ password: newPassword(), verification_token }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(400)]);
  });

  it('a captcha is tried once', async () => {
    const { result } = await expectOk(app.api.post('/user/get_sms_img_code'));
    const verifyId = String(field(result, 'verifyId'));
    const { answer } = (await app.db('captchas').where({ id: verifyId }).first()) as { answer: string };
    const always = await startApp({ CAPTCHA_POLICY: 'always' }, { databaseUrl: app.databaseUrl, dataDir: app.dataDir });
    const answers = await together(10, async () =>
      always.api.post('/user/send_code').send({ ...newPhone(), verifyId, verifyCode: answer.toLowerCase() }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(400)]);
    await always.close();
  });

  it('50 wrong passwords for a phone from one address are compared 10 times', async () => {
    const { region, phone } = await insertPerson(app);
    const answers = await together(50, async () =>
      app.api.post('/user/login').send({ region, phone, password: 'wrong-one' }),
    );
    expect(answers.map(codeOf).filter((code) => code === 1000)).toHaveLength(10);
    expect(answers.map(codeOf).filter((code) => code === 429)).toHaveLength(40);
  });

  it('32 right logins of a phone are no failures', async () => {
    const { region, phone, password } = await insertPerson(app);
    const answers = await together(32, async () => app.api.post('/user/login').send({ region, phone, password }));
    expect(answers.map(codeOf)).toEqual(Array(32).fill(200));
  });

  it('a login with the old password that is under way during a reset leaves no session', async () => {
    const person = await register(app);
    const { region, phone, password } = person;
    const token = await verificationToken(app, { region, phone });
    // The reset's transaction is held just before its end, when the new hash is written and the sessions are deleted.
    const trx = await app.db.transaction();
    await trx('users')
      .where({ id: person.id })
      .update({ password_hash: 'new', credentials_version: app.db.raw('credentials_version + 1') });
    await trx('session').whereRaw(`sess ->> 'userId' = ?`, [person.id]).delete();
    const agent = app.agent();
    const login = agent
      .post('/user/login')
      .send({ region, phone, password })
      .then((answer) => answer);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await trx.commit();
    expect(codeOf(await login)).toBe(1000);
    expect(await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [person.id])).toEqual([]);
    expect((await agent.post('/user/groups')).status).toBe(401);
    await expectOk(app.api.post('/user/reset_password').send({ password: newPassword(), verification_token: token }));
  });

  it('logins with the old password beside resets leave no session, whatever comes first', async () => {
    for (let round = 0; round < 8; round += 1) {
      const person = await register(app);
      const { region, phone, password } = person;
      const verification_token = await verificationToken(app, { region, phone });
      const agents = Array.from({ length: 6 }, (_, index) => either(index).agent());
      const logins = agents.map(async (agent, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 2));
        return agent.post('/user/login').send({ region, phone, password });
      });
      const reset = app.api.post('/user/reset_password').send({ password: newPassword(), verification_token });
      await expectOk(reset);
      await Promise.all(logins);
      expect(await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [person.id])).toEqual([]);
      for (const agent of agents) expect((await agent.post('/user/groups')).status).toBe(401);
    }
  });

  it('a request under way does not bring a session back that was ended meanwhile', async () => {
    const { agent, id } = await insertAndSignIn(app);
    // A day later the request renews the session, and saves it when it ends.
    const rows: { sess: object }[] = await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [id]);
    const sess = { ...rows[0]?.sess, renewedAt: 0 };
    await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [id]).update({ sess });
    // Held by a lock on the user, it has read its session and not yet answered.
    const trx = await app.db.transaction();
    await trx('users').where({ id }).forUpdate();
    const renaming = agent
      .post('/user/set_nickname')
      .send({ nickname: 'Late' })
      .then((answer) => answer);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [id]).delete();
    await trx.commit();
    expect((await renaming).status).toBe(200);
    expect(await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [id])).toEqual([]);
    expect((await agent.post('/user/groups')).status).toBe(401);
  });
});
