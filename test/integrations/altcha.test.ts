import type { Challenge } from 'altcha-lib';
import { AltchaCaptchas } from '../../src/integrations/captcha/altcha/captchas';
import { openQueues } from '../../src/load/queues';
import { payloadOf, solutionOf } from '../support/altcha';
import { inParallel } from '../support/calls';
import { PATIENCE } from '../support/patience';

const ADDRESS = '203.0.113.1';
const CHEAP = 3;

let isAlarmed = false;
let spent = new Set<string>();
beforeEach(() => {
  isAlarmed = false;
  spent = new Set();
});
afterEach(() => jest.restoreAllMocks());

function captchas(...secrets: string[]): AltchaCaptchas {
  const spend = (id: string) => Promise.resolve(!spent.has(id) && Boolean(spent.add(id)));
  const options = { secrets: secrets.length > 0 ? secrets : ['a'], isAlarmed: () => isAlarmed, leastKeys: CHEAP };
  return new AltchaCaptchas({ spend }, openQueues(PATIENCE).captchaPictures, options);
}

async function solved(by: AltchaCaptchas, change: (challenge: Challenge) => Challenge = (challenge) => challenge) {
  const challenge = change(await by.challenge(ADDRESS));
  return payloadOf(challenge, await solutionOf(challenge));
}

describe('a proof of work', () => {
  it('is right for the smallest counter that gives the wanted key', async () => {
    const by = captchas();
    const challenge = await by.challenge(ADDRESS);
    const solution = await solutionOf(challenge);
    expect(solution.counter).toBeGreaterThanOrEqual(CHEAP);
    expect(solution.counter).toBeLessThan(2 * CHEAP);
    expect(await by.check('altcha', payloadOf(challenge, solution))).toBe('right');
  });

  // guard altcha-1: a solved challenge counts once
  // src/integrations/captcha/altcha/captchas.ts
  // - return isFirst ? 'right' : 'wrong';
  // + return isFirst ? 'right' : 'right';
  it('counts once, also when it is sent twenty times at once', async () => {
    const by = captchas();
    const payload = await solved(by);
    const verdicts = await inParallel(20, () => by.check('altcha', payload));
    expect(verdicts.filter((verdict) => verdict === 'right')).toHaveLength(1);
  });

  it('is wrong with another key, another id, or no payload', async () => {
    const by = captchas();
    const challenge = await by.challenge(ADDRESS);
    const solution = await solutionOf(challenge);
    const wrong = { ...solution, derivedKey: challenge.parameters.keyPrefix.padEnd(64, '0') };
    expect(await by.check('altcha', payloadOf(challenge, wrong))).toBe('wrong');
    expect(await by.check('other', payloadOf(challenge, solution))).toBe('wrong');
    for (const answer of ['', 'x', 'bnVsbA==', 'e30=', '{}', Buffer.from('[[[[').toString('base64')])
      expect(await by.check('altcha', answer)).toBe('wrong');
    expect(spent.size).toBe(0);
  });

  // guard altcha-2: a challenge is signed by the service
  // src/integrations/captcha/altcha/captchas.ts
  // - if (verified) return true;
  // + return true || verified;
  it.each([
    ['cheaper', { cost: 1 }],
    ['valid for longer', { expiresAt: 4_000_000_000 }],
    ['with another nonce', { nonce: '00'.repeat(16) }],
  ])('is wrong for a challenge that a client has made %s', async (_what, changed) => {
    const by = captchas();
    const challenge = await by.challenge(ADDRESS);
    const made = { ...challenge, parameters: { ...challenge.parameters, ...changed } };
    expect(await by.check('altcha', payloadOf(made, await solutionOf(challenge)))).toBe('wrong');
  });

  it('is wrong for a challenge of another service', async () => {
    expect(await captchas('a').check('altcha', await solved(captchas('b')))).toBe('wrong');
  });

  it('is right for a challenge that another of the secrets has signed', async () => {
    expect(await captchas('a', 'b').check('altcha', await solved(captchas('b', 'a')))).toBe('right');
  });

  it('is wrong after five minutes', async () => {
    const by = captchas();
    const payload = await solved(by);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 302_000);
    expect(await by.check('altcha', payload)).toBe('wrong');
  });

  // guard altcha-3: a proof of work costs four times as much in an alarm
  // src/integrations/captcha/altcha/captchas.ts
  // - const IN_ALARM = 4;
  // + const IN_ALARM = 1;
  it('takes four times as many keys in an alarm', async () => {
    isAlarmed = true;
    const { counter } = await solutionOf(await captchas().challenge(ADDRESS));
    expect(counter).toBeGreaterThanOrEqual(4 * CHEAP);
    expect(counter).toBeLessThan(8 * CHEAP);
  });

  // guard altcha-5: challenges are made in a queue of limited length
  // src/integrations/captcha/altcha/captchas.ts
  // - return this.making.run(address, () =>
  // + return Promise.resolve().then(() =>
  it('is made for at most 102 of 1,200 concurrent requests, and refused to the others', async () => {
    const by = captchas();
    const made = await Promise.allSettled(Array.from({ length: 1_200 }, () => by.challenge(ADDRESS)));
    expect(made.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(102);
    expect(made.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 503 } });
  });
});
