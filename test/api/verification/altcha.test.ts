import type { Challenge } from 'altcha-lib';
import { payloadOf, solutionOf } from '../../support/altcha';
import type { TestApp } from '../../support/app';
import { expectBody, expectRefusal, post, sendRaw } from '../../support/calls';
import { newPhone, passResendTime } from '../../support/people';
import { stage } from '../../support/stage';

const env = { CAPTCHA_PROVIDER: 'altcha', TRUST_PROXY: '1', CODE_RESEND_SECONDS: '1', SEND_CODE_PER_PHONE_DAY: '1' };
const { app, instance } = stage({ env });

const sendCode = (on: TestApp, phone: object, captcha: object = {}, address = '203.0.113.1') =>
  post(on.api, '/user/send_code', { ...phone, ...captcha }, { 'X-Forwarded-For': address });

async function challengeOf(on: TestApp): Promise<Challenge> {
  const answer = await on.api.get('/captcha/challenge');
  expect(answer.status).toBe(200);
  return answer.body as Challenge;
}

/** Takes about a second of a processor. */
async function solved(on: TestApp) {
  const challenge = await challengeOf(on);
  return { verifyId: 'altcha', verifyCode: payloadOf(challenge, await solutionOf(challenge)) };
}

describe('with CAPTCHA_PROVIDER=altcha, /user/get_sms_img_code', () => {
  it("returns the address of challenges in the form of ALTCHA's widget", async () => {
    const url = `${app.url}/captcha/challenge`;
    expectBody(await post(app.api, '/user/get_sms_img_code'), { code: 200, result: { url, verifyId: 'altcha' } });
    const hex = expect.stringMatching(/^[0-9a-f]+$/) as string;
    const [one, other] = [await challengeOf(app), await challengeOf(app)];
    expect(one).toEqual({
      parameters: {
        algorithm: 'PBKDF2/SHA-256',
        cost: 5_000,
        expiresAt: expect.any(Number) as number,
        keyLength: 32,
        keyPrefix: hex,
        keySignature: hex,
        nonce: hex,
        salt: hex,
      },
      signature: hex,
    });
    expect(one.parameters.nonce).not.toBe(other.parameters.nonce);
  });

  it('serves no pictures and no widget page; without the setting there are no challenges', async () => {
    for (const path of ['/captcha/aaaaaaaaaaaaaaaaaaaaaa.png', '/captcha/widget'])
      expectRefusal(await sendRaw(app, path, { method: 'GET' }), 404, 'no such path');
    const drawing = await instance({ CAPTCHA_PROVIDER: 'drawn' });
    expectRefusal(await sendRaw(drawing, '/captcha/challenge', { method: 'GET' }), 404, 'no such path');
  });
});

describe('/user/send_code with a proof of work', () => {
  // guard altcha-4: a proof of work counts once, on all instances
  // src/features/verification/captchas-repository.ts
  // - return added.length > 0;
  // + return added.length >= 0;
  it('raises the limit of the phone once, on any instance', async () => {
    const second = await instance(env);
    const [phone, other] = [newPhone(), newPhone()];
    for (const one of [phone, other]) expectBody(await sendCode(app, one), { code: 200 });
    for (const one of [phone, other]) await passResendTime(app, one);
    expect((await sendCode(app, phone)).headers['x-reason']).toBe('captcha_required');
    const captcha = await solved(app);
    expectBody(await sendCode(second, phone, captcha), { code: 200 });
    expect((await sendCode(app, other, captcha)).headers['x-reason']).toBe('captcha_required');
  });

  it('goes first in an alarm of the spend guard, where new networks are asked for one', async () => {
    const guarded = await instance({ ...env, SPEND_GUARD: 'enforce' });
    const slot = app.db.raw(`sms_traffic_slot(now() - interval '30 minutes')`);
    await app.db('sms_traffic').insert({ region: 'GB', slot, sent: 40, verified: 1 });
    const captcha = await solved(guarded);
    const from = (index: number) => `198.${18 + index}.100.1`;
    for (let index = 0; index < 2; index += 1)
      expectBody(await sendCode(guarded, newPhone(), {}, from(index)), { code: 200 });
    const refused = await sendCode(guarded, newPhone(), {}, from(2));
    expectBody(refused, { code: 5000 });
    expect(refused.headers['x-reason']).toBe('captcha_required');
    expectBody(await sendCode(guarded, newPhone(), captcha, from(2)), { code: 200 });
    // From now on a challenge takes four times as many keys.
    const { counter } = await solutionOf(await challengeOf(guarded), 4_000);
    expect(counter).toBeLessThan(8_000);
  });
});
