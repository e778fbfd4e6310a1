// Contestants that answer "whose session is this, and what is known of a user?", each with its own requests and tables.
import { answerTo, asked, person, post, signature, SQL } from './people.mjs';
import { startOwn, startService } from './processes.mjs';
import { seedAccounts } from './seed.mjs';

const PARSE_HEADERS = { 'X-Parse-Application-Id': 'bench', 'Content-Type': 'application/json' };
const PARSE_ID_LENGTH = 10;

/** Returns a contestant that reads the service's tables. `forged` is a request with another session's signature. */
function ours(name, title, start, cookie = {}) {
  const request = (bench, index, signed = {}) =>
    post(bench, index, `/user/${asked(index, bench.options.users).id}`, { ...cookie, ...signed });
  return {
    name,
    title,
    start,
    request,
    forged: (bench, index) => request(bench, index, { madeFor: index + 1 }),
    isRight: (bench, index, { result }) => {
      const { id, nickname } = asked(index, bench.options.users);
      const portraitUri = `https://img.example.com/${id}.png`;
      return JSON.stringify(result) === JSON.stringify({ id, nickname, portraitUri });
    },
    isRefused: (status) => status === 401,
  };
}

export const floor = ours('floor', 'floor: node:http and pg, two statements', (bench) => startOwn(bench, 'floor'));
export const service = ours('service', 'this service', startService);

/** The service as an earlier commit built it. */
export const earlier = (commit) =>
  ours(`service at ${commit}`, `this service at ${commit}`, (bench, options) =>
    startService(bench, { folder: bench.options.earlier.folder, ...options }),
  );

export const limit = ours('limit', 'limit: one joined statement on two pipelined connections', (bench, options) =>
  startOwn(bench, 'floor', { args: ['limit'], ...options }),
);

export const others = [
  ours('floor-joined', 'floor with one joined statement', (bench) => startOwn(bench, 'floor', { args: ['joined'] })),
  ours('naive', 'Express and Knex as in tutorials', startNaive, { cookieName: 'connect.sid' }),
  {
    name: 'better-auth',
    title: 'better-auth, get-session',
    timesSlower: 8,
    start: (bench) => startOther(bench, 'better-auth', betterAuthRows),
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
    timesSlower: 10,
    start: (bench) => startOther(bench, 'parse-server', parseRows),
    request: (_bench, index) => parseRequest(`r:${person(index).sid}`),
    // Its tokens are not signed.
    forged: () => parseRequest('r:nobody'),
    isRight: (_bench, index, body) => body.objectId === person(index).id.slice(0, PARSE_ID_LENGTH),
    isRefused: (status, body) => status >= 400 && body.code === 209,
  },
];

/** Checks answers before speed is measured: several sessions get the right user, and a forged one is refused. */
export async function checkAnswers(bench, reader, server, indexes) {
  for (const index of indexes) {
    const { status, body } = await answerTo(server, reader.request(bench, index));
    if (status !== 200 || !reader.isRight(bench, index, body))
      throw new Error(`${reader.name} gives a wrong answer: ${status} ${JSON.stringify(body)}`);
  }
  const { status, body } = await answerTo(server, reader.forged(bench, indexes[0]));
  if (!reader.isRefused(status, body)) throw new Error(`${reader.name} takes a forged session: ${status}`);
}

/**
 * It writes sessions with every request. It has accounts of its own, so that the tables of the others stay unchanged.
 */
async function startNaive(bench) {
  await seedAccounts(bench.postgres, 'naive', bench.options.users);
  return startOwn(bench, 'naive', { database: 'naive' });
}

async function startOther(bench, name, rows) {
  const database = name.replace('-', '_');
  await bench.postgres.create(database);
  const server = await startOwn(bench, name, { database });
  await bench.postgres.fill(database, await rows(`generate_series(0, ${bench.options.users - 1}) AS n`, server));
  return server;
}

function betterAuthRequest(bench, index, madeFor) {
  const cookie = encodeURIComponent(`${person(index).sid}.${signature(person(madeFor).sid, bench.secret)}=`);
  return { method: 'GET', path: '/api/auth/get-session', headers: { Cookie: `better-auth.session_token=${cookie}` } };
}

function betterAuthRows(numbers) {
  const id = SQL.id('n');
  return [
    `INSERT INTO "user" (id, name, email, "emailVerified", "createdAt", "updatedAt")
     SELECT ${id}, ${SQL.nickname('n')}, ${id} || '@example.com', true, now(), now() FROM ${numbers}`,
    `INSERT INTO session (id, token, "userId", "expiresAt", "createdAt", "updatedAt")
     SELECT ${SQL.sid('n')}, ${SQL.sid('n')}, ${id}, now() + interval '7 days', now(), now() FROM ${numbers}`,
  ];
}

function parseRequest(token) {
  return { method: 'GET', path: '/parse/users/me', headers: { ...PARSE_HEADERS, 'X-Parse-Session-Token': token } };
}

/** Signs the first user up; the others are copies of its rows, with ids of their own. */
async function parseRows(numbers, server) {
  const body = JSON.stringify({ username: 'first', password: 'opensesame', email: 'first@example.com' });
  const signUp = { method: 'POST', path: '/parse/users', headers: PARSE_HEADERS, body };
  const first = `'${(await answerTo(server, signUp)).body.objectId}'`;
  const id = `left(${SQL.id('n')}, ${PARSE_ID_LENGTH})`;
  const copies = (table, owner, changes) =>
    `INSERT INTO "${table}" SELECT copy.*
       FROM (SELECT to_jsonb(made)::text AS row FROM "${table}" made WHERE "${owner}" = ${first}) model, ${numbers},
            jsonb_populate_record(NULL::"${table}",
              replace(row, ${first}, ${id})::jsonb || jsonb_build_object(${changes})) copy`;
  return [
    copies('_User', 'objectId', `'username', ${id}, 'email', ${id} || '@example.com'`),
    copies('_Session', 'user', `'objectId', ${id}, 'sessionToken', 'r:' || ${SQL.sid('n')}`),
    'CREATE INDEX IF NOT EXISTS session_token ON "_Session" ("sessionToken")',
  ];
}
