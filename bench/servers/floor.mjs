// The floor: the least that a service on Node and PostgreSQL needs to answer POST /user/:id for a session's owner. With
// the argument "joined", one statement reads session and user, instead of two. With "limit" that statement runs on two
// pipelined connections, without waiting for the answer before: nothing on Node is known to be faster.
import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import { signature } from '../people.mjs';
import { listenJson, newPipelinedClient, newPool, SESSION_SECRET } from './own.mjs';

const COOKIE = '__Host-sid=s%3A';
const [way] = process.argv.slice(2);
const query = way === 'limit' ? pipelined(2) : pooled();
const profile = 'u.id, u.nickname, u.portrait_uri AS "portraitUri"';
const statements = {
  session: 'SELECT sess FROM session WHERE sid = $1 AND expire > now()',
  user: `SELECT ${profile} FROM users u WHERE u.id = $1 AND u.closed_at IS NULL`,
  both: `SELECT s.sess ->> 'userId' AS "sessionOf", ${profile}
           FROM session s LEFT JOIN users u ON u.id = $2 AND u.closed_at IS NULL
          WHERE s.sid = $1 AND s.expire > now()`,
};

function pooled() {
  const pool = newPool();
  return (asked) => pool.query(asked);
}

function pipelined(count) {
  const clients = Array.from({ length: count }, newPipelinedClient);
  let turn = 0;
  return (asked) => clients[(turn = (turn + 1) % count)].query(asked);
}

async function first(name, values) {
  const { rows } = await query({ name, text: statements[name], values });
  return rows[0];
}

async function inTwo(sid, id) {
  const session = await first('session', [sid]);
  return session?.sess.userId !== undefined && { user: await first('user', [id]) };
}

async function inOne(sid, id) {
  const { sessionOf, ...user } = (await first('both', [sid, id])) ?? {};
  return sessionOf !== undefined && { user: user.id === null ? undefined : user };
}

const find = way === undefined ? inTwo : inOne;

/** Returns the session id of a Cookie header, or undefined when it is not signed with the secret. */
function sessionId(header) {
  const found = header?.split('; ').find((part) => part.startsWith(COOKIE));
  if (found === undefined) return undefined;
  const [value, given = ''] = decodeURIComponent(found.slice(COOKIE.length)).split('.');
  const right = Buffer.from(signature(value, SESSION_SECRET));
  const tried = Buffer.from(given);
  return tried.length === right.length && timingSafeEqual(tried, right) ? value : undefined;
}

listenJson(async (req) => {
  const sid = sessionId(req.headers.cookie);
  const found = sid === undefined ? undefined : await find(sid, req.url.slice('/user/'.length));
  if (!found) return { code: 401 };
  return found.user ? { code: 200, result: found.user } : { code: 404 };
});
