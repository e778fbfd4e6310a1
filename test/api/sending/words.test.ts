import { expectBody, expectRefusal, post } from '../../support/calls';
import { untilEventsSeen } from '../../support/events';
import { e164, expectOk, field, insertPerson, newPassword, newPhone, type PhoneFields } from '../../support/people';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { watchStatements } from '../../support/statements';
import { until } from '../../support/until';

const HASH = 'FA+9qCX9VSu';
const PAGE = 'https://app.example.com';
const { app } = stage({
  env: {
    NOTIFY: 'sms',
    SMS_ANDROID_HASH: HASH,
    CORS_ORIGINS: `${PAGE},capacitor://localhost`,
    PUBLIC_URL: 'https://accounts.example.com/v1',
  },
});
afterEach(() => jest.restoreAllMocks());

type Headers = Record<string, string>;
const FRENCH = { 'Accept-Language': 'fr-CA, fr;q=0.9, en;q=0.8' };

/** Returns the text that a request makes the service send. */
async function textFor(more: object = {}, headers: Headers = {}, phone = newPhone()): Promise<string> {
  expectBody(await post(app.api, '/user/send_code', { ...phone, ...more }, headers), { code: 200 });
  return app.sms.sent.findLast(({ to }) => to === e164(phone))?.body ?? '';
}

/** Verifies the phone by a code that was asked for so. */
async function tokenOf(phone: PhoneFields, more: object = {}, headers: Headers = {}): Promise<string> {
  await textFor(more, headers, phone);
  const code = app.sms.codeFor(e164(phone));
  const { result } = await expectOk(app.api.post('/user/verify_code').send({ ...phone, code }));
  return rememberSecret(String(field(result, 'verification_token')));
}

async function registerBy(token: string): Promise<void> {
  await expectOk(
    app.api.post('/user/register').send({ nickname: 'Ann', password: newPassword(), verification_token: token }),
  );
}

const languageOf = async (phone: PhoneFields) =>
  (
    await app
      .db('phones')
      .where({ phone: e164(phone) })
      .first<{ language: string }>('language')
  ).language;

const ENGLISH = /^\d{6} is your verification code\. It is valid for 5 minutes\. Do not share it\.$/;
const IN_FRENCH = /^\d{6} est votre code de vérification\. Il est valable 5 minutes\. Ne le communiquez à personne\.$/;

describe('the message of a code', () => {
  it('is in English for a client that names no language, or one that there is not', async () => {
    expect(await textFor()).toMatch(ENGLISH);
    expect(await textFor({ language: 'xx' }, { 'Accept-Language': 'yy, *;q=0.5' })).toMatch(ENGLISH);
  });

  it('is in the language of Accept-Language', async () => {
    expect(await textFor({}, FRENCH)).toMatch(IN_FRENCH);
    expect(await textFor({}, { 'Accept-Language': 'zh-Hant-TW' })).toMatch(/^您的验证码是 \d{6}，5 分钟内有效。/);
  });

  it('is in the language of the field, whatever the header says', async () => {
    expect(await textFor({ language: 'fr_CA' }, { 'Accept-Language': 'de' })).toMatch(IN_FRENCH);
    expect(await textFor({ language: 'xx' }, FRENCH)).toMatch(IN_FRENCH);
  });

  it.each([7, null, 'x'.repeat(65), ['fr']])('is not sent for the language %j, which is not one', async (language) => {
    expectRefusal(await post(app.api, '/user/send_code', { ...newPhone(), language }), 400, 'language');
  });

  it.each(['windows', 'Android', 1, null])('is not sent for the client %j, which is not one', async (client) => {
    expectRefusal(await post(app.api, '/user/send_code', { ...newPhone(), client }), 400, 'client');
  });

  it("ends with the app's hash for Android", async () => {
    expect(await textFor({ client: 'android' })).toMatch(
      new RegExp(`^.+ Do not share it\\.\\n${HASH.replace('+', '\\+')}$`),
    );
  });

  it('is the plain text for iOS, also in a page', async () => {
    expect(await textFor({ client: 'ios' }, { Origin: PAGE })).toMatch(ENGLISH);
  });

  it('ends with the domain of the page and the code for the web, by its Origin or the field', async () => {
    const ending = (domain: string) => new RegExp(`^(\\d{6}) is .+\\n@${domain.replaceAll('.', '\\.')} #\\1$`);
    expect(await textFor({}, { Origin: PAGE })).toMatch(ending('app.example.com'));
    expect(await textFor({ client: 'web' }, { Origin: PAGE })).toMatch(ending('app.example.com'));
    expect(await textFor({}, { Origin: 'https://accounts.example.com' })).toMatch(ending('accounts.example.com'));
    expect(await textFor({ client: 'web' })).toMatch(ending('accounts.example.com'));
  });

  // guard words-2: a code names only the domain of a page that the operator has listed
  // src/features/sending/last-line.ts
  // - return domainsOf(lines).includes(origin) ? originLine(origin) : undefined;
  // + return originLine(origin);
  it('does not name the domain of a page that the operator has not listed', async () => {
    const evil = 'https://accounts.example.com.evil.example';
    const phone = newPhone();
    const refused = await post(app.api, '/user/send_code', { ...phone, client: 'web' }, { Origin: evil });
    expect({ status: refused.status, sent: app.sms.sent.filter(({ to }) => to === e164(phone)) }).toEqual({
      status: 403,
      sent: [],
    });
    // A program can claim any page, and is told the plain text.
    expect(await textFor({ client: 'web' }, { Origin: evil, 'Sec-Fetch-Site': 'same-origin' })).toMatch(ENGLISH);
    expect(await textFor({ client: 'web' }, { Origin: 'capacitor://localhost' })).toMatch(ENGLISH);
    expect(await textFor({ client: 'web' }, { Host: 'evil.example' })).toMatch(/\n@accounts\.example\.com #\d{6}$/);
  });
});

describe('the language of a phone', () => {
  // guard words-5: a notice is in the language of the phone
  // src/features/notices/notices.ts
  // - words.notice(happening, phone.language)
  // + words.notice(happening, '')
  // guard words-6: a code that names no language is followed by notices in that of the phone
  // src/features/verification/verification-repository.ts
  // - (SELECT language FROM phones WHERE phone = :phone), '')
  // + '')
  it('is kept from the code that registers it, and used for a notice', async () => {
    const phone = newPhone();
    await registerBy(await tokenOf(phone, {}, FRENCH));
    expect(await languageOf(phone)).toBe('fr');
    const token = await tokenOf(phone);
    await expectOk(app.api.post('/user/reset_password').send({ password: newPassword(), verification_token: token }));
    await until(() =>
      app.sms.sent.some(
        ({ to, body }) => to === e164(phone) && /^Le mot de passe de votre compte a été réinitialisé/.test(body),
      ),
    );
  });

  // guard words-3: a code that names no language leaves that of the phone
  // src/features/verification/verification-repository.ts
  // - SET language = coalesce(nullif(verified.language, ''), phones.language)
  // + SET language = verified.language
  // src/features/verification/verification-repository.ts
  // - verified.language NOT IN ('', phones.language)
  // + verified.language <> phones.language
  it('follows a verified code in another language, and stays after one that names none', async () => {
    const phone = await insertPerson(app);
    expect(await languageOf(phone)).toBe('');
    await tokenOf(phone, { language: 'de' });
    expect(await languageOf(phone)).toBe('de');
    await tokenOf(phone);
    expect(await languageOf(phone)).toBe('de');
    await tokenOf(phone, { language: 'ar' });
    expect(await languageOf(phone)).toBe('ar');
  });

  // guard words-1: only a verified code changes the language of notices
  // src/features/verification/verification-repository.ts
  // - WITH own AS (
  // -    INSERT INTO sms_networks
  // + WITH told_in AS (UPDATE phones SET language = :language WHERE phone = :phone), own AS (
  // +    INSERT INTO sms_networks
  it('is not changed by a stranger who only asks for codes, so that the owner can read the notices', async () => {
    const phone = await insertPerson(app);
    await textFor({ language: 'zh' }, {}, phone);
    expect(await languageOf(phone)).toBe('');
  });

  it('moves with the account to another phone', async () => {
    const phone = newPhone();
    const password = newPassword();
    const verification_token = await tokenOf(phone, { language: 'it' });
    await expectOk(app.api.post('/user/register').send({ nickname: 'Ann', password, verification_token }));
    const agent = app.agent();
    await expectOk(agent.post('/user/login').send({ ...phone, password }));
    const next = newPhone();
    await expectOk(agent.post('/user/change_phone').send({ password, verification_token: await tokenOf(next) }));
    expect(await languageOf(next)).toBe('it');
    await until(() =>
      app.sms.sent.some(({ to, body }) => to === e164(phone) && /^Il tuo account ha un altro numero/.test(body)),
    );
  });

  // guard words-4: a new language is not told to other services as a new phone
  // migrations/0029_codes.up.sql
  // - AFTER INSERT OR UPDATE OF phone, region, user_id ON phones
  // + AFTER INSERT OR UPDATE ON phones
  it('is not told to other services as a changed phone', async () => {
    const phone = await insertPerson(app);
    await untilEventsSeen(app);
    await app.db('events').delete();
    await tokenOf(phone, { language: 'de' });
    await untilEventsSeen(app);
    expect(await app.db('events').pluck('kind')).toEqual([]);
  });

  it('is asked for by the same statements, and with the same answer, whether the phone has an account or not', async () => {
    const [stranger, known] = [newPhone(), await insertPerson(app)];
    const seen = [];
    for (const phone of [stranger, known]) {
      const { sent } = watchStatements('', { value: e164(phone) });
      const answer = await post(app.api, '/user/send_code', { ...phone, language: 'fr' }, FRENCH);
      jest.restoreAllMocks();
      const { date: _date, 'x-request-id': _id, ...headers } = answer.headers;
      seen.push({ ...answer, headers, statements: sent.map(({ text }) => text) });
    }
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[0]?.statements.filter((text) => /\bphones\b/.test(text))).toHaveLength(1);
  });
});
