import { z } from 'zod';
import { BadRequest } from '../errors';
import { isPhoneCallingCode, readPhone, type Phone } from '../features/users/phone-number';

/** Only what fails here is the client's fault; a ZodError from anywhere else stays a 500. */
export function parse<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  const message = details.map((problem) => `${problem.path}: ${problem.message}`).join('; ');
  throw new BadRequest(message, { details });
}

const utf8Bytes = (value: string) => Buffer.byteLength(value, 'utf8');

/** A string that survives the way to PostgreSQL and back: it holds no NUL and is well-formed Unicode. */
const text = z
  .string({ error: 'must be a string' })
  .refine((value) => !value.includes('\0'), 'must not contain NUL')
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode');

export function bytes(least: number, most: number) {
  return text.refine((value) => {
    const length = utf8Bytes(value);
    return length >= least && length <= most;
  }, `must be ${least} to ${most} bytes of UTF-8`);
}

const digits = z
  .union([z.number().int().nonnegative(), z.string().regex(/^[0-9]{1,32}$/)], {
    error: 'must be digits, as a JSON number or a string',
  })
  .transform(String)
  .refine((value) => /^[0-9]{1,32}$/.test(value), 'must be digits, as a JSON number or a string');

/** `region` and `phone` become one phone; the field at fault is the one that is named. */
export const phoneFields = z.object({ region: digits, phone: digits }).transform(toPhone);

function toPhone({ region, phone }: { region: string; phone: string }, context: z.RefinementCtx): Phone {
  if (!isPhoneCallingCode(region)) {
    context.addIssue({ code: 'custom', path: ['region'], message: 'is no international dialling code' });
    return z.NEVER;
  }
  const read = readPhone(region, phone);
  if (read) return read;
  context.addIssue({ code: 'custom', path: ['phone'], message: `has an impossible length for region ${region}` });
  return z.NEVER;
}

export const id = z
  .string({ error: 'must be a string' })
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, - or _');

export const password = bytes(6, 20).refine((value) => !/\s/u.test(value), 'must not contain white space');

export const nickname = bytes(1, 32);

export const verificationToken = bytes(1, 256);
