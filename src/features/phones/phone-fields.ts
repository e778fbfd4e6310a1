import { z } from 'zod';
import { isPhoneCallingCode, readPhone, type Phone } from './phone-number';

const MESSAGE = 'must be only digits, as a JSON number or a string';
// Both with the message: if a value nearly fits one of the two, zod reports that one's error.
const whole = z.number().int(MESSAGE).nonnegative(MESSAGE).meta({ format: 'int64' });

const written = z.string().regex(/^[0-9]{1,32}$/, MESSAGE);

function digits(id: string, description: string, example: number) {
  return z
    .union([whole, written], { error: MESSAGE })
    .meta({ id, description, examples: [example] })
    .transform(String)
    .refine((value) => /^[0-9]{1,32}$/.test(value), MESSAGE);
}

const REGION = 'An international dialling code.';
const PHONE = 'As it is dialled in the region: 07911… and 7911… in 44 are one phone.';
const region = digits('Region', REGION, 44);
const phone = digits('PhoneNumber', PHONE, 7911123456);

/** Turns `region` and `phone` into one phone. A refusal names the field at fault. */
export const phoneFields = z.object({ region, phone }).transform(toPhone);

/** Like `phoneFields`, but for a path, whose values are strings. */
export const phoneInPath = z
  .object({
    region: written.meta({ description: REGION, examples: ['44'] }),
    phone: written.meta({ description: PHONE, examples: ['7911123456'] }),
  })
  .transform(toPhone);

function toPhone({ region, phone }: { region: string; phone: string }, context: z.RefinementCtx): Phone {
  if (!isPhoneCallingCode(region)) {
    context.addIssue({ code: 'custom', path: ['region'], message: 'is not an international dialling code' });
    return z.NEVER;
  }
  const read = readPhone(region, phone);
  if (read) return read;
  context.addIssue({ code: 'custom', path: ['phone'], message: `is not a possible number of region ${region}` });
  return z.NEVER;
}
