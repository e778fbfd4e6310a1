import { z } from 'zod';
import { isPhoneCallingCode, readPhone, type Phone } from './phone-number';

const MESSAGE = 'must be digits, as a JSON number or a string';

// Each with the message: where one of the two is nearly right, zod tells what is wrong with that.
const digits = z
  .union([z.number().int(MESSAGE).nonnegative(MESSAGE), z.string().regex(/^[0-9]{1,32}$/, MESSAGE)], { error: MESSAGE })
  .transform(String)
  .refine((value) => /^[0-9]{1,32}$/.test(value), MESSAGE);

/** `region` and `phone` become one phone; a refusal names the field at fault. */
export const phoneFields = z.object({ region: digits, phone: digits }).transform(toPhone);

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
