// Who answers "whose session is this, and what is known of a user?", each with its own way to ask and its own tables.
import { createHmac } from 'node:crypto';
import { person, SQL } from './people.mjs';
import { asked, readRequest, startOwn, startService } from './service.mjs';

const PARSE_HEADERS = { 'X-Parse-Application-Id': 'bench', 'Content-Type': 'application/json' };

/** Ours, and those that read our tables. `forged` is a request with another session's signature. */
const ours = (name, title, start, cookie = {}) => ({
  name,
  title,
  start,
  prepare: async () => undefined,
  request: (bench, index) => readRequest(bench, index, cookie),
  forged: (bench, index) => readRequest(bench, index, { ...cookie, madeFor: index + 1 }),
  isRight: (bench, index, body) => isProfile(body.result, person(asked(bench, index))),
  isRefused: (status) => status === 401,
});

export const floor = ours('floor', 'floor: node:http and pg, two statements', (bench) => startOwn(bench, 'floor'));

export const service = ours('service', 'this service', (bench) => startService(bench));

const startNaive = (bench) => startOwn(bench, 'naive', { database: 'naive' });

export const others = [
  ours('floor-joined', 'floor with one joined statement', (bench) => startOwn(bench, 'floor', { args: ['joined'] })),
  {
    ...ours('naive', 'Express and Knex as in tutorials', startNaive, { cookieName: 'connect.sid' }),
    // Its sessions are written with every request: in a copy, so that the others' tables stay as they are.
    beforeStart: (bench) => bench.postgres.create('naive', 'bench'),
  },
  {
    name: 'better-auth',
    title: 'better-auth, get-session',
    beforeStart: (bench) => bench.postgres.create('better_auth'),
    start: (bench) => startOwn(bench, 'better-auth', { database: 'better_auth' }),
    prepare: (bench) =>
      bench.postgres.connected('better_auth', (client) => seedBetterAuth(client, bench.options.users)),
    request: (bench, index) => betterAuthRequest(bench, index, index),
    forged: (bench, index) => betterAuthRequest(bench, index, index + 1),
    // Without a session it answers 200 and null.
    expected: '"user"',
    isRight: (_bench, index, body) => body?.user?.id === person(index).id,
    isRefused: (_status, body) => body === null,
  },
  {
    name: 'parse-server',
    title: 'Parse Server, users/me',
    beforeStart: (bench) => bench.postgres.create('parse'),
    start: (bench) => startOwn(bench, 'parse-server', { database: 'parse' }),
    prepare: (bench, server) =>
      bench.postgres.connected('parse', (client) => seedParse(client, server.url, bench.options.users)),
    request: (_bench, index) => parseRequest(`r:${person(index).sid}`),
    // Its tokens bear no signature.
    forged: () => parseRequest('r:nobody'),
    isRight: (_bench, index, body) => body.objectId === person(index).id.slice(0, PARSE_ID),
    isRefused: (status, body) => status >= 400 && body.code === 209,
  },
];

/** Speed is worth nothing before the answers are right: some sessions are tried, and a forged one. */
export async function checkAnswers(bench, reader, { url }, indexes) {
  for (const index of indexes) {
    const { status, body } = await answerTo(url, reader.request(bench, index));
    if (status !== 200 || !reader.isRight(bench, index, body))
      throw new Error(`${reader.name} gives a wrong answer: ${status} ${JSON.stringify(body)}`);
  }
  const { status, body } = await answerTo(url, reader.forged(bench, indexes[0]));
  if (!reader.isRefused(status, body)) throw new Error(`${reader.name} takes a forged session: ${status}`);
}

export async function answerTo(url, { method, path, headers, body }) {
  const response = await globalThis.fetch(`${url}${path}`, { method, headers, body });
  return { status: response.status, body: await response.json() };
}

function isProfile(found, { id, nickname }) {
  const portraitUri = `https://img.example.com/${id}.png`;
  return JSON.stringify(found) === JSON.stringify({ id, nickname, portraitUri });
}

function betterAuthRequest(bench, index, madeFor) {
  const signature = createHmac('sha256', bench.secret).update(person(madeFor).sid).digest('base64');
  const cookie = encodeURIComponent(`${person(index).sid}.${signature}`);
  return { method: 'GET', path: '/api/auth/get-session', headers: { Cookie: `better-auth.session_token=${cookie}` } };
}

async function seedBetterAuth(client, users) {
  const id = SQL.id('n');
  await client.query(
    `INSERT INTO "user" (id, name, email, "emailVerified", "createdAt", "updatedAt")
     SELECT ${id}, ${SQL.nickname('n')}, ${id} || '@example.com', true, now(), now()
       FROM generate_series(0, ${users - 1}) AS n`,
  );
  await client.query(
    `INSERT INTO session (id, token, "userId", "expiresAt", "createdAt", "updatedAt")
     SELECT ${SQL.sid('n')}, ${SQL.sid('n')}, ${id}, now() + interval '7 days', now(), now()
       FROM generate_series(0, ${users - 1}) AS n`,
  );
  await client.query('VACUUM ANALYZE');
}

/** Characters of an id of Parse Server's. */
const PARSE_ID = 10;

function parseRequest(token) {
  return { method: 'GET', path: '/parse/users/me', headers: { ...PARSE_HEADERS, 'X-Parse-Session-Token': token } };
}

/** The first user signs up; the others are copies of its rows, with ids of their own. */
async function seedParse(client, url, users) {
  const body = JSON.stringify({ username: 'first', password: 'opensesame', email: 'first@example.com' });
  const signUp = { method: 'POST', path: '/parse/users', headers: PARSE_HEADERS, body };
  const { objectId: first } = (await answerTo(url, signUp)).body;
  const id = `left(${SQL.id('n')}, ${PARSE_ID})`;
  const copies = (table, owner, changes) =>
    `INSERT INTO "${table}" SELECT copy.*
       FROM (SELECT to_jsonb(made)::text AS row FROM "${table}" made WHERE "${owner}" = $1) model,
            generate_series(0, ${users - 1}) AS n,
            jsonb_populate_record(NULL::"${table}", replace(row, $1, ${id})::jsonb || jsonb_build_object(${changes})) copy`;
  await client.query(copies('_User', 'objectId', `'username', ${id}, 'email', ${id} || '@example.com'`), [first]);
  await client.query(copies('_Session', 'user', `'objectId', ${id}, 'sessionToken', 'r:' || ${SQL.sid('n')}`), [first]);
  await client.query('CREATE INDEX IF NOT EXISTS session_token ON "_Session" ("sessionToken")');
  await client.query('VACUUM ANALYZE');
}
