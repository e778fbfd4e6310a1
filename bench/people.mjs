// The seeded users of all contestants, and the requests that they send.
import { createHash, createHmac } from 'node:crypto';

export const PASSWORD = 'opensesame';
export const REGION = 44;
/** A text in each good answer: a wrong code or password is answered with status 200 too. */
export const GOOD = '"code":200';
const FIRST_PHONE = 7_400_000_000;

const md5 = (text) => createHash('md5').update(text).digest('hex');

/** Returns the seeded user of a number. It is always the same one, so that every process knows all users. */
export function person(index) {
  const id = md5(`user ${index}`).slice(0, 12);
  return { id, nickname: `User ${index}`, phone: String(FIRST_PHONE + index), sid: md5(`session ${index}`) };
}

/** Fields of `person` in SQL, for a column that holds the number. */
export const SQL = {
  id: (index) => `left(md5('user ' || ${index}), 12)`,
  nickname: (index) => `'User ' || ${index}`,
  phone: (index) => `'+${REGION}' || ${FIRST_PHONE} + ${index}`,
  sid: (index) => `md5('session ' || ${index})`,
};

/** Returns `count` numbers of users, spread evenly over all, in an order that jumps about. */
export function spread(users, count) {
  const some = Math.min(users, count);
  const stride = 7_919;
  return Array.from({ length: some }, (_, index) => Math.floor((((index * stride) % some) * users) / some));
}

export const asked = (index, users) => person((index + 1) % users);

/** Returns requests for POST /user/:id of many users, so that an answer does not soon come again. */
export function readRequests(bench, count = 5_000, users = bench.options.users) {
  return spread(users, count).map((index) => post(bench, index, `/user/${asked(index, users).id}`));
}

/**
 * Returns how many users have friends and groups; these are the first ones. The group size divides this number; no
 * stride except the first does.
 */
export const circleOf = (users) => users / 5;

export function syncRequests(bench, version, count, users = bench.options.users) {
  return spread(circleOf(users), count).map((index) => post(bench, index, `/user/sync/${version}`));
}

/**
 * Returns a POST with a user's session. The session is forged when `madeFor` is another user, whose signature it bears.
 */
export function post(bench, index, path, { cookieName = '__Host-sid', madeFor = index } = {}) {
  const cookie = encodeURIComponent(`s:${person(index).sid}.${signature(person(madeFor).sid, bench.secret)}`);
  return { method: 'POST', path, headers: { ...proxied(index), Cookie: `${cookieName}=${cookie}` } };
}

export function postPhone(index, path, phone, rest = {}) {
  const headers = { ...proxied(index), 'Content-Type': 'application/json' };
  return { method: 'POST', path, headers, body: JSON.stringify({ region: REGION, phone, ...rest }) };
}

/** Signs like express-session; better-auth keeps the padding. */
export function signature(value, secret) {
  return createHmac('sha256', secret).update(value).digest('base64').replace(/=+$/, '');
}

export async function answerTo({ url }, { path, ...request }) {
  const response = await globalThis.fetch(`${url}${path}`, request);
  return { status: response.status, body: await response.json() };
}

/** Returns headers as a proxy sends them: HTTPS, and an address of each client's own, which limits count. */
function proxied(index) {
  const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  return { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': address };
}
