import { createHash } from 'node:crypto';

export const PASSWORD = 'opensesame';
export const REGION = 44;

const FIRST_PHONE = 7_400_000_000;

/** The seeded user of a number: always the same one, so that every process knows all of them. */
export function person(index) {
  const id = md5(`user ${index}`).slice(0, 12);
  return { id, nickname: `User ${index}`, digits: String(FIRST_PHONE + index), sid: md5(`session ${index}`) };
}

/** The same in SQL, for a column that holds the number. */
export const SQL = {
  id: (index) => `left(md5('user ' || ${index}), 12)`,
  nickname: (index) => `'User ' || ${index}`,
  phone: (index) => `'+${REGION}' || ${FIRST_PHONE} + ${index}`,
  sid: (index) => `md5('session ' || ${index})`,
};

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

function md5(text) {
  return createHash('md5').update(text).digest('hex');
}
