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
    expect(() => parse(schema, { size: 7 })).toThrow(expect.objectContaining({ ...refusal, details }) as Error);
  });
});
