import { drawCaptcha } from '../../src/integrations/captcha/captcha-image';

const captchas = (count: number) => Promise.all(Array.from({ length: count }, drawCaptcha));

describe('captcha image', () => {
  it('asks for six characters that cannot be taken for each other', async () => {
    const answers = (await captchas(50)).map(({ answer }) => answer);
    expect(answers.filter((answer) => !/^[34679ACEHKPRT]{6}$/.test(answer))).toEqual([]);
  });

  it('asks for something else each time', async () => {
    expect(new Set((await captchas(20)).map(({ answer }) => answer)).size).toBe(20);
  });

  it('is a PNG that is wide enough for a phone', async () => {
    const { png } = await drawCaptcha();
    expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([450, 120]);
  });

  it('is drawn for 102 of 1,200 who ask at once, and refused to the others', async () => {
    const drawn = await Promise.allSettled(Array.from({ length: 1_200 }, drawCaptcha));
    expect(drawn.filter(({ status }) => status === 'fulfilled')).toHaveLength(102);
    expect(drawn.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 503 } });
  });
});
