import { z } from 'zod';
import { parse } from '../../src/http/parse';

describe('input that a schema has no words for', () => {
  it('is refused without those of zod, once for each field', () => {
    const schema = z.object({
      kind: z.enum(['a', 'b']),
      size: z.number().min(9).multipleOf(5),
      name: z.string().min(3),
    });
    const refusal = {
      reason: 'invalid_input',
      message: expect.not.stringMatching(/expected|invalid|small/i) as string,
    };
    const details = ['kind', 'size', 'name'].map((path) => ({ path, message: 'is not as it must be' }));
    const input = { kind: 'c', size: 7, name: '' };
    expect(() => parse(schema, input)).toThrow(expect.objectContaining({ ...refusal, details }) as Error);
  });
});

describe('a field that was not sent', () => {
  const schema = z.object({ friendId: z.string(), verification_token: z.string(), ids: z.array(z.string()) });

  it.each([
    [{}, 'is missing', 'is missing'],
    [{ friendid: 'a' }, 'is missing: friendid is not friendId', 'is missing'],
    [{ verificationToken: 'a', id: 'a' }, 'is missing', 'is missing: verificationToken is not verification_token'],
  ])('is said to be missing: %j', (input, friendId, token) => {
    const details = [
      { path: 'friendId', message: friendId },
      { path: 'verification_token', message: token },
    ];
    expect(() => parse(schema, { ...input, ids: ['a'] })).toThrow(expect.objectContaining({ details }) as Error);
  });

  it('is another thing than one that is there and wrong', () => {
    const input = { friendId: null, verification_token: 'a', ids: [1] };
    const paths = expect.objectContaining({
      message: 'friendId: is not as it must be; ids.0: is not as it must be',
    }) as Error;
    expect(() => parse(schema, input)).toThrow(paths);
  });
});
