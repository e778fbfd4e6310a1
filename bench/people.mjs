import { createHash } from 'node:crypto';

export const PASSWORD = 'opensesame';
export const REGION = 44;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FIRST_PHONE = 7_400_000_000;

/** The seeded user of a number: always the same one, so that every process knows all of them. */
export function person(index) {
  const digits = String(FIRST_PHONE + index);
  return {
    id: [...digest(`user ${index}`).subarray(0, 12)].map((byte) => ALPHABET[byte % ALPHABET.length]).join(''),
    nickname: `User ${index}`,
    digits,
    phone: `+${REGION}${digits}`,
    sid: digest(`session ${index}`).toString('base64url').slice(0, 32),
  };
}

/** `count` numbers of users, spread evenly over all, in an order that jumps about. */
export function spread(users, count) {
  const some = Math.min(users, count);
  const stride = 7_919;
  return Array.from({ length: some }, (_, index) => Math.floor((((index * stride) % some) * users) / some));
}

/** Clients behind a proxy each have an address of their own, which limits count. */
export function addressOf(index) {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
}

function digest(text) {
  return createHash('sha256').update(text).digest();
}
