// The floor: what no service on Node and PostgreSQL can do without, to answer POST /user/:id for a session's owner.
// With the argument "joined", session and user are read by one statement instead of two.
import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';
import pg from 'pg';
import { sessionId } from '../cookies.mjs';

const { DATABASE_URL, SESSION_SECRET, PORT } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
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
  return session?.sess.userId === undefined ? undefined : { user: await first('user', [id]) };
}

async function inOne(sid, id) {
  const { sessionOf, ...user } = (await first('both', [sid, id])) ?? {};
  return sessionOf === undefined ? undefined : { user: user.id === null ? undefined : user };
}

const find = process.argv[2] === 'joined' ? inOne : inTwo;

async function answer(req, res) {
  const sid = sessionId(req.headers.cookie, '__Host-sid', SESSION_SECRET);
  const found = sid === undefined ? undefined : await find(sid, req.url.slice('/user/'.length));
  if (!found) send(res, 401, { code: 401 });
  else if (!found.user) send(res, 404, { code: 404 });
  else send(res, 200, { code: 200, result: found.user });
}

function send(res, status, value) {
  const body = JSON.stringify(value);
  res.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  });
  res.end(body);
}

createServer((req, res) => void answer(req, res).catch(() => send(res, 500, { code: 500 }))).listen(PORT, '127.0.0.1');
