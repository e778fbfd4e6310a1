import { cookieOf, expectBody, post } from '../support/calls';
import { expectOk, insertAndSignIn, insertPerson, signIn } from '../support/people';
import { stage } from '../support/stage';

const { app } = stage();

/** Texts that would be SQL, a placeholder or an escape if they became part of a statement. */
const HOSTILE = [
  `' OR 1=1 --`,
  `'); DROP TABLE users; --`,
  `x', password_hash = '`,
  `"; SELECT pg_sleep(9); --`,
  `\\'; --`,
  `$1 $$ :userId ? ?? :id:`,
  `' || version() || '`,
];

describe('text that looks like SQL', () => {
  // guard hostile-text-2: values in statements by Knex are bound
  // src/features/users/users-repository.ts
  // - .update(row)
  // + .update(Object.fromEntries(Object.entries(row).map(([column, text]) => [column, this.db.raw("'" + String(text) + "'")])))
  it.each(HOSTILE)('is stored unchanged, wherever text may be sent: %s', async (text) => {
    const { agent, id } = await insertAndSignIn(app);
    const portraitUri = `https://a.example/${text.replaceAll(' ', '%20').replaceAll('\\', '%5C').replaceAll('"', '%22')}`;
    await expectOk(agent.post('/user/set_nickname').send({ nickname: text }));
    await expectOk(agent.post('/user/set_portrait_uri').send({ portraitUri }));
    expect((await expectOk(agent.post(`/user/${id}`))).result).toEqual({ id, nickname: text, portraitUri });
  });

  // guard hostile-text-1: values are bound in statements, not written into them
  // src/database/statement.ts
  // - const raw = on.raw<{ rows: Row[] }>(knexSql, holders.map(valueOf) as Knex.RawBinding[]);
  // - const { prepare } = usageOf(on);
  // - // PostgreSQL prepares a statement with a name. The label is only for observers.
  // - const { rows } = await raw.options(prepare && prepared ? { name } : { label: name });
  // + const isText = (holder: string) => holder === 'userAgent';
  // + const text = form.replace(PLACE_HOLDER, (_, holder: string) => (isText(holder) ? "'" + String(valueOf(holder)) + "'" : '?'));
  // + const values_ = holders.filter((holder) => !isText(holder)).map(valueOf);
  // + const { rows } = await on.raw<{ rows: Row[] }>(text, values_ as Knex.RawBinding[]);
  it.each(HOSTILE)('is stored unchanged from a header too: %s', async (text) => {
    const person = await insertPerson(app);
    const login = await post(app.api, '/user/login', person, { 'User-Agent': text });
    const listed = await post(app.api, '/user/sessions', {}, { Cookie: cookieOf(login) });
    expect(listed.body).toMatchObject({ code: 200, result: [{ userAgent: text, current: true }] });
    const kept = await app.db('security_events').where({ event: 'logged_in', user_id: person.id }).pluck('user_agent');
    expect(kept).toEqual([text]);
  });

  it.each(HOSTILE)(
    'finds nothing and changes nothing as a code, a token, a captcha or a password: %s',
    async (text) => {
      const person = await insertPerson(app);
      const { region, phone } = person;
      const password = text.replaceAll(' ', '\u200b').slice(0, 18);
      expectBody(await post(app.api, '/user/verify_code', { region, phone, code: text }), { code: 1000 });
      const captcha = { verifyId: text, verifyCode: text };
      expectBody(await post(app.api, '/user/send_code', { region, phone, ...captcha }), { code: 200 });
      const registration = { nickname: text, password: 'secret1', verification_token: text };
      expect((await post(app.api, '/user/register', registration)).status).toBe(404);
      expect((await post(app.api, '/user/login', { region, phone, password })).status).not.toBe(500);
      expect((await signIn(app, person)).id).toBe(person.id);
    },
  );
});
