import { readPhone, type Phone } from '../features/phones/phone-number';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { Mistake, type Workplace } from './command';
import type { FoundUser } from './support-repository';

/** Reads a number in international form, such as +447911123456. */
export function phoneIn(text: string): Phone {
  const digits = text.replace(/[\s()-]/g, '');
  const parsed = digits.startsWith('+') ? parsePhoneNumberFromString(digits) : undefined;
  const phone = parsed && readPhone(parsed.countryCallingCode, parsed.nationalNumber);
  if (!phone)
    throw new Mistake(`${text}: is not a phone number: write it with + and its country code, as +447911123456`);
  return phone;
}

/** Finds the account of an id or of a phone in international form. */
export async function userIn({ services, support }: Workplace, text: string): Promise<FoundUser> {
  const id = text.startsWith('+') ? await services.operators.userIdOf(phoneIn(text).number) : text;
  const user = id === undefined ? undefined : await support.user(id);
  if (!user) throw new Mistake(`${text}: no account has this ${text.startsWith('+') ? 'phone' : 'id'}`);
  return user;
}
