import { drawCaptcha } from '../../src/integrations/captcha/drawn/captcha-image';
import { DrawnCaptchas, type KeptCaptcha } from '../../src/integrations/captcha/drawn/captchas';
import { openQueues } from '../../src/load/queues';
import { inParallel } from '../support/calls';
import { PATIENCE } from '../support/patience';

const captchas = (count: number) => Promise.all(Array.from({ length: count }, drawCaptcha));

describe('captcha image', () => {
  it('asks for six characters that cannot be confused with each other', async () => {
    const answers = (await captchas(50)).map(({ answer }) => answer);
    expect(answers.filter((answer) => !/^[34679ACEHKPRT]{6}$/.test(answer))).toEqual([]);
  });

  it('asks for other characters each time', async () => {
    expect(new Set((await captchas(20)).map(({ answer }) => answer)).size).toBe(20);
  });

  it('is a PNG that is wide enough for a phone', async () => {
    const { png } = await drawCaptcha();
    expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([450, 120]);
  });
});

describe('drawn captchas', () => {
  let now = 0;
  let add: (captcha: KeptCaptcha) => Promise<void>;
  beforeEach(() => {
    now = 0;
    add = () => Promise.resolve();
  });

  function captchas(answers: 'checked' | 'ignored' = 'checked'): DrawnCaptchas {
    const nothing = () => Promise.resolve(undefined);
    const kept = { add: (captcha: KeptCaptcha) => add(captcha), image: nothing, take: nothing };
    return new DrawnCaptchas(kept, openQueues(PATIENCE).captchaPictures, answers, () => now);
  }

  // guard integrations-captcha-1: captchas are drawn in a queue of limited length
  // src/integrations/captcha/drawn/captchas.ts
  // - await this.drawing.run(address, drawCaptcha)
  // + await drawCaptcha()
  it('are drawn for at most 102 of 1,200 concurrent requests, and refused to the others', async () => {
    const by = captchas();
    const drawn = await Promise.allSettled(Array.from({ length: 1_200 }, () => by.create('203.0.113.1')));
    expect(drawn.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(102);
    expect(drawn.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 503 } });
  });

  // guard integrations-captcha-2: addresses take turns at the drawing of captchas
  // src/integrations/captcha/drawn/captchas.ts
  // - this.drawing.run(address,
  // + this.drawing.run('all',
  it('are drawn in turn for each address, however many another address has asked for', async () => {
    const by = captchas();
    const order: string[] = [];
    const ask = (from: string) => by.create(from).then(() => order.push(from));
    const crowd = Promise.allSettled(Array.from({ length: 1_200 }, () => ask('203.0.113.66')));
    await ask('198.51.100.9');
    expect(order.length).toBeLessThanOrEqual(8);
    await crowd;
  });

  it('reuse one captcha for half of its life if answers are not checked', async () => {
    const by = captchas('ignored');
    const idOf = async () => (await by.create('203.0.113.1')).verifyId;
    const first = await idOf();
    now = 149_999;
    expect(new Set(await inParallel(20, idOf))).toEqual(new Set([first]));
    now = 150_000;
    const next = await idOf();
    expect(next).not.toBe(first);
    expect(await idOf()).toBe(next);
  });

  it('draw a new one if that captcha could not be stored', async () => {
    add = () => Promise.reject(new Error('no database'));
    const by = captchas('ignored');
    await expect(by.create('203.0.113.1')).rejects.toThrow('no database');
    add = () => Promise.resolve();
    expect((await by.create('203.0.113.1')).path).toMatch(/^\/captcha\/.{22}\.png$/);
  });
});
