// Who uses the contestants, and what they send.
import { createHash, createHmac } from 'node:crypto';

export const PASSWORD = 'opensesame';
export const REGION = 44;
/** What a good answer holds: a wrong code or password is answered with status 200 too. */
export const GOOD = '"code":200';
const FIRST_PHONE = 7_400_000_000;

const md5 = (text) => createHash('md5').update(text).digest('hex');

/** The seeded user of a number: always the same one, so that every process knows all of them. */
export function person(index) {
  const id = md5(`user ${index}`).slice(0, 12);
  return { id, nickname: `User ${index}`, phone: String(FIRST_PHONE + index), sid: md5(`session ${index}`) };
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

export const asked = (index, users) => person((index + 1) % users);

/** POST /user/:id of many users, so that no answer is another one's again soon. */
export function readRequests(bench, count = 5_000, users = bench.options.users) {
  return spread(users, count).map((index) => post(bench, index, `/user/${asked(index, users).id}`));
}

/** How many users have friends and groups, the first ones: a number that the group size divides, and no stride but the first. */
export const circleOf = (users) => users / 5;

export function syncRequests(bench, version, count, users = bench.options.users) {
  return spread(circleOf(users), count).map((index) => post(bench, index, `/user/sync/${version}`));
}

/** A POST with a user's session. It is a forged one when it bears the signature of somebody else's. */
export function post(bench, index, path, { cookieName = '__Host-sid', madeFor = index } = {}) {
  const cookie = encodeURIComponent(`s:${person(index).sid}.${signature(person(madeFor).sid, bench.secret)}`);
  return { method: 'POST', path, headers: { ...proxied(index), Cookie: `${cookieName}=${cookie}` } };
}

export function postPhone(index, path, phone, rest = {}) {
  const headers = { ...proxied(index), 'Content-Type': 'application/json' };
  return { method: 'POST', path, headers, body: JSON.stringify({ region: REGION, phone, ...rest }) };
}

/** As express-session signs; better-auth keeps the padding. */
export function signature(value, secret) {
  return createHmac('sha256', secret).update(value).digest('base64').replace(/=+$/, '');
}

export async function answerTo({ url }, { path, ...request }) {
  const response = await globalThis.fetch(`${url}${path}`, request);
  return { status: response.status, body: await response.json() };
}

/** From an address of the client's own, which limits count, and over HTTPS as far as the proxy in front tells. */
function proxied(index) {
  const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  return { 'X-Forwarded-Proto': 'https', 'X-Forwarded-For': address };
}
