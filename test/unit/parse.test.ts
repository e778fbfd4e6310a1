import { z } from 'zod';
import { bytes, characters, inLine, inLines } from '../../src/base/schemas';
import { parse } from '../../src/http/parse';

describe('input that breaks a schema without a message of its own', () => {
  // guard parse-3: each wrong field has one message
  // src/http/parse.ts
  // - if (!messages.has(name)) messages.set(name, message);
  // + messages.set(messages.has(name) ? `${name}.` : name, message);
  // guard parse-4: wording of zod does not reach a client
  // src/http/parse.ts
  // - safeParse(input, FALLBACK)
  // + safeParse(input)
  it("is refused without zod's wording, once for each field", () => {
    const schema = z.object({
      kind: z.enum(['a', 'b']),
      size: z.number().min(9).multipleOf(5),
      name: z.string().min(3),
    });
    const refusal = {
      reason: 'invalid_input',
      message: expect.not.stringMatching(/expected|invalid|small/i) as string,
    };
    const details = ['kind', 'size', 'name'].map((path) => ({ path, message: 'is not valid' }));
    const input = { kind: 'c', size: 7, name: '' };
    expect(() => parse(schema, input)).toThrow(expect.objectContaining({ ...refusal, details }) as Error);
  });
});

describe('a missing field', () => {
  const schema = z.object({ friendId: z.string(), verification_token: z.string(), ids: z.array(z.string()) });

  it.each([
    [{}, 'is missing', 'is missing'],
    [{ friendid: 'a' }, 'is missing: friendid is not friendId', 'is missing'],
    [{ verificationToken: 'a', id: 'a' }, 'is missing', 'is missing: verificationToken is not verification_token'],
  ])('is reported as missing: %j', (input, friendId, token) => {
    const details = [
      { path: 'friendId', message: friendId },
      { path: 'verification_token', message: token },
    ];
    expect(() => parse(schema, { ...input, ids: ['a'] })).toThrow(expect.objectContaining({ details }) as Error);
  });

  it('is reported differently from one that is present and wrong', () => {
    const input = { friendId: null, verification_token: 'a', ids: [1] };
    const paths = expect.objectContaining({
      message: 'friendId: is not valid; ids.0: is not valid',
    }) as Error;
    expect(() => parse(schema, input)).toThrow(paths);
  });
});

describe('a text that others are shown', () => {
  const accepts = (schema: z.ZodType, text: string) => schema.safeParse(text).success;
  const [name, bulletin, nickname] = [inLine(characters(1, 4)), inLines(characters(0, 9)), inLine(bytes(1, 4))];

  it('is limited in characters, whatever their bytes, and a nickname also in bytes', () => {
    expect(['🙂'.repeat(4), 'é山xy', 'x'].map((text) => accepts(name, text))).toEqual([true, true, true]);
    expect(['', '🙂'.repeat(5), 'abcde'].map((text) => accepts(name, text))).toEqual([false, false, false]);
    expect(['🙂', 'é山', '山山'].map((text) => accepts(nickname, text))).toEqual([true, false, false]);
  });

  // guard parse-1: a name contains no control characters
  // src/base/schemas.ts
  // - refine((value) => !hasControl(value), 'must not contain control characters')
  // + refine(() => true, 'must not contain control characters')
  // guard parse-2: a name contains no bidirectional overrides
  // src/base/schemas.ts
  // - refine((value) => !OVERRIDE.test(value),
  // + refine(() => true,
  it.each([0, 7, 9, 10, 13, 0x1b, 0x1f, 0x7f, 0x80, 0x9b, 0x9f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e])(
    'may not contain control characters or overrides in a name, or any but line breaks in a bulletin: %i',
    (code) => {
      const text = `a${String.fromCodePoint(code)}`;
      expect([name, nickname].map((schema) => accepts(schema, text))).toEqual([false, false]);
      expect(accepts(bulletin, text)).toBe(code === 10 || code === 13);
    },
  );

  it.each(['\u200d', '\u200e', '\u2066', '\u00ad', 'ـ', ' '])('may contain other invisible characters: %j', (text) => {
    for (const schema of [name, bulletin, nickname]) expect(accepts(schema, `a${text}`)).toBe(true);
  });
});
