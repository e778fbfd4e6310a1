import { z } from 'zod';
import { isPhoneCallingCode, readPhone, type Phone } from './phone-number';

const MESSAGE = 'must be digits, as a JSON number or a string';
// Each with the message: where one of the two is nearly right, zod tells what is wrong with that.
const whole = z.number().int(MESSAGE).nonnegative(MESSAGE).meta({ format: 'int64' });

function digits(description: string, example: number) {
  return z
    .union([whole, z.string().regex(/^[0-9]{1,32}$/, MESSAGE)], { error: MESSAGE })
    .meta({ description, examples: [example] })
    .transform(String)
    .refine((value) => /^[0-9]{1,32}$/.test(value), MESSAGE);
}

const region = digits('An international dialling code.', 44);
const phone = digits('As it is dialled in the region: 07911… and 7911… in 44 are one phone.', 7911123456);

/** `region` and `phone` become one phone; a refusal names the field at fault. */
export const phoneFields = z.object({ region, phone }).transform(toPhone);

function toPhone({ region, phone }: { region: string; phone: string }, context: z.RefinementCtx): Phone {
  if (!isPhoneCallingCode(region)) {
    context.addIssue({ code: 'custom', path: ['region'], message: 'is no international dialling code' });
    return z.NEVER;
  }
  const read = readPhone(region, phone);
  if (read) return read;
  context.addIssue({ code: 'custom', path: ['phone'], message: `is no possible number of region ${region}` });
  return z.NEVER;
}
