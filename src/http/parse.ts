import { z } from 'zod';
import { BadRequest } from '../errors';

/** Only what fails here is the client's fault; a ZodError from anywhere else stays a 500. */
export function parse<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  const message = details.map((problem) => `${problem.path}: ${problem.message}`).join('; ');
  throw new BadRequest('invalid_input', message, { details });
}

/** A string that survives the way to PostgreSQL and back: it holds no NUL and is well-formed Unicode. */
const text = z
  .string({ error: 'must be a string' })
  .refine((value) => !value.includes('\0'), 'must not contain NUL')
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode');

export function bytes(least: number, most: number) {
  return text.refine((value) => {
    const length = Buffer.byteLength(value, 'utf8');
    return length >= least && length <= most;
  }, `must be ${least} to ${most} bytes of UTF-8`);
}

export const id = z
  .string({ error: 'must be a string' })
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, - or _');
