import { z } from 'zod';
import { isPhoneCallingCode, readPhone, type Phone } from './phone-number';

const digits = z
  .union([z.number().int().nonnegative(), z.string().regex(/^[0-9]{1,32}$/)], {
    error: 'must be digits, as a JSON number or a string',
  })
  .transform(String)
  .refine((value) => /^[0-9]{1,32}$/.test(value), 'must be digits, as a JSON number or a string');

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
