import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import type { AppOptions, Env, TestApp } from '../../support/app';
import { countCodes, expectBody, expectRefusal, post, sendRaw, retryAfterOf, inParallel } from '../../support/calls';
import { instancesBeside } from '../../support/instances';
import { newPhone, passResendTime, type PhoneFields } from '../../support/people';
import { PATIENT_MS } from '../../support/patience';
import { stage } from '../../support/stage';
import {
  startSiteverifyStandIn,
  type SiteverifyBehaviour,
  type SiteverifyStandIn,
} from '../../support/stand-ins/siteverify';
import { until } from '../../support/until';

let provider: SiteverifyStandIn;
const { app } = stage();
beforeEach(async () => {
  provider = await startSiteverifyStandIn();
});
afterEach(async () => {
  await provider.close().catch(() => {});
  await app.db('rate_limits').delete();
});

const beside = instancesBeside(() => app, { TRUST_PROXY: 'loopback', CODE_RESEND_SECONDS: '1' });

/** An instance that asks the provider. */
function instance(env: Env = {}, options?: Pick<AppOptions, 'vendorTimeoutMs'>): Promise<TestApp> {
  const { siteKey, secretKey, verifyUrl } = provider;
  const keys = { CAPTCHA_SITE_KEY: siteKey, CAPTCHA_SECRET_KEY: secretKey, CAPTCHA_VERIFY_URL: verifyUrl };
  return beside({ CAPTCHA_PROVIDER: 'turnstile', ...keys, ...env }, options);
}

const solved = (token = provider.token()) => ({ verifyId: provider.siteKey, verifyCode: token });
const sendCode = (on: TestApp, captcha: object = {}, phone: PhoneFields = newPhone(), address = '203.0.113.1') =>
  post(on.api, '/user/send_code', { ...phone, ...captcha }, { 'X-Forwarded-For': address });
const tokensAsked = () => provider.requests.map(({ form }) => form.get('response'));

describe('with a captcha provider, /user/get_sms_img_code', () => {
  it('returns the address of a page that shows the widget, and the site key', async () => {
    const on = await instance();
    const result = { url: `${on.url}/captcha/widget`, verifyId: provider.siteKey };
    expectBody(await post(on.api, '/user/get_sms_img_code'), { code: 200, result });
    expect(provider.requests).toEqual([]);
  });

  it('serves no pictures; without a provider there is no widget page', async () => {
    const picture = '/captcha/aaaaaaaaaaaaaaaaaaaaaa.png';
    expectRefusal(await sendRaw(await instance(), picture, { method: 'GET' }), 404, 'no such path');
    expectRefusal(await sendRaw(app, '/captcha/widget', { method: 'GET' }), 404, 'no such path');
  });
});

describe('in an alarm of the spend guard', () => {
  afterEach(async () => void (await app.db('sms_traffic').delete()));

  it('send_code asks new networks for a captcha when their part is used up, and sends with a solved one', async () => {
    const on = await instance({ SPEND_GUARD: 'enforce', TRUST_PROXY: '1' });
    const slot = app.db.raw(`sms_traffic_slot(now() - interval '30 minutes')`);
    await app.db('sms_traffic').insert({ region: 'GB', slot, sent: 40, verified: 1 });
    const from = (index: number) => `198.${18 + index}.100.1`;
    for (let index = 0; index < 2; index += 1)
      expectBody(await sendCode(on, {}, newPhone(), from(index)), { code: 200 });
    const refused = await sendCode(on, {}, newPhone(), from(2));
    expectBody(refused, { code: 5000 });
    expect(refused.headers['x-reason']).toBe('captcha_required');
    for (let index = 2; index < 4; index += 1)
      expectBody(await sendCode(on, solved(), newPhone(), from(index)), { code: 200 });
    const last = await sendCode(on, {}, newPhone(), from(5));
    expect(last.headers['x-reason']).toBe('sending_paused');
  });
});

describe('the page of the widget', () => {
  const HCAPTCHA = 'https://js.hcaptcha.com/1/api.js?recaptchacompat=off&hl=en';

  async function pageOf(env: Env = {}) {
    const { status, body, headers } = await sendRaw(await instance(env), '/captcha/widget', { method: 'GET' });
    expect(status).toBe(200);
    const policy = String(headers['content-security-policy']).split('; ');
    return { html: String(body), headers, policy, script: /<script>([^]*?)<\/script>/.exec(String(body))?.[1] ?? '' };
  }

  // guard captcha-provider-4: the page of a captcha runs only its own script and the provider's
  // src/integrations/captcha/siteverify/widget-router.ts
  // - 'sha256-${hash}'
  // + 'unsafe-inline'
  it("allows the provider's script, frames and calls, its own few lines, and nothing else", async () => {
    const { html, headers, policy, script } = await pageOf();
    const cloudflare = 'https://challenges.cloudflare.com';
    expect(policy).toEqual([
      "default-src 'none'",
      `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}' ${cloudflare}`,
      `frame-src ${cloudflare}`,
      `style-src ${cloudflare}`,
      `connect-src ${cloudflare}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'SAMEORIGIN' });
    expect(html).toContain(`<script src="${cloudflare}/turnstile/v0/api.js" async defer></script>`);
    expect(html).toContain(`class="cf-turnstile h-captcha" data-sitekey="${provider.siteKey}" data-callback="solved"`);
  });

  it('also shows the widget of hCaptcha, from all hosts of its domain', async () => {
    const { html, policy } = await pageOf({ CAPTCHA_SCRIPT_URL: HCAPTCHA });
    expect(policy).toContain('frame-src https://hcaptcha.com https://*.hcaptcha.com');
    expect(html).toContain(`<script src="${HCAPTCHA.replace('&', '&#38;')}" async defer></script>`);
    const other = await pageOf({ CAPTCHA_SCRIPT_URL: 'https://nothcaptcha.com/"><b>.js' });
    expect(other.policy).toContain('frame-src https://nothcaptcha.com');
    expect(other.html).not.toContain('<b>');
  });

  it('passes the token on in its address, and to the handler of a web view', async () => {
    const { script } = await pageOf();
    const told: [string, string][] = [];
    const handler = (name: string) => ({ postMessage: (token: string) => void told.push([name, token]) });
    const location = { hash: '' };
    const solve = (window: object) => {
      runInNewContext(`${script}; solved('0.a+b/c=')`, { window, location });
    };
    solve({});
    expect(location.hash).toBe('verifyCode=0.a%2Bb%2Fc%3D');
    expect(told).toEqual([]);
    solve({ ReactNativeWebView: handler('React Native') });
    solve({ webkit: { messageHandlers: { verifyCode: handler('WebKit') } } });
    expect(told).toEqual(['React Native', 'WebKit'].map((name) => [name, '0.a+b/c=']));
  });
});

describe('with a captcha provider, /user/send_code', () => {
  it('raises the limits of the phone and of the address', async () => {
    const on = await instance({ SEND_CODE_PER_IP_HOUR: '2', SEND_CODE_PER_IP_HOUR_WITH_CAPTCHA: '3' });
    for (const code of [200, 200, 5000]) expectBody(await sendCode(on), { code });
    for (const code of [200, 5000]) expectBody(await sendCode(on, solved()), { code });
    const daily = await instance({ SEND_CODE_PER_PHONE_DAY: '1' });
    const phone = newPhone();
    const later = async (captcha = {}) => {
      await passResendTime(app, phone);
      return sendCode(daily, captcha, phone, '203.0.113.2');
    };
    expectBody(await later(), { code: 200 });
    expectBody(await later(), { code: 5000 });
    expectBody(await later(solved()), { code: 200 });
    expectBody(await later(solved()), { code: 5000 });
  });

  it('ignores a captcha that is made up, of another site key, incomplete or empty', async () => {
    const on = await instance({ SEND_CODE_PER_IP_HOUR: '1', SEND_CODE_PER_IP_HOUR_WITH_CAPTCHA: '9' });
    expectBody(await sendCode(on), { code: 200 });
    const { verifyId, verifyCode } = solved();
    for (const captcha of [
      solved('made-up'),
      { verifyId: 'another', verifyCode },
      { verifyId },
      { verifyCode },
      { verifyId, verifyCode: '' },
    ])
      expectBody(await sendCode(on, captcha), { code: 5000 });
    expect(tokensAsked()).toEqual(['made-up']);
  });

  it('accepts a token once, even when two instances get it at once', async () => {
    const limits = { SEND_CODE_PER_IP_HOUR: '1', SEND_CODE_PER_IP_HOUR_WITH_CAPTCHA: '9' };
    const instances = [await instance(limits), await instance(limits)];
    expectBody(await sendCode(instances[0] ?? app), { code: 200 });
    const captcha = solved();
    const answers = await inParallel(10, (index) => sendCode(instances[index % 2] ?? app, captcha));
    expect(countCodes(answers)).toEqual({ 200: 1, 5000: 9 });
  });

  it('accepts tokens of 8 KiB, and refuses longer ones', async () => {
    const on = await instance();
    expectBody(await sendCode(on, solved('x'.repeat(8_192))), { code: 200 });
    expectRefusal(await sendCode(on, solved('x'.repeat(8_193))), 400, 'verifyCode');
    expect(provider.requests).toHaveLength(1);
  });

  it('applies the limits without a captcha while the provider is down', async () => {
    const on = await instance({ SEND_CODE_PER_IP_HOUR: '1', SEND_CODE_PER_IP_HOUR_WITH_CAPTCHA: '9' });
    await provider.close();
    expectBody(await sendCode(on, solved()), { code: 200 });
    expectBody(await sendCode(on, solved()), { code: 5000 });
  });

  // guard captcha-provider-2: the captcha provider is asked per address at most as often as captchas may be made
  // src/features/verification/captcha-service.ts
  // - if (this.captchas.checkedOutside)
  // + if (!caller)
  it('asks the provider per address at most as often as captchas may be made there, then answers 429', async () => {
    const on = await instance({ CHECKS_PER_IP_MINUTE: '3' });
    for (const code of [200, 200, 200]) expectBody(await sendCode(on, solved('made-up')), { code });
    const refused = await sendCode(on, solved());
    expectRefusal(refused, 429);
    expect(retryAfterOf(refused)).toBeGreaterThan(0);
    expect(provider.requests).toHaveLength(3);
    expectBody(await sendCode(on), { code: 200 });
    expectBody(await sendCode(on, solved(), newPhone(), '203.0.113.9'), { code: 200 });
  });
});

describe('with a captcha provider and CAPTCHA_POLICY=always, /user/send_code', () => {
  const required = { CAPTCHA_POLICY: 'always', SEND_CODE_PER_IP_HOUR: '2', SEND_CODE_PER_IP_HOUR_WITH_CAPTCHA: '9' };
  const always = (env: Env = {}, vendorTimeoutMs = PATIENT_MS) =>
    instance({ ...required, ...env }, { vendorTimeoutMs });

  it('requires a solved captcha each time, and answers 400 without one', async () => {
    const on = await always();
    const captcha = solved();
    expectBody(await sendCode(on, captcha), { code: 200 });
    for (const other of [{}, captcha, solved('made-up'), { verifyId: provider.siteKey, verifyCode: '' }])
      expectRefusal(await sendCode(on, other), 400, 'captcha');
    expect(on.sms.sent).toHaveLength(1);
  });

  // guard captcha-provider-3: codes are sent while the provider of a required captcha is down
  // src/features/verification/send-code-service.ts
  // - if (verdict === 'away') return 'nothing';
  it.each<SiteverifyBehaviour>(['hang', 'reset', 'garbage', { status: 500 }, { errorCodes: ['internal-error'] }])(
    'sends under the limits without a captcha while the provider is down (%j), with or without a token',
    async (behaviour) => {
      const on = await always({}, behaviour === 'hang' ? 1_000 : PATIENT_MS);
      provider.behave(behaviour);
      expectBody(await sendCode(on), { code: 200 });
      expectBody(await sendCode(on, solved()), { code: 200 });
      expectBody(await sendCode(on, solved()), { code: 5000 });
    },
  );

  it('also sends when the provider does not know the secret', async () => {
    const on = await always({ CAPTCHA_SECRET_KEY: 'outdated' });
    expectBody(await sendCode(on, solved()), { code: 200 });
    expect(on.logged()).toContainEqual(
      expect.objectContaining({ level: 50, msg: expect.stringContaining('CAPTCHA_SECRET_KEY') as string }),
    );
  });

  it('probes the provider once for many requests without a token', async () => {
    const on = await always();
    const answers = await inParallel(20, () => sendCode(on));
    expect(countCodes(answers)).toEqual({ 400: 20 });
    expect(tokensAsked()).toEqual(['']);
  });

  // guard captcha-provider-1: a captcha provider is marked as down only when it fails at a request without a token
  // src/integrations/captcha/siteverify/captchas.ts
  // - if (await this.probeNow()) return 'away';
  // + if ((await this.probeNow()) || first) return 'away';
  it('answers 503 when the provider fails at one token or at a flood of them: the captcha stays required', async () => {
    const on = await always({}, 10_000);
    provider.behaveAt('breaks-it', { status: 500 });
    const broken = await sendCode(on, solved('breaks-it'));
    expectRefusal(broken, 503);
    expect(retryAfterOf(broken)).toBeGreaterThan(0);
    provider.behaveAt('slows-it', 'hang');
    const flood = inParallel(20, (index) => sendCode(on, solved('slows-it'), newPhone(), `203.0.113.${index}`));
    await until(() => tokensAsked().filter((token) => token === 'slows-it').length === 20);
    expectRefusal(await sendCode(on, solved()), 503);
    expectRefusal(await sendCode(on), 400);
    expect(countCodes(await flood)).toEqual({ 503: 20 });
    expect(on.sms.sent).toEqual([]);
  });
});
