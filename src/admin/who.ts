import { readInternational, type Phone } from '../features/phones/phone-number';
import { OperatorError, type Context } from './command';
import type { FoundUser } from './support-repository';

export function phoneIn(text: string): Phone {
  const phone = readInternational(text);
  if (!phone)
    throw new OperatorError(`${text}: is not a phone number: write it with + and its country code, as +447911123456`);
  return phone;
}

/** Finds the account of an id or of a phone in international form. */
export async function userIn({ reads, support }: Context, text: string): Promise<FoundUser> {
  const id = text.startsWith('+') ? await reads.userIdOf(phoneIn(text).number) : text;
  const user = id === undefined ? undefined : await support.user(id);
  if (user) return user;
  if (text.startsWith('+')) throw new OperatorError(`${text}: no account has this phone`);
  throw new OperatorError(`${text}: no account has this id${/^\d{6,}$/.test(text) ? ' (a phone begins with +)' : ''}`);
}

/** Like `userIn`, but refuses a closed account, which nothing can change. */
export async function openUserIn(context: Context, text: string): Promise<FoundUser> {
  const user = await userIn(context, text);
  if (user.state === 'closed') throw new OperatorError(`${text}: the account is closed`);
  return user;
}
