import { startApp, type TestApp } from '../support/app';
import { insertPerson, newPassword, verificationToken, type Person } from '../support/people';

const HOME = '198.51.100.9';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ TRUST_PROXY: 'loopback' });
});
afterAll(() => app.close());

async function logIn({ region, phone, password }: Person, ip: string, typed = password): Promise<unknown> {
  const answer = await app.api.post('/user/login').set('X-Forwarded-For', ip).send({ region, phone, password: typed });
  return (answer.body as { code: unknown }).code;
}

async function reset(person: Person, ip: string): Promise<Person> {
  const verification_token = await verificationToken(app, person);
  const password = newPassword();
  const body = { verification_token, password };
  expect((await app.api.post('/user/reset_password').set('X-Forwarded-For', ip).send(body)).status).toBe(200);
  return { ...person, password };
}

describe('the owner at a known address', () => {
  const stranger = (index: number) => `10.7.${index >> 8}.${index & 255}`;
  const failFrom = (person: Person, address: (index: number) => string, tries: number) =>
    Promise.all(Array.from({ length: tries }, (_, index) => logIn(person, address(index), newPassword())));

  it('logs in whatever strangers fail, as nobody else does', async () => {
    const ann = await insertPerson(app);
    await logIn(ann, HOME);
    await failFrom(ann, stranger, 100);
    expect(await logIn(ann, '192.0.2.7')).toBe(429);
    expect(await logIn(ann, HOME)).toBe(200);
    const renewed = await reset(ann, '192.0.2.7');
    await failFrom(renewed, stranger, 100);
    expect(await logIn(renewed, HOME)).toBe(429);
    expect(await logIn(renewed, '192.0.2.7')).toBe(200);
  });

  it('has 10 failures of its own while strangers fail, also in parallel', async () => {
    const ann = await insertPerson(app);
    await logIn(ann, HOME);
    await failFrom(ann, stranger, 100);
    const answers = await failFrom(ann, () => HOME, 15);
    expect(answers.filter((code) => code === 1000)).toHaveLength(10);
    expect(await logIn(ann, HOME)).toBe(429);
  });

  it('changes the password whatever strangers fail', async () => {
    const ann = await insertPerson(app);
    const agent = app.agent();
    await agent.post('/user/login').set('X-Forwarded-For', HOME).send(ann).expect(200);
    const sid = agent.jar.getCookie('sid', { path: '/', domain: '127.0.0.1', secure: false, script: false });
    await failFrom(ann, stranger, 100);
    const passwords = { oldPassword: ann.password, newPassword: newPassword() };
    const change = (ip: string) =>
      app.api
        .post('/user/change_password')
        .set({ 'X-Forwarded-For': ip, Cookie: `sid=${sid?.value}` })
        .send(passwords);
    expect((await change('192.0.2.7')).status).toBe(429);
    expect((await change(HOME)).status).toBe(200);
  });
});
