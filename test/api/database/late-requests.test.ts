import { expectBody, expectRefusal, post, postUntilServed, type Answer } from '../../support/calls';
import { Gate } from '../../support/gate';
import { expectOk, type SignedInPerson } from '../../support/people';
import { stage } from '../../support/stage';
import { cookieFor } from '../../support/streams';
import { LOCK_USER, untilWaiting, whileHeld } from '../../support/waiting';

const { app, ann, bob } = stage({ people: 2, deadlineMs: 1_000 });

const LOCK_BLACKLIST = 'SELECT FROM blacklist WHERE user_id = ? FOR UPDATE';
const HELD = 'late requests';

const late = (answer: Answer) => expectRefusal(answer, 503, '', 'took_too_long');
const rename = ({ agent }: SignedInPerson, nickname: string) => ({
  once: () => post(agent, '/user/set_nickname', { nickname }),
  untilServed: () => postUntilServed(agent, '/user/set_nickname', { nickname }),
});
const nicknameOf = ({ id }: SignedInPerson) => app.db('users').where({ id }).pluck('nickname');

/** Sends a call of Ann, whose client leaves at this moment. */
async function leftAt(path: string, input: object, moment: () => Promise<void>): Promise<void> {
  const headers = { 'Content-Type': 'application/json', ...(await cookieFor(app, ann)) };
  const left = new AbortController();
  const body = JSON.stringify(input);
  const gone = fetch(app.url + path, { method: 'POST', headers, body, signal: left.signal });
  await moment();
  left.abort();
  await gone.catch(() => undefined);
}

/** Runs a call that waits for a lock until it has been answered as late. */
async function lateAt(sql: string, values: string[], call: () => Promise<Answer>): Promise<void> {
  let answer: Promise<Answer> | undefined;
  await whileHeld(
    app,
    sql,
    values,
    () => (answer = call()),
    async () => late((await answer) as Answer),
  );
}

describe('a request that was answered as late', () => {
  // guard late-requests-1: after its deadline no statement of a request begins
  // src/database/pool.ts
  // - if (query.sql !== ROLLBACK) mayBegin();
  it.each([
    ['goes on with no transaction', LOCK_USER],
    ['does not commit one', LOCK_BLACKLIST],
  ])('%s', async (_, lock) => {
    const [user, friend] = [ann.id, bob.id];
    await app.db('blacklist').insert({ user_id: user, friend_id: friend, status: false });
    await lateAt(lock, [user], () => post(ann.agent, '/user/add_to_blacklist', { friendId: friend }));
    expectBody(await rename(ann, 'Next').untilServed(), { code: 200 });
    expect(await app.db('blacklist').where({ user_id: user }).pluck('status')).toEqual([false]);
  });

  // guard late-requests-3: a request whose session was found after its deadline begins nothing
  // src/http/operations-router.ts
  // - if (req.res && isTooLate(req.res)) attempt.giveUp();
  it('begins nothing where its session was found late', async () => {
    await lateAt('LOCK TABLE session', [], () => post(ann.agent, '/user/add_to_blacklist', { friendId: bob.id }));
    for (const name of ['Next', 'Last']) expectBody(await rename(ann, name).untilServed(), { code: 200 });
    expect(await app.db('blacklist').where({ user_id: ann.id })).toEqual([]);
  });

  it.each(['rate_limits', 'session'])('begins no session while %s is locked', async (table) => {
    const { region, phone, password } = ann;
    const login = [ann.agent, '/user/login', { region, phone, password }] as const;
    await lateAt(`LOCK TABLE ${table}`, [], () => post(...login));
    await expectOk(await postUntilServed(...login));
    // The second one has replaced the first one.
    expect(await app.db('security_events').where({ user_id: ann.id, event: 'logged_in' })).toHaveLength(1);
  });

  // guard late-requests-5: a request whose client has left has a deadline too
  // src/http/deadline.ts
  // - req.lateAt = request.since + mostMs;
  // + req.lateAt = Infinity;
  it('begins nothing where its client left before', async () => {
    const gate = new Gate();
    try {
      app.beforeOperation = (path) => (path === '/user/login' ? Promise.resolve() : gate.wait());
      await leftAt('/user/add_to_blacklist', { friendId: bob.id }, () => gate.reached);
      // Its deadline is later.
      late(await rename(ann, 'Next').once());
    } finally {
      gate.open();
      app.beforeOperation = () => Promise.resolve();
    }
    expectBody(await rename(ann, 'Last').untilServed(), { code: 200 });
    expect(await app.db('blacklist').where({ user_id: ann.id })).toEqual([]);
  });

  // guard late-requests-4: a write whose client has left lets no later one of its user overtake it
  // src/http/deadline.ts
  // - req.attempt?.abandon(req.lateAt);
  // guard late-requests-2: a late write that has begun lets no later one of its user overtake it
  // src/http/operations-router.ts
  // - (unblock = writes.block(userId))
  // + undefined
  it('lets no write of its user begin before its own has ended', async () => {
    await app.db.raw(`
      CREATE SEQUENCE turns;
      CREATE FUNCTION hold_first() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          IF nextval('turns') = 1 THEN PERFORM pg_advisory_xact_lock(hashtext('${HELD}')); END IF;
          RETURN NULL;
        END $$;
      CREATE TRIGGER hold_first BEFORE UPDATE ON users FOR EACH STATEMENT EXECUTE FUNCTION hold_first();`);
    try {
      await app.db.transaction(async (trx) => {
        await trx.raw('SELECT pg_advisory_xact_lock(hashtext(?))', HELD);
        const first = rename(ann, 'First').once();
        await untilWaiting(app.db, 1);
        late(await first);
        expectBody(await rename(bob, 'Other').untilServed(), { code: 200 });
        late(await rename(ann, 'Next').once());
      });
      // Like it, but its client leaves before it is late.
      await app.db.raw(`SELECT setval('turns', 1, false)`);
      await app.db.transaction(async (trx) => {
        await trx.raw('SELECT pg_advisory_xact_lock(hashtext(?))', HELD);
        await leftAt('/user/set_nickname', { nickname: 'Left' }, () => untilWaiting(app.db, 1));
        late(await rename(ann, 'Next').once());
      });
      expectBody(await rename(ann, 'Last').untilServed(), { code: 200 });
      expect(await nicknameOf(ann)).toEqual(['Last']);
    } finally {
      await app.db.raw('DROP FUNCTION hold_first CASCADE; DROP SEQUENCE turns');
    }
  });
});
