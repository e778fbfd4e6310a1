import { cookieOf, expectBody, expectRefusal, post, sendRaw, type Answer } from '../../support/calls';
import { field, insertPerson, newPassword, verificationToken, type Person } from '../../support/people';
import { stage } from '../../support/stage';

const DAY = 86_400_000;

const { app, instance } = stage({ env: { TRUST_PROXY: 'loopback' } });

interface Listed {
  id: string;
  createdAt: string;
  renewedAt: string;
  ip: string;
  userAgent: string;
  current: boolean;
}

async function cookieFrom(person: Person, userAgent: string, ip = '203.0.113.7'): Promise<string> {
  const headers = { 'User-Agent': userAgent, 'X-Forwarded-For': ip };
  return cookieOf(await post(app.api, '/user/login', person, headers));
}

const call = (path: string, cookie: string, body?: object, on = app): Promise<Answer> =>
  sendRaw(on, path, { headers: { Cookie: cookie }, ...(body && { body: JSON.stringify(body) }) });

async function listed(cookie: string, on = app): Promise<Listed[]> {
  const { body } = await call('/user/sessions', cookie, undefined, on);
  return field(body, 'result') as Listed[];
}

async function idOf(cookie: string): Promise<string> {
  const current = (await listed(cookie)).find((session) => session.current);
  if (!current) throw new Error('the current session is not listed');
  return current.id;
}

describe('/user/sessions', () => {
  it("lists the user's sessions, the newest first, and marks the one that asks", async () => {
    const person = await insertPerson(app);
    const before = Date.now();
    await cookieFrom(person, 'Phone/1.0', '203.0.113.7');
    const laptop = await cookieFrom(person, 'Laptop/2.0', '2001:db8::1');
    const answer = await call('/user/sessions', laptop);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
    const session = { id: expect.stringMatching(/^[0-9a-f]{64}$/) as string, createdAt: time, renewedAt: time };
    expectBody(answer, {
      code: 200,
      result: [
        { ...session, ip: '2001:db8::1', userAgent: 'Laptop/2.0', current: true },
        { ...session, ip: '203.0.113.7', userAgent: 'Phone/1.0', current: false },
      ],
    });
    for (const { createdAt } of await listed(laptop)) {
      expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now());
    }
  });

  it('contains nothing that could be sent as a cookie', async () => {
    const cookie = await cookieFrom(await insertPerson(app), 'Phone/1.0');
    const sid =
      decodeURIComponent(cookie.split('=')[1] ?? '')
        .slice(2)
        .split('.')[0] ?? '';
    expect(sid.length).toBeGreaterThan(20);
    expect(JSON.stringify(await listed(cookie))).not.toContain(sid);
  });

  it("leaves out other users' sessions, expired ones, and those beyond SESSION_MAX_DAYS", async () => {
    const [person, other] = [await insertPerson(app), await insertPerson(app)];
    await cookieFrom(other, 'Other/1.0');
    await cookieFrom(person, 'Expired/1.0');
    await cookieFrom(person, 'Old/1.0');
    const cookie = await cookieFrom(person, 'Phone/1.0');
    const named = (userAgent: string) => app.db('session').whereRaw(`sess ->> 'userAgent' = ?`, [userAgent]);
    await named('Expired/1.0').update({ expire: new Date(Date.now() - 1_000) });
    await named('Old/1.0').update({
      sess: app.db.raw(`jsonb_set(sess::jsonb, '{createdAt}', to_jsonb(?::bigint))::json`, [Date.now() - 91 * DAY]),
    });
    expect((await listed(cookie)).map(({ userAgent }) => userAgent)).toEqual(['Phone/1.0']);
  });

  it('stores 200 characters of a user agent, and lists a session without one', async () => {
    const person = await insertPerson(app);
    const cookie = await cookieFrom(person, 'x'.repeat(1_000));
    await sendRaw(app, '/user/login', { body: JSON.stringify(person) });
    expect((await listed(cookie)).map(({ userAgent }) => userAgent)).toEqual(['', 'x'.repeat(200)]);
  });
});

/** Inserts sessions of a person, each a second older than the one before. */
async function insertSessions({ id }: Person, count: number): Promise<void> {
  await app.db.raw(
    `INSERT INTO session (sid, sess, expire)
     SELECT 'old-' || ? || n,
            json_build_object('userId', ?::text, 'credentialsVersion', 0, 'createdAt', ?::bigint - n * 1000),
            now() + interval '1 day'
       FROM generate_series(1, ?::integer) n`,
    [id, id, Date.now(), count],
  );
}

const countOf = async ({ id }: Person) => (await app.db('session').whereRaw(`sess ->> 'userId' = ?`, [id])).length;

describe('many sessions of one user', () => {
  // guard own-sessions-4: a user has at most 50 sessions
  // src/features/sessions/sessions-repository.ts
  // - OFFSET ${MOST_SESSIONS - 1}
  // + OFFSET 1000000
  it('are limited to 50: a login ends the oldest', async () => {
    const person = await insertPerson(app);
    await insertSessions(person, 60);
    const cookie = await cookieFrom(person, 'Phone/1.0');
    expect(await listed(cookie)).toHaveLength(50);
    expect(await countOf(person)).toBe(50);
    const kept = await app.db('session').whereLike('sid', `old-${person.id}%`).pluck('sid');
    expect(kept).toContain(`old-${person.id}49`);
    expect(kept).not.toContain(`old-${person.id}50`);
  });

  // guard own-sessions-5: a reset deletes at most as many rows as fit into a transaction
  // src/features/sessions/sessions-repository.ts
  // - [userId]).limit(MOST_ENDED).select('sid');
  // + [userId]).select('sid');
  it('are all ended by a reset at once, with little work', async () => {
    const person = await insertPerson(app);
    const thief = await cookieFrom(person, 'Thief/1.0');
    await insertSessions(person, 5_000);
    const body = { verification_token: await verificationToken(app, person), password: newPassword() };
    expectBody(await post(app.api, '/user/reset_password', body), { code: 200 });
    expectRefusal(await call('/user/groups', thief), 401);
    // The other rows are no longer valid. They go when they expire, or with the next logins.
    expect(await countOf(person)).toBeGreaterThanOrEqual(4_000);
    const owner = cookieOf(await post(app.api, '/user/login', { ...person, password: body.password }));
    expect(await listed(owner)).toHaveLength(1);
  });

  // guard own-sessions-2: a session is worth nothing under another password
  // src/features/sessions/live-session.ts
  // - AND credentials_version = (sess ->> 'credentialsVersion')::integer
  it('are refused under another password, and work again under their own', async () => {
    const person = await insertPerson(app);
    const cookie = await cookieFrom(person, 'Phone/1.0');
    await app.db('users').where({ id: person.id }).increment('credentials_version', 1);
    expectRefusal(await call('/user/groups', cookie), 401);
    await app.db('users').where({ id: person.id }).decrement('credentials_version', 1);
    expect((await call('/user/groups', cookie)).status).toBe(200);
  });

  // guard own-sessions-3: a session of a closed account is worth nothing
  // src/features/sessions/live-session.ts
  // - AND expire > now() AND closed_at IS NULL
  // + AND expire > now()
  it('are refused when the account is closed', async () => {
    const person = await insertPerson(app);
    const cookie = await cookieFrom(person, 'Phone/1.0');
    await app.db('users').where({ id: person.id }).update({ closed_at: app.db.fn.now() });
    expectRefusal(await call('/user/groups', cookie), 401);
  });
});

describe('/user/sessions/check', () => {
  const isSignedIn = async (headers: Record<string, string>) => {
    const answer = await sendRaw(app, '/user/sessions/check', { headers });
    return answer.status === 200 ? field(answer.body, 'result') : answer.status;
  };

  it('tells whether the session of the request is valid, and is not a 401', async () => {
    const Cookie = await cookieFrom(await insertPerson(app), 'Phone/1.0');
    const Authorization = `Bearer ${decodeURIComponent(Cookie).slice('sid=s:'.length)}`;
    for (const headers of [{ Cookie }, { Authorization }]) expect(await isSignedIn(headers)).toBe(true);
    for (const headers of [{}, { Cookie: `${Cookie}x` }, { Cookie, Authorization: `${Authorization}x` }])
      expect(await isSignedIn(headers)).toBe(false);
    expectBody(await call('/user/logout', Cookie), { code: 200 });
    expect(await isSignedIn({ Cookie })).toBe(false);
  });

  // guard own-sessions-7: a failure of the database does not look like the end of a session
  // src/features/sessions/session-cookies.ts
  // - if (error instanceof NotSignedIn) return false;
  // + return false;
  it('is a failure when the database fails', async () => {
    const Cookie = await cookieFrom(await insertPerson(app), 'Phone/1.0');
    await app.db.raw('ALTER TABLE session RENAME TO elsewhere');
    try {
      expect(await isSignedIn({ Cookie })).toBe(500);
    } finally {
      await app.db.raw('ALTER TABLE elsewhere RENAME TO session');
    }
    expect(await isSignedIn({ Cookie })).toBe(true);
  });
});

describe('/user/end_session', () => {
  // guard own-sessions-6: a user can end one of their own sessions
  // src/features/sessions/sessions-repository.ts
  // - return this.ownById(userId, id).delete();
  // + return this.ownById(userId, id).update({ expire: new Date(1e13) });
  it("ends one of the user's sessions on every instance at once, and keeps the others", async () => {
    const person = await insertPerson(app);
    const [lost, kept] = [await cookieFrom(person, 'Lost/1.0'), await cookieFrom(person, 'Kept/1.0')];
    const other = await instance();
    expectBody(await call('/user/end_session', kept, { id: await idOf(lost) }), { code: 200 });
    for (const on of [app, other]) {
      expectRefusal(await call('/user/groups', lost, undefined, on), 401);
      expect((await listed(kept, on)).map(({ userAgent }) => userAgent)).toEqual(['Kept/1.0']);
    }
  });

  it('answers 200 when it is repeated or names an unknown id', async () => {
    const person = await insertPerson(app);
    const [lost, kept] = [await cookieFrom(person, 'Lost/1.0'), await cookieFrom(person, 'Kept/1.0')];
    const id = await idOf(lost);
    for (let count = 0; count < 2; count += 1) expectBody(await call('/user/end_session', kept, { id }), { code: 200 });
    expectBody(await call('/user/end_session', kept, { id: 'nothing' }), { code: 200 });
    expect(await listed(kept)).toHaveLength(1);
  });

  it('ends the session that asks when it is named', async () => {
    const cookie = await cookieFrom(await insertPerson(app), 'Phone/1.0');
    expectBody(await call('/user/end_session', cookie, { id: await idOf(cookie) }), { code: 200 });
    expectRefusal(await call('/user/groups', cookie), 401);
  });

  // guard own-sessions-1: no user can end a session of another
  // src/features/sessions/sessions-repository.ts
  // - .whereRaw(`${OWNER} = ? AND ${PUBLIC_ID} = ?`, [userId, id])
  // + .whereRaw(`${PUBLIC_ID} = ?`, [id])
  it('never ends a session of another user', async () => {
    const [victim, stranger] = [await insertPerson(app), await insertPerson(app)];
    const [theirs, own] = [await cookieFrom(victim, 'Phone/1.0'), await cookieFrom(stranger, 'Phone/1.0')];
    expectBody(await call('/user/end_session', own, { id: await idOf(theirs) }), { code: 200 });
    expect((await call('/user/groups', theirs)).status).toBe(200);
  });

  it.each([{}, { id: 5 }, { id: '' }, { id: 'a b' }, { id: 'x'.repeat(65) }, { id: null }])(
    'answers 400 to %j, naming id',
    async (body) => {
      const cookie = await cookieFrom(await insertPerson(app), 'Phone/1.0');
      expectRefusal(await call('/user/end_session', cookie, body), 400, 'id');
    },
  );

  it('needs a session, like /user/sessions', async () => {
    for (const path of ['/user/sessions', '/user/end_session'])
      expectRefusal(await sendRaw(app, path, { body: '{"id":"x"}' }), 401);
  });
});
