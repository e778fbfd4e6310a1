import { drawCaptcha } from '../../src/integrations/captcha/captcha-image';

const captchas = (count: number) => Promise.all(Array.from({ length: count }, drawCaptcha));

describe('captcha image', () => {
  it('asks for five characters that cannot be taken for each other', async () => {
    const answers = (await captchas(50)).map(({ answer }) => answer);
    expect(answers.filter((answer) => !/^[34679ACEFHJKMNPRTWXY]{5}$/.test(answer))).toEqual([]);
  });

  it('asks for something else each time', async () => {
    expect(new Set((await captchas(20)).map(({ answer }) => answer)).size).toBe(20);
  });

  it('is a PNG of twice the size of the drawing', async () => {
    const { png } = await drawCaptcha();
    expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([360, 120]);
  });
});
