import { Writable } from 'node:stream';
import { createLogger } from '../../src/base/logger';
import { SiteverifyCaptchas, type SiteverifyOptions } from '../../src/integrations/captcha/siteverify/captchas';
import { openQueues } from '../../src/load/queues';
import { inParallel } from '../support/calls';
import { PATIENT_MS } from '../support/patience';
import { limitWith } from '../support/senders';
import {
  startSiteverifyStandIn,
  type SiteverifyBehaviour,
  type SiteverifyStandIn,
} from '../support/stand-ins/siteverify';
import { standStill } from '../support/stand-still';
import { until } from '../support/until';

let provider: SiteverifyStandIn;
let now: number;
let logged: string;
beforeEach(async () => {
  provider = await startSiteverifyStandIn();
  now = 0;
  logged = '';
});
afterEach(() => provider.close().catch(() => {}));

const output = new Writable({
  write(chunk, _encoding, done) {
    logged += String(chunk);
    done();
  },
});

function captchas(options: Partial<SiteverifyOptions> = {}, queue = openQueues().captchaChecks): SiteverifyCaptchas {
  const { siteKey, secretKey, verifyUrl } = provider;
  const settings = { siteKey, secretKey, verifyUrl, timeoutMs: PATIENT_MS, ...options };
  return new SiteverifyCaptchas(settings, queue, createLogger('trace', output), () => now);
}
const check = (by = captchas(), token = provider.token(), address = '203.0.113.1') =>
  by.check(provider.siteKey, token, address);
const tokensAsked = () => provider.requests.map(({ form }) => form.get('response'));

const BROKEN: SiteverifyBehaviour[] = [
  ...(['garbage', 'empty', 'foreign', 'gateway', 'reset'] as const),
  { status: 500 },
  { status: 403 },
  { errorCodes: ['internal-error'] },
];

describe('a captcha of a provider', () => {
  it('shows the site key in a page', async () => {
    expect(await captchas().create()).toEqual({ verifyId: provider.siteKey, path: '/captcha/widget' });
  });

  it('is checked by its token and our secret, without the address of the user', async () => {
    const token = provider.token();
    expect(await check(captchas(), token)).toBe('right');
    const [{ form, headers } = { form: undefined, headers: {} }] = provider.requests;
    expect([...(form ?? [])]).toEqual([
      ['secret', provider.secretKey],
      ['response', token],
    ]);
    expect(headers).not.toHaveProperty('x-forwarded-for');
  });

  it('is accepted once, even in ten concurrent tries', async () => {
    const [by, token] = [captchas(), provider.token()];
    const verdicts = await inParallel(10, () => check(by, token));
    expect(verdicts.sort()).toEqual(['right', ...Array<string>(9).fill('wrong')]);
    expect(await check(captchas(), token)).toBe('wrong');
  });

  it('is wrong with a token that the provider did not issue', async () => {
    expect(await check(captchas(), 'made-up')).toBe('wrong');
  });

  // guard siteverify-9: a token of another site's widget is wrong, and the provider is not considered down
  // src/integrations/captcha/siteverify/captchas.ts
  // - const WRONG_SECRET = ['missing-input-secret',
  // + const WRONG_SECRET = ['sitekey-secret-mismatch', 'missing-input-secret',
  it.each([
    'missing-input-response',
    'invalid-input-response',
    'bad-request',
    'timeout-or-duplicate',
    'invalid-or-already-seen-response',
    'already-seen-response',
    'expired-input-response',
    'anything-else',
    'sitekey-secret-mismatch',
    'not-using-dummy-passcode',
  ])('is wrong when the provider says %s', async (code) => {
    provider.behave({ errorCodes: [code] });
    expect(await check()).toBe('wrong');
  });

  // guard siteverify-10: a token under another site key is wrong
  // src/integrations/captcha/siteverify/captchas.ts
  // - siteKey !== this.options.siteKey ||
  it('is wrong with another site key, or without a token, without a request to the provider', async () => {
    const by = captchas();
    expect(await by.check('another', provider.token(), '203.0.113.1')).toBe('wrong');
    for (const token of ['', ' ', 'a b', 'line\nbreak', 'Zoë']) expect(await check(by, token)).toBe('wrong');
    expect(provider.requests).toEqual([]);
  });

  it('reports to the operator a secret that the provider does not know, and counts the provider as down', async () => {
    expect(await check(captchas({ secretKey: 'outdated' }))).toBe('away');
    provider.behave({ errorCodes: ['missing-input-secret'] });
    expect(await check()).toBe('away');
    const lines = logged
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject(
      Array(2).fill({ level: 50, msg: expect.stringContaining('CAPTCHA_SECRET_KEY') as string }),
    );
  });

  it.each<SiteverifyBehaviour>([...BROKEN, 'hang', { errorCodes: ['invalid-input-secret'] }])(
    'has neither its token nor our secret in the log (%j)',
    async (behaviour) => {
      provider.behave(behaviour);
      const token = provider.token();
      await check(captchas(limitWith(behaviour)), token);
      expect(logged).not.toBe('');
      for (const hidden of [token, provider.secretKey, 'refused']) expect(logged).not.toContain(hidden);
    },
  );
});

describe('a captcha provider', () => {
  it.each(BROKEN)('is down when it answers a request without a token no better (%j)', async (behaviour) => {
    provider.behave(behaviour);
    const token = provider.token();
    expect(await check(captchas(), token)).toBe('away');
    expect(tokensAsked()).toEqual([token, '']);
  });

  it.each(BROKEN)('is not down when only one token fails (%j): that token is unchecked', async (behaviour) => {
    const token = provider.token();
    provider.behaveAt(token, behaviour);
    const by = captchas();
    expect(await check(by, token)).toBe('unchecked');
    expect(await check(by)).toBe('right');
  });

  it('is not down when it has had too many calls', async () => {
    provider.behave({ status: 429 });
    const by = captchas();
    expect(await check(by)).toBe('unchecked');
    expect(await by.areAway()).toBe(false);
  });

  it('is down when it cannot be reached, even if it was up a moment ago', async () => {
    const by = captchas();
    expect(await by.areAway()).toBe(false);
    await provider.close();
    expect(await check(by)).toBe('away');
    expect(await by.areAway()).toBe(true);
  });

  it.each(['hang', 'trickle'] as const)('is down when it does not finish in time (%s)', async (trouble) => {
    provider.behave(trouble);
    const patient = check();
    expect(await check(captchas(limitWith(trouble)))).toBe('away');
    expect(await Promise.race([patient, Promise.resolve('waits')])).toBe('waits');
  });

  // guard siteverify-3: a process that stands still does not consider a captcha provider down
  // src/integrations/post.ts
  // - signal: ending.signal,
  // + signal: AbortSignal.timeout(timeoutMs),
  it('is not down because this process stood still', async () => {
    const asked = captchas({ timeoutMs: 1_200 }).areAway();
    standStill(1_500);
    expect(await asked).toBe(false);
    expect(tokensAsked()).toEqual(['']);
  });

  it('is not asked for a while after three calls in a row without an answer', async () => {
    provider.behave('hang');
    const by = captchas({ timeoutMs: 100 });
    for (let count = 0; count < 4; count += 1) expect(await check(by)).toBe('away');
    expect(provider.requests).toHaveLength(6);
    provider.behave('accept');
    now = 30_000;
    Reflect.set(by, 'timeoutMs', PATIENT_MS);
    expect(await check(by)).toBe('right');
  });

  // guard siteverify-1: tokens on which a captcha provider takes too long do not prevent a probe of it
  // src/integrations/captcha/siteverify/captchas.ts
  // - [this.checking, this.probing] = [breaker(), breaker()];
  // + this.checking = this.probing = breaker();
  it('is not down because of tokens on which it takes too long: they are unchecked', async () => {
    provider.behaveAt('slow', 'hang');
    const by = captchas({ timeoutMs: 1_000 });
    for (let count = 0; count < 5; count += 1) expect(await check(by, 'slow')).toBe('unchecked');
    expect(await inParallel(5, () => check(by, 'slow'))).toEqual(Array(5).fill('unchecked'));
    expect(await by.areAway()).toBe(false);
  });

  // guard siteverify-8: tokens on which a captcha provider takes too long do not keep others from being checked
  // src/integrations/captcha/siteverify/captchas.ts
  // - this.checking.close();
  it('is asked for other tokens while it takes too long on some', async () => {
    provider.behaveAt('slow', 'hang');
    const by = captchas({ timeoutMs: 4_000 });
    const probes = provider.holdAt('');
    const slow = inParallel(3, () => check(by, 'slow'));
    await until(() => tokensAsked().filter((token) => token === '').length === 3);
    const good = check(by);
    await until(() => tokensAsked().filter((token) => token === '').length === 4);
    probes.open();
    expect([await good, ...(await slow)]).toEqual(['right', ...Array<string>(3).fill('unchecked')]);
  });

  it('is probed without a token at most once in ten seconds', async () => {
    const by = captchas();
    expect(await inParallel(20, () => by.areAway())).toEqual(Array(20).fill(false));
    await provider.close();
    now = 9_999;
    expect(await by.areAway()).toBe(false);
    expect(tokensAsked()).toEqual(['']);
    now = 10_000;
    expect(await by.areAway()).toBe(true);
  });

  /** Starts checks of tokens that last until the gate of each is opened. */
  async function underWay(by: SiteverifyCaptchas, count: number, addressOf: (index: number) => string) {
    const tokens = Array.from({ length: count }, () => provider.token());
    const gates = tokens.map((token) => provider.holdAt(token));
    const verdicts = Promise.all(tokens.map((token, index) => check(by, token, addressOf(index))));
    return { gates, verdicts };
  }

  // guard siteverify-2: an instance checks 20 captchas at once
  // src/load/queues.ts
  // - atOnce: 20, share: 5
  // + atOnce: 2_000, share: 5
  it('gets 20 checks at once: other tokens are unchecked', async () => {
    const queue = openQueues().captchaChecks;
    const [by, impatient] = [captchas({}, queue), captchas({ timeoutMs: 300 }, queue)];
    const { gates, verdicts } = await underWay(by, 20, (index) => `203.0.113.${index}`);
    await until(() => provider.requests.length === 20);
    expect(await inParallel(5, () => check(impatient))).toEqual(Array(5).fill('unchecked'));
    expect(provider.requests).toHaveLength(20);
    for (const gate of gates) gate.open();
    expect(await verdicts).toEqual(Array(20).fill('right'));
    expect(await check(by)).toBe('right');
  });

  // guard siteverify-7: a captcha is checked as soon as a slot is free
  // src/load/queues.ts
  // - share: 5, waiting: 100,
  // + share: 5, waiting: 0,
  it('gets a waiting check as soon as a slot is free', async () => {
    const by = captchas();
    const { gates, verdicts } = await underWay(by, 20, (index) => `203.0.113.${index}`);
    await until(() => provider.requests.length === 20);
    const waiting = check(by, provider.token(), '198.51.100.9');
    gates[0]?.open();
    expect(await waiting).toBe('right');
    for (const gate of gates) gate.open();
    expect(await verdicts).toEqual(Array(20).fill('right'));
  });

  // guard siteverify-5: a check of a captcha yields to an address without a running check
  // src/load/queues.ts
  // - waitMs: 1_500, aborts: 'oldest',
  // + waitMs: 1_500,
  // guard siteverify-6: an aborted check of a captcha does not make the service probe the provider
  // src/integrations/post.ts
  // - if (name === 'AbortError') return new CallAborted(peer);
  it('gets a check at once for an address without a running check, even while eight others have many', async () => {
    const by = captchas();
    const { gates, verdicts } = await underWay(by, 80, (index) => `203.0.113.${index % 8}`);
    await until(() => provider.requests.length === 20);
    const others = await inParallel(12, (index) => check(by, provider.token(), `198.51.100.${index}`));
    expect(others).toEqual(Array(12).fill('right'));
    for (const gate of gates) gate.open();
    expect(new Set(await verdicts)).toEqual(new Set(['right', 'unchecked']));
    expect(tokensAsked()).not.toContain('');
  });

  // guard siteverify-4: an address has a quarter of the slots for checks of captchas, and an IPv6 /48 half of them
  // src/load/queues.ts
  // - atOnce: 20, share: 5
  // + atOnce: 20, share: 20
  it.each([
    ['five times at once per address', 5, () => '203.0.113.66'],
    ['ten times at once per /48', 10, (index: number) => `2001:db8:0:${index.toString(16)}::/64`],
  ])('is asked at most %s, and others have places', async (_times, most, addressOf) => {
    const by = captchas();
    const { gates, verdicts } = await underWay(by, 20, addressOf);
    await until(() => provider.requests.length === most);
    expect(await check(by, provider.token(), '198.51.100.9')).toBe('right');
    expect(provider.requests).toHaveLength(most + 1);
    for (const gate of gates) gate.open();
    expect(await verdicts).toEqual(Array(20).fill('right'));
  });
});
