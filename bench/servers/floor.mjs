// The floor: what no service on Node and PostgreSQL can do without, to answer POST /user/:id for a session's owner.
// With the argument "joined", session and user are read by one statement instead of two.
import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import { signature } from '../people.mjs';
import { listenJson, newPool, SESSION_SECRET } from './own.mjs';

const COOKIE = '__Host-sid=s%3A';
const pool = newPool();
const profile = 'u.id, u.nickname, u.portrait_uri AS "portraitUri"';
const statements = {
  session: 'SELECT sess FROM session WHERE sid = $1 AND expire > now()',
  user: `SELECT ${profile} FROM users u WHERE u.id = $1 AND u.closed_at IS NULL`,
  both: `SELECT s.sess ->> 'userId' AS "sessionOf", ${profile}
           FROM session s LEFT JOIN users u ON u.id = $2 AND u.closed_at IS NULL
          WHERE s.sid = $1 AND s.expire > now()`,
};

async function first(name, values) {
  const { rows } = await pool.query({ name, text: statements[name], values });
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

const find = process.argv[2] === 'joined' ? inOne : inTwo;

/** The session id of a Cookie header, or undefined when nobody who knows the secret has signed it. */
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
