import { createHash, createHmac } from 'node:crypto';
import { NumberRefused, SendingTimedOut } from '../../../src/integrations/senders/sender';
import { startApp, type TestApp } from '../../support/app';
import {
  countCodes,
  expectBody,
  expectRefusal,
  post,
  retryAfterOf,
  inParallel,
  type Answer,
} from '../../support/calls';
import {
  e164,
  field,
  insertPerson,
  newPhone,
  passResendTime,
  register,
  verificationToken,
  type PhoneFields,
} from '../../support/people';
import { serviceRequestIds } from '../../support/request-ids';
import { expectLeft } from '../../support/real-time';
import { rememberSecret } from '../../support/secrets';
import { stage } from '../../support/stage';
import { until } from '../../support/until';

const { app, instance } = stage();
afterEach(() => {
  app.sms.before = () => Promise.resolve();
});

const sendCode = (phone: object, to = app) => post(to.api, '/user/send_code', phone);
const verifyCode = (phone: object, code: unknown, on = app) => post(on.api, '/user/verify_code', { ...phone, code });
const sentTo = (phone: PhoneFields, from = app) => from.sms.sent.filter(({ to }) => to === e164(phone));

async function codeFor(phone: PhoneFields, from = app): Promise<string> {
  expectBody(await sendCode(phone, from), { code: 200 });
  return from.sms.codeFor(e164(phone));
}

function tokenIn(answer: Answer): string {
  expect(answer.body).toEqual({ code: 200, result: { verification_token: expect.any(String) as string } });
  return rememberSecret(String(field(field(answer.body, 'result'), 'verification_token')));
}

/** Returns a wrong code that looks like a right one. */
function wrong(code: string, offset = 1): string {
  return String((Number(code) + offset) % 1_000_000).padStart(6, '0');
}

async function expireCode(phone: PhoneFields): Promise<void> {
  const expires_at = app.db.raw(`now() - interval '1 millisecond'`);
  expect(
    await app
      .db('verification_codes')
      .where({ phone: e164(phone) })
      .update({ expires_at }),
  ).toBeGreaterThan(0);
}

describe('/user/send_code', () => {
  it('sends six digits to the phone, and answers only code 200', async () => {
    const phone = newPhone();
    expectBody(await sendCode(phone), { code: 200 });
    const [sms, ...more] = sentTo(phone);
    expect(more).toEqual([]);
    expect(sms?.code).toMatch(/^\d{6}$/);
    expect(sms?.body).toBe(`${sms?.code} is your verification code. It is valid for 5 minutes. Do not share it.`);
  });

  // guard verification-6: no code is stored in plain text
  // src/features/verification/verification-code.ts
  // - hmac: hmac(keys.code, phone, code),
  // + hmac: Buffer.from(code.padEnd(32)),
  // src/features/verification/verification-code.ts
  // - timingSafeEqual(hmac(keys.code, phone, code), kept)
  // + timingSafeEqual(Buffer.from(code.padEnd(32)), kept)
  // guard verification-7: a stored code cannot be found by trying all codes without the key
  // src/features/verification/verification-code.ts
  // - createHmac('sha256', key)
  // + createHmac('sha256', '')
  it('stores nothing from which the code could be read, nor the address that asked for it', async () => {
    const phone = newPhone();
    const code = await codeFor(phone);
    const rows: unknown[] = await app.db('verification_codes').where({ phone: e164(phone) });
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(code);
    const kept = field(rows[0], 'code_hmac') as Buffer;
    expect(kept).toHaveLength(32);
    for (const form of ['latin1', 'hex', 'base64'] as const) expect(kept.toString(form)).not.toContain(code);
    // Not even a plain hash is stored, which could be compared with those of all million codes.
    const made = [code, `${e164(phone)} ${code}`, `${e164(phone)}${code}`].flatMap((text) => [
      createHash('sha256').update(text).digest('hex'),
      createHmac('sha256', '').update(text).digest('hex'),
    ]);
    expect(made).not.toContain(kept.toString('hex'));
    expect(field(rows[0], 'asker_hmac')).toHaveLength(32);
    const again = newPhone();
    await codeFor(again);
    const others: unknown = await app
      .db('verification_codes')
      .where({ phone: e164(again) })
      .first();
    // The hash does not tell who else had codes sent from there.
    expect(field(others, 'asker_hmac')).not.toEqual(field(rows[0], 'asker_hmac'));
  });

  it('takes region and phone as numbers or as strings of digits', async () => {
    const { region, phone } = newPhone();
    expectBody(await sendCode({ region: String(region), phone: String(phone) }), { code: 200 });
    expect(sentTo({ region, phone })).toHaveLength(1);
  });

  it('accepts 07911… and 7911… in region 44 as one phone', async () => {
    const phone = newPhone();
    expectBody(await sendCode({ region: 44, phone: `0${phone.phone}` }), { code: 200 });
    expectBody(await sendCode(phone), { code: 5000 });
    tokenIn(await verifyCode(phone, app.sms.codeFor(e164(phone))));
  });

  it('sends to region 1 and to region 86 like to region 44', async () => {
    expectBody(await sendCode({ region: 1, phone: 2_025_550_123 }), { code: 200 });
    expectBody(await sendCode({ region: '86', phone: '13912345678' }), { code: 200 });
    expect(app.sms.sent.map(({ to }) => to)).toEqual(expect.arrayContaining(['+12025550123', '+8613912345678']));
  });

  it.each<[string, object, string]>([
    ['no region', { phone: 7911123456 }, 'region'],
    ['no phone', { region: 44 }, 'phone'],
    ['null', { region: null, phone: 7911123456 }, 'region'],
    ['a boolean', { region: 44, phone: true }, 'phone'],
    ['an array', { region: [44], phone: 7911123456 }, 'region'],
    ['an object', { region: 44, phone: {} }, 'phone'],
    ['an empty string', { region: 44, phone: '' }, 'phone'],
    ['a plus', { region: '+44', phone: '7911123456' }, 'region'],
    ['spaces', { region: 44, phone: '7911 123456' }, 'phone'],
    ['other digits than ASCII', { region: 44, phone: '٧٩١١١٢٣٤٥٦' }, 'phone'],
    ['a negative number', { region: 44, phone: -7911123456 }, 'phone'],
    ['a fraction', { region: 44.5, phone: 7911123456 }, 'region'],
    ['a number that JSON cannot hold exactly', { region: 44, phone: 1e21 }, 'phone'],
    ['33 digits', { region: 44, phone: '7'.repeat(33) }, 'phone'],
    ['an unknown calling code', { region: 999, phone: 7911123456 }, 'region'],
    ['calling code 0', { region: 0, phone: 7911123456 }, 'region'],
    ['a calling code with a leading zero', { region: '044', phone: 7911123456 }, 'region'],
    ['a property name of every object', { region: 'constructor', phone: 7911123456 }, 'region'],
    ['a phone too short', { region: 44, phone: 791 }, 'phone'],
    ['a phone too long', { region: 44, phone: 791112345678 }, 'phone'],
    ['a phone with its international prefix', { region: 44, phone: '0018005550123' }, 'phone'],
    ['a phone with a second trunk zero', { region: 49, phone: '0015167090528' }, 'phone'],
  ])('answers 400 to %s and names the field', async (_case, body, naming) => {
    const before = app.sms.sent.length;
    for (const path of ['send_code', 'check_phone_available', 'verify_code', 'login']) {
      const answer = await post(app.api, `/user/${path}`, { ...body, code: '1', password: 'secret1' });
      expectRefusal(answer, 400, naming);
      expect(field(answer.body, 'details')).toEqual([{ path: naming, message: expect.any(String) as string }]);
    }
    expect(app.sms.sent).toHaveLength(before);
  });

  it('sends one code per phone in 60 seconds: then 5000 with Retry-After, and nothing is sent', async () => {
    const phone = newPhone();
    await codeFor(phone);
    const refused = await sendCode(phone);
    expectBody(refused, { code: 5000 });
    expect(retryAfterOf(refused)).toBeGreaterThan(50);
    expect(retryAfterOf(refused)).toBeLessThanOrEqual(60);
    expect(sentTo(phone)).toHaveLength(1);
    await passResendTime(app, phone);
    expectBody(await sendCode(phone), { code: 200 });
    expect(sentTo(phone)).toHaveLength(2);
  });

  it('sends again at once when the last code has been verified', async () => {
    const phone = newPhone();
    await verificationToken(app, phone);
    expectBody(await sendCode(phone), { code: 200 });
    expectBody(await sendCode(phone), { code: 5000 });
  });

  it('sends 10 codes a day to a phone', async () => {
    const phone = newPhone();
    for (let sent = 0; sent < 10; sent += 1) {
      await codeFor(phone);
      await passResendTime(app, phone);
    }
    const refused = await sendCode(phone);
    expectBody(refused, { code: 5000 });
    expect(retryAfterOf(refused)).toBeGreaterThan(23 * 3_600);
    expect(sentTo(phone)).toHaveLength(10);
  });

  it('sends one message for 50 concurrent requests', async () => {
    const phone = newPhone();
    const answers = await inParallel(50, () => sendCode(phone));
    expect(countCodes(answers)).toEqual({ 200: 1, 5000: 49 });
    expect(sentTo(phone)).toHaveLength(1);
    expect(await app.db('verification_codes').where({ phone: e164(phone) })).toHaveLength(1);
  });

  // guard verification-10: a new code voids the previous one
  // src/features/verification/verification-repository.ts
  // - ORDER BY id DESC LIMIT 1
  // + ORDER BY id LIMIT 1
  it('voids the previous code', async () => {
    const phone = newPhone();
    const first = await codeFor(phone);
    await passResendTime(app, phone);
    const second = await codeFor(phone);
    if (first !== second) expectBody(await verifyCode(phone, first), { code: 1000 });
    tokenIn(await verifyCode(phone, second));
  });

  it('keeps an unspent token valid when another code is sent', async () => {
    const phone = newPhone();
    const token = await verificationToken(app, phone);
    await codeFor(phone);
    const answer = await post(app.api, '/user/register', {
      nickname: 'Ann',
      password: rememberSecret('still-good1'),
      verification_token: token,
    });
    expect(answer.status).toBe(200);
  });

  it.each<[string, Error, number]>([
    ['refuses the number: 400', new NumberRefused('unreachable 447911123456'), 400],
    ['fails: 503', new Error('the account is suspended'), 503],
  ])('when the provider %s, frees the slot and keeps the earlier code', async (_case, error, status) => {
    const phone = newPhone();
    const earlier = await codeFor(phone);
    const { used } = (await app
      .db('rate_limits')
      .where('key', `send_per_phone:${e164(phone)}`)
      .first()) as {
      used: number;
    };
    await passResendTime(app, phone);
    app.sms.before = () => Promise.reject(error);
    const answer = await sendCode(phone);
    expectRefusal(answer, status);
    expect(JSON.stringify(answer.body)).not.toContain(error.message);
    expect(
      await app
        .db('rate_limits')
        .where('key', `send_per_phone:${e164(phone)}`)
        .first(),
    ).toMatchObject({ used });
    tokenIn(await verifyCode(phone, earlier));

    const other = newPhone();
    expectRefusal(await sendCode(other), status);
    app.sms.before = () => Promise.resolve();
    expectBody(await sendCode(other), { code: 200 });
  });

  it('when the provider times out, keeps the new code, frees the slot and counts it for the day', async () => {
    const phone = newPhone();
    const earlier = await codeFor(phone);
    await passResendTime(app, phone);
    let code = '';
    app.sms.before = (sms) => {
      code = sms.code ?? '';
      return Promise.reject(new SendingTimedOut('no answer'));
    };
    expectRefusal(await sendCode(phone), 503);
    expect(
      await app
        .db('rate_limits')
        .where('key', `send_per_phone:${e164(phone)}`)
        .first(),
    ).toMatchObject({ used: 2 });
    if (earlier !== code) expectBody(await verifyCode(phone, earlier), { code: 1000 });
    app.sms.before = () => Promise.resolve();
    const other = newPhone();
    app.sms.before = () => Promise.reject(new SendingTimedOut('no answer'));
    const refused = await sendCode(other);
    expectRefusal(refused, 503);
    expect(retryAfterOf(refused)).toBeGreaterThan(0);
    app.sms.before = () => Promise.resolve();
    expectBody(await sendCode(other), { code: 200 });
    tokenIn(await verifyCode(phone, code));
  });

  it('has stored the code by the time it arrives', async () => {
    const phone = newPhone();
    let verified: Answer | undefined;
    app.sms.before = async ({ code }) => {
      verified = await verifyCode(phone, code);
    };
    expectBody(await sendCode(phone), { code: 200 });
    expect(verified).toMatchObject({ status: 200, body: { code: 200 } });
  });

  describe('with PHONE_CHECK=mobile', () => {
    let strict: TestApp;
    beforeAll(async () => {
      strict = await startApp(
        { PHONE_CHECK: 'mobile', CODE_RESEND_SECONDS: '1' },
        { databaseUrl: app.databaseUrl, dataDir: app.dataDir },
      );
    });
    afterAll(() => strict.close());

    // guard verification-3: no code is sent to premium and toll-free numbers of calling code 1
    // src/features/phones/phone-number.ts
    // - return region === '1' && type === undefined && !parsed?.country && isOrdinary(number);
    // + return region === '1';
    it.each([
      ['a British landline', 44, '2079460000'],
      ['a satellite phone', 870, '773111632'],
      ['a satellite phone of calling code 881', 881, '612345678'],
      ['an international toll-free number', 800, '12345678'],
      ['a German toll-free number', 49, '8001234567'],
      ['a number that is possible but not valid', 44, '7000000000'],
      ['calling code 1 with an area code from 1', 1, '1025550123'],
      ['calling code 1 with seven digits', 1, '5550123'],
      ['a premium number of calling code 1', 1, '9005550123'],
      ['a toll-free number of calling code 1', 1, '8005550123'],
      ['a service of calling code 1', 1, '9115550123'],
      ['a Jamaican landline', 1, '8767230123'],
    ])('answers 400 to %s, with calling code %i', async (_case, region, phone) => {
      const before = strict.sms.sent.length;
      expectRefusal(await sendCode({ region, phone }, strict), 400, 'phone');
      expect(strict.sms.sent).toHaveLength(before);
    });

    it.each([
      ['a British mobile', 44, '7911123457'],
      ['a Chinese mobile', 86, '13812345678'],
      ['a number of calling code 1', 1, '2015550199'],
      ['a number with an area code that is not in the metadata yet', 1, '2995550199'],
      ['a German mobile', 49, '15123456789'],
    ])('sends to %s', async (_case, region, phone) => {
      expectBody(await sendCode({ region, phone }, strict), { code: 200 });
    });

    it('requires only a possible number where an account is looked up', async () => {
      const landline = { region: 44, phone: '2079460000' };
      expectBody(await post(strict.api, '/user/check_phone_available', landline), { code: 200, result: true });
      expectBody(await post(strict.api, '/user/login', { ...landline, password: 'secret1' }), { code: 1000 });
      expectBody(await verifyCode(landline, '000000', strict), { code: 1000 });
    });

    it('is stricter than PHONE_CHECK=possible, which sends to all of these', async () => {
      for (const [region, phone] of [
        [44, '2079460000'],
        [870, '773111632'],
        [800, '12345678'],
      ])
        expectBody(await sendCode({ region, phone }), { code: 200 });
    });
  });

  it('sends to countries of ALLOWED_REGIONS, but not to others with the same calling code', async () => {
    const american = await startApp({ ALLOWED_REGIONS: 'US,GB,86' });
    expectBody(await sendCode(newPhone(), american), { code: 200 });
    expectBody(await sendCode({ region: 1, phone: '2025550125' }, american), { code: 200 });
    expectBody(await sendCode({ region: 86, phone: '13912345679' }, american), { code: 200 });
    for (const [region, phone] of [
      [1, '8765550123'],
      [1, '4165550123'],
      [44, '7797712345'],
      [7, '9161234567'],
      [1, '2995550123'],
    ])
      expectRefusal(await sendCode({ region, phone }, american), 400, 'region');
    expect(american.sms.sent).toHaveLength(3);
    await american.close();
  });

  it("stores the provider's code for a refused number in the log and in the audit trail", async () => {
    const phone = newPhone();
    app.sms.before = () => Promise.reject(new NumberRefused('Twilio refused the number (code 21612)', 21612));
    const answer = await post(app.api, '/user/send_code', phone, { 'X-Request-Id': 'refused-number' });
    expectRefusal(answer, 400, 'does not deliver');
    const [requestId = ''] = await serviceRequestIds('refused-number');
    const events: unknown = await app.db('security_events').where({ request_id: requestId }).select('detail');
    expect(events).toEqual([{ detail: 'number refused by the provider (code 21612)' }]);
    const lines = () => app.logged().filter((line) => line.requestId === requestId && line.providerCode);
    await until(() => lines().length > 0);
    expect(lines()).toMatchObject([{ level: 40, country: 'GB', providerCode: 21612, requestId }]);
  });

  // guard verification-2: no code is sent to a region that is not allowed
  // src/features/verification/send-code-service.ts
  // - if (!isWithin(phone, allowedRegions)) {
  // + if (!isWithin(phone, [])) {
  it('sends only to the regions of ALLOWED_REGIONS when some are listed', async () => {
    const british = await instance({ ALLOWED_REGIONS: '44, 1' });
    expectBody(await sendCode(newPhone(), british), { code: 200 });
    expectBody(await sendCode({ region: 1, phone: 2_025_550_124 }, british), { code: 200 });
    const abroad = { region: 86, phone: 13_912_345_679 };
    expectRefusal(await sendCode(abroad, british), 400, 'region');
    expect(british.sms.sent).toHaveLength(2);
    expectBody(await post(british.api, '/user/check_phone_available', abroad), { code: 200, result: true });
  });

  it('sends the text of SMS_TEXT, and keeps codes valid for CODE_TTL_SECONDS', async () => {
    const worded = await instance({
      SMS_TEXT: '<#> {code}: {minutes} min.\n@example.com #{code}',
      CODE_TTL_SECONDS: '61',
    });
    const [phone, begun] = [newPhone(), Date.now()];
    const code = await codeFor(phone, worded);
    expect(worded.sms.sent[0]?.body).toBe(`<#> ${code}: 2 min.\n@example.com #${code}`);
    const { rows } = await worded.db.raw<{ rows: { left: number }[] }>(
      'SELECT extract(epoch FROM expires_at - now())::float8 AS left FROM verification_codes WHERE phone = ?',
      [e164(phone)],
    );
    expectLeft(rows[0]?.left, 61, begun);
  });
});

describe('/user/verify_code', () => {
  it('exchanges the right code for a token: code sent → verification token issued', async () => {
    const phone = newPhone();
    const token = tokenIn(await verifyCode(phone, await codeFor(phone)));
    expect(Buffer.from(token, 'base64url').length).toBeGreaterThanOrEqual(16);
    expect(Buffer.byteLength(token)).toBeLessThanOrEqual(256);
    expect(JSON.stringify(await app.db('verification_tokens'))).not.toContain(token);
  });

  it('reads the phone like send_code, as numbers or strings and with or without the leading zero', async () => {
    const phone = newPhone();
    const code = await codeFor(phone);
    tokenIn(await verifyCode({ region: '44', phone: `0${phone.phone}` }, code));
  });

  it('answers 1000 to a wrong code, and changes nothing', async () => {
    const phone = newPhone();
    const code = await codeFor(phone);
    for (const typed of [wrong(code), '0000', '1', 'abcdef', `${code} `, ` ${code}`, code.slice(1), '６'.repeat(6)]) {
      expectBody(await verifyCode(phone, typed), { code: 1000 });
      await app
        .db('verification_codes')
        .where({ phone: e164(phone) })
        .update({ attempts: 0 });
    }
    tokenIn(await verifyCode(phone, code));
  });

  it('answers 1000 to "0000", before a code was sent and after', async () => {
    const phone = newPhone();
    expectBody(await verifyCode(phone, '0000'), { code: 1000 });
    await codeFor(phone);
    expectBody(await verifyCode(phone, '0000'), { code: 1000 });
  });

  it("answers 1000 to another phone's code", async () => {
    const [mine, other] = [newPhone(), newPhone()];
    const code = await codeFor(mine);
    const others = await codeFor(other);
    if (code !== others) expectBody(await verifyCode(other, code), { code: 1000 });
    tokenIn(await verifyCode(other, others));
  });

  it('answers 1000 to the fifth wrong code too; then the code is spent, and any code gets 2000', async () => {
    const phone = newPhone();
    const code = await codeFor(phone);
    for (let attempt = 1; attempt <= 5; attempt += 1)
      expectBody(await verifyCode(phone, wrong(code, attempt)), { code: 1000 });
    expectBody(await verifyCode(phone, wrong(code)), { code: 2000 });
    expectBody(await verifyCode(phone, code), { code: 2000 });
  });

  it('accepts the right code at the fifth attempt', async () => {
    const phone = newPhone();
    const code = await codeFor(phone);
    for (let attempt = 1; attempt <= 4; attempt += 1) await verifyCode(phone, wrong(code, attempt));
    tokenIn(await verifyCode(phone, code));
  });

  // guard verification-9: an expired code is not compared
  // src/features/verification/verification-repository.ts
  // -    AND verified_at IS NULL AND expires_at > now()
  // - RETURNING code.id
  // +    AND verified_at IS NULL
  // + RETURNING code.id
  it('answers 2000 to any code once the sent one has expired, and changes nothing', async () => {
    const phone = newPhone();
    const code = await codeFor(phone);
    await expireCode(phone);
    expectBody(await verifyCode(phone, code), { code: 2000 });
    expectBody(await verifyCode(phone, wrong(code)), { code: 2000 });
    const row: unknown = await app
      .db('verification_codes')
      .where({ phone: e164(phone) })
      .first();
    expect(row).toMatchObject({ attempts: 0, verified_at: null });
  });

  // guard verification-8: codes are valid for five minutes
  // src/config/sections/verification.ts
  // - default: 300,
  // + default: 900,
  it('makes codes valid for 5 minutes and tokens for 30', async () => {
    const [phone, begun] = [newPhone(), Date.now()];
    tokenIn(await verifyCode(phone, await codeFor(phone)));
    const lifetime = async (table: string) => {
      const row = await app
        .db(table)
        .where({ phone: e164(phone) })
        .first<{ left: number }>(app.db.raw('extract(epoch FROM expires_at - now())::float8 AS left'));
      return row.left;
    };
    expectLeft(await lifetime('verification_codes'), 300, begun);
    expectLeft(await lifetime('verification_tokens'), 1_800, begun);
  });

  it('accepts a right code once, and then it is spent', async () => {
    const phone = newPhone();
    const code = await codeFor(phone);
    tokenIn(await verifyCode(phone, code));
    expectBody(await verifyCode(phone, code), { code: 2000 });
    expectBody(await verifyCode(phone, wrong(code)), { code: 2000 });
  });

  it('answers 1000 again when the code has been swept after a day', async () => {
    const phone = newPhone();
    const code = await codeFor(phone);
    await app
      .db('verification_codes')
      .where({ phone: e164(phone) })
      .delete();
    expectBody(await verifyCode(phone, code), { code: 1000 });
  });

  it.each<[string, unknown]>([
    ['no code', undefined],
    ['null', null],
    ['a number', 123456],
    ['a boolean', true],
    ['an array', ['123456']],
    ['an object', {}],
    ['no characters', ''],
    ['33 bytes', '1'.repeat(33)],
    ['33 bytes in 11 characters', '字'.repeat(11)],
    ['NUL', '12345\0'],
    ['a lone surrogate', '12345\ud800'],
  ])('answers 400 to %s', async (_case, code) => {
    const phone = newPhone();
    const right = await codeFor(phone);
    expectRefusal(await verifyCode(phone, code), 400, 'code');
    tokenIn(await verifyCode(phone, right));
  });

  it('accepts any string of up to 32 bytes as a code', async () => {
    const phone = newPhone();
    await codeFor(phone);
    for (const typed of ['1'.repeat(32), `${'字'.repeat(10)}ab`, "' OR 1=1 --"])
      expectBody(await verifyCode(phone, typed), { code: 1000 });
  });

  it('compares 5 of 200 concurrent wrong codes, and none after them', async () => {
    const guessed = await instance({ WRONG_CODES_PER_PHONE_AND_IP_DAY: '0', WRONG_CODES_PER_PHONE_DAY: '0' });
    const phone = newPhone();
    const code = await codeFor(phone, guessed);
    const answers = await inParallel(200, (index) => verifyCode(phone, wrong(code, index + 1), guessed));
    expect(countCodes(answers)).toEqual({ 1000: 5, 2000: 195 });
    expectBody(await verifyCode(phone, code, guessed), { code: 2000 });
  });

  // guard verification-1: a right code works once, also in parallel
  // src/features/verification/verification-repository.ts
  // - SET verified_at = now() WHERE id = :id AND verified_at IS NULL AND expires_at
  // + SET verified_at = now() WHERE id = :id AND expires_at
  it('returns one token for 20 concurrent calls with the right code', async () => {
    for (let round = 0; round < 3; round += 1) {
      const phone = newPhone();
      const code = await codeFor(phone);
      expect(countCodes(await inParallel(20, () => verifyCode(phone, code)))).toEqual({ 200: 1, 2000: 19 });
      expect(await app.db('verification_tokens').where({ phone: e164(phone) })).toHaveLength(1);
    }
  });

  it('recognises codes made under a secret that is no longer the first', async () => {
    const [older, newer] = ['a'.repeat(32), 'b'.repeat(32)].map(rememberSecret);
    const before = await instance({ SESSION_SECRETS: `${older}` });
    const between = await instance({ SESSION_SECRETS: `${newer},${older}` });
    const after = await instance({ SESSION_SECRETS: `${newer}` });
    const phone = newPhone();
    const code = await codeFor(phone, before);
    expectBody(await verifyCode(phone, code, after), { code: 1000 });
    tokenIn(await verifyCode(phone, code, between));
    // Without the old secret, no address is recognised as the asker's.
    const tries = app.db('verification_codes').where({ phone: e164(phone) });
    expect(await tries.first('attempts', 'others_attempts')).toEqual({ attempts: 1, others_attempts: 1 });
  });
});

describe('/user/check_phone_available', () => {
  it('returns true for a phone that may be registered', async () => {
    expectBody(await post(app.api, '/user/check_phone_available', newPhone()), { code: 200, result: true });
  });

  it('returns true for a phone that has been verified and not registered', async () => {
    const phone = newPhone();
    await verificationToken(app, phone);
    expectBody(await post(app.api, '/user/check_phone_available', phone), { code: 200, result: true });
  });

  it('returns false for a registered phone, however it is written', async () => {
    const { phone } = await register(app);
    for (const written of [
      { region: 44, phone },
      { region: '44', phone: String(phone) },
      { region: 44, phone: `0${phone}` },
    ])
      expectBody(await post(app.api, '/user/check_phone_available', written), { code: 200, result: false });
  });

  // guard verification-4: region and phone are separate in keys
  // src/features/phones/phone-number.ts
  // - parsePhoneNumberFromString(digits, { defaultCallingCode: region, extract: false })
  // + parsePhoneNumberFromString(`+${region}${digits}`)
  // src/features/phones/phone-fields.ts
  // - !isPhoneCallingCode(region)
  // + region === ""
  // guard verification-5: an invalid region is refused with a message about the region
  // src/features/phones/phone-fields.ts
  // - !isPhoneCallingCode(region)
  // + region === ""
  it('distinguishes phones whose digits join to the same number', async () => {
    const person = await insertPerson(app);
    await app.db('phones').insert({ phone: '+8613912345678', region: '86', user_id: person.id });
    const taken = { region: 86, phone: '13912345678' };
    expectBody(await post(app.api, '/user/check_phone_available', taken), { code: 200, result: false });
    const joined = await post(app.api, '/user/check_phone_available', { region: 861, phone: '3912345678' });
    expectRefusal(joined, 400);
    expect(field(joined.body, 'details')).toMatchObject([{ path: 'region' }]);
  });

  it('refuses a request without region or phone with 400', async () => {
    expectRefusal(await post(app.api, '/user/check_phone_available', { region: 44 }), 400, 'phone');
  });
});
