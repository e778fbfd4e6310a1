import { startApp, type Env, type TestApp } from '../support/app';
import { expectRefusal, inParallel, post } from '../support/calls';
import { connectTo, TestCluster } from '../support/clusters';
import { FaultProxy } from '../support/fault-proxy';
import { callGroup, createGroup } from '../support/groups';
import { hasProgram } from '../support/machine';
import { Pgbouncer } from '../support/pgbouncer';
import { expectOk, field, insertAndSignIn, insertPerson, signIn, type SignedInPerson } from '../support/people';
import { foldingClientOf, fullState, settledClient, sync } from '../support/sync';
import { until } from '../support/until';

let primary: TestCluster;
let standby: TestCluster;
let proxy: FaultProxy;
let pgbouncer: Pgbouncer | undefined;
let app: TestApp;
let ann: SignedInPerson;

afterEach(async () => {
  await app.close();
  await pgbouncer?.stop();
  pgbouncer = undefined;
  await proxy.close();
  await standby.remove();
  await primary.remove();
});

/** Starts the service with a standby, behind a proxy. `prepare` is run at the primary. */
async function start(env: Env = {}, ...prepare: string[]): Promise<void> {
  await startServers();
  for (const sql of prepare) await at(primary, sql);
  await startAt(primary.serviceUrl, proxy.url, env);
}

async function startServers(): Promise<void> {
  primary = await TestCluster.startCopy();
  standby = await primary.standby();
  proxy = await FaultProxy.start(standby.serviceUrl);
}

async function startAt(primaryUrl: string, standbyUrl: string, env: Env = {}): Promise<void> {
  app = await startApp({ DATABASE_REPLICA_URL: standbyUrl, ...env }, { databaseUrl: primaryUrl });
  ann = await insertAndSignIn(app);
  await rename('Ann');
  await untilStandbyIs('serving');
}

async function at(server: TestCluster, sql: string): Promise<void> {
  const client = await connectTo(server.url);
  await client.query(sql);
  await client.end();
}

async function untilStandbyIs(state: string): Promise<void> {
  await until(async () => {
    const answer = await app.api.get('/readyz');
    return answer.status === 200 && field(field(answer.body, 'result'), 'standby') === state;
  });
}

/** Waits until the standby has all that was written so far. */
async function untilCaughtUp(): Promise<void> {
  const client = await connectTo(primary.url);
  const { rows } = await client.query<{ lsn: string }>('SELECT pg_current_wal_lsn()::text AS lsn');
  await client.end();
  const there = await connectTo(standby.url);
  await until(async () => {
    const sql = 'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS "isThere"';
    return (await there.query<{ isThere: boolean }>(sql, [rows[0]?.lsn])).rows[0]?.isThere === true;
  });
  await there.end();
}

const rename = (nickname: string, { agent } = ann) => expectOk(agent.post('/user/set_nickname').send({ nickname }));
const nameInSync = async (person = ann) => field((await sync(person)).user, 'nickname');
const pauseReplay = async () => {
  await untilCaughtUp();
  await at(standby, 'SELECT pg_wal_replay_pause()');
};
const resumeReplay = () => at(standby, 'SELECT pg_wal_replay_resume()');
/** Returns what the log says of the standby, in order. */
const told = () =>
  app.logged().flatMap(({ msg, standby: state }) => {
    if (msg === 'the standby serves sync, exports and long lists') return ['serving'];
    return msg === 'the primary serves sync, exports and long lists' ? [state] : [];
  });

describe('with DATABASE_REPLICA_URL', () => {
  it('sync, export and lists of members read at the standby, and all else at the primary', async () => {
    await start();
    const bob = await insertPerson(app);
    const group = await createGroup(app, [ann]);
    const members = async () => field((await callGroup(ann, `${group}/members`)).body, 'result');
    const blocked = async () => field((await expectOk(ann.agent.post('/user/export'))).result, 'blacklist');
    await pauseReplay();
    await rename('Anna');
    await expectOk(ann.agent.post('/user/add_to_blacklist').send({ friendId: bob.id }));
    await app.db('group_members').insert({ group_id: group, member_id: bob.id, role: 1 });

    expect(await nameInSync()).toBe('Ann');
    expect(await blocked()).toEqual([]);
    expect(await members()).toHaveLength(1);
    expect(field((await expectOk(ann.agent.post(`/user/${ann.id}`))).result, 'nickname')).toBe('Anna');
    expect((await expectOk(ann.agent.post('/user/blacklist'))).result).toHaveLength(1);

    await resumeReplay();
    await until(async () => (await nameInSync()) === 'Anna');
    await untilCaughtUp();
    expect(await blocked()).toHaveLength(1);
    expect(await members()).toHaveLength(2);
  });

  it('a session that has ended is refused at once, while the standby does not know', async () => {
    await start();
    const other = await signIn(app, ann);
    await untilCaughtUp();
    await pauseReplay();
    await expectOk(other.agent.post('/user/logout'));
    expectRefusal(await post(other.agent, '/user/sync/0'), 401);
    expect(await nameInSync()).toBe('Ann');
  });

  (hasProgram('pgbouncer') === undefined ? it : it.skip)(
    'and PgBouncer before both servers, sync reads at the standby, also after a wait',
    async () => {
      await startServers();
      pgbouncer = await Pgbouncer.start({ primary: primary.serviceUrl, standby: proxy.url });
      await startAt(pgbouncer.urlOf('primary'), pgbouncer.urlOf('standby'), { DATABASE_PREPARE: 'off' });
      const { version } = await settledClient(ann);
      const waiting = post(ann.agent, `/user/sync/${version}`, { wait: 50 });
      await until(() => app.liveSyncs() === 1);
      await rename('Annie');
      expect((await expectOk(await waiting)).result).toMatchObject({ user: { nickname: 'Annie' } });
      await rename('Ann');
      await untilCaughtUp();
      await pauseReplay();
      await rename('Anna');
      expect(await nameInSync()).toBe('Ann');
      proxy.refuse();
      expect(await nameInSync()).toBe('Anna');
      proxy.resume();
      await resumeReplay();
      await untilStandbyIs('serving');
      expect(told()).toEqual(['serving', 'away', 'serving']);
    },
  );

  it('a client that synced at the primary converges at a standby that was behind', async () => {
    await start();
    const bob = await insertPerson(app);
    const client = foldingClientOf(ann);
    await pauseReplay();
    await rename('Anna');
    proxy.refuse();
    await untilStandbyIs('away');
    await client.sync();
    expect(field(client.state().user, 'nickname')).toBe('Anna');
    proxy.resume();
    await untilStandbyIs('serving');
    await client.sync();
    await expectOk(ann.agent.post('/user/add_to_blacklist').send({ friendId: bob.id }));
    await rename('Annie');
    await resumeReplay();
    await untilCaughtUp();
    await client.sync();
    expect(client.state()).toEqual(await fullState(ann));
    expect(field(client.state().user, 'nickname')).toBe('Annie');
  });

  // guard replica-5: a sync that waits does not look at a standby that lacks what was heard of
  // src/features/sync/sync-service.ts
  // - && time.horizon >= this.lives.seenUntil
  it('a sync that waits misses no change when a standby serves again that lacks it', async () => {
    await start();
    const { version } = await settledClient(ann);
    await pauseReplay();
    proxy.refuse();
    await untilStandbyIs('away');
    const waiting = () => post(ann.agent, `/user/sync/${version}`, { wait: 50 });
    const first = waiting();
    await until(() => app.liveSyncs() === 1);
    await rename('Anna');
    await expectOk(await first);
    proxy.resume();
    await untilStandbyIs('serving');
    expect((await expectOk(await waiting())).result).toMatchObject({ user: { nickname: 'Anna' } });
  });

  it('reads show each of 500 renames at once where commits wait for the standby', async () => {
    await start(
      {},
      `ALTER SYSTEM SET synchronous_standby_names = '*'`,
      'SELECT pg_reload_conf()',
      'ALTER ROLE accounts_service SET synchronous_commit = remote_apply',
    );
    const people = [ann, ...(await inParallel(4, () => insertAndSignIn(app)))];
    const renameOften = async (person: SignedInPerson) => {
      const old = [];
      for (let n = 0; n < 100; n += 1) {
        await rename(`Name ${n}`, person);
        const name = await nameInSync(person);
        if (name !== `Name ${n}`) old.push(name);
      }
      return old;
    };
    expect(await Promise.all(people.map(renameOften))).toEqual(people.map(() => []));
    expect(told()).toEqual(['serving']);
  });
});

describe('the primary serves, and one line each tells so and when the standby serves again', () => {
  // guard replica-1: a standby that is too far behind does not serve
  // src/database/replica.ts
  // - primary.position - standby.position > this.mostBehind
  // + this.mostBehind < 0
  it('beyond REPLICA_LAG_MAX', async () => {
    await start({ REPLICA_LAG_MAX: '1' });
    await pauseReplay();
    await rename('Anna');
    expect(await nameInSync()).toBe('Ann');
    await at(primary, `SELECT pg_logical_emit_message(true, 'test', repeat('x', 2 * 1024 * 1024))`);
    expect(await nameInSync()).toBe('Anna');
    await untilStandbyIs('behind');
    await resumeReplay();
    await untilStandbyIs('serving');
    expect(told()).toEqual(['serving', 'behind', 'serving']);
  });

  it('while the standby is away', async () => {
    await start();
    proxy.refuse();
    await rename('Anna');
    expect(await nameInSync()).toBe('Anna');
    await untilStandbyIs('away');
    proxy.resume();
    await untilStandbyIs('serving');
    expect(told()).toEqual(['serving', 'away', 'serving']);
  });

  it('while the standby has frozen', async () => {
    await start();
    await pauseReplay();
    await rename('Anna');
    proxy.stall();
    expect(await nameInSync()).toBe('Anna');
    await untilStandbyIs('away');
    proxy.resume();
    await untilStandbyIs('serving');
  });

  // guard replica-3: an answer whose statement failed at the standby goes on at the primary
  // src/database/replica.ts
  // -         server = primary;
  // -         return ask(primary);
  // + throw new Error('failed');
  it('the rest of an answer whose statement failed at the standby', async () => {
    await start();
    await nameInSync();
    await pauseReplay();
    await rename('Anna');
    proxy.stallAt('sync-rows');
    const answer = post(ann.agent, '/user/sync/0');
    await until(() => proxy.stalled);
    proxy.cut();
    proxy.resume();
    const { status, body } = await answer;
    expect(status).toBe(200);
    expect(field(field(field(body, 'result'), 'user'), 'nickname')).toBe('Anna');
  });

  // guard replica-4: an answer whose statement the standby cancels goes on at the primary
  // src/database/replica.ts
  // -         server = primary;
  // -         return ask(primary);
  // + throw new Error('failed');
  it('the rest of an answer that the standby cancels to apply a change', async () => {
    await start();
    await nameInSync();
    await untilCaughtUp();
    await at(standby, 'ALTER SYSTEM SET max_standby_streaming_delay = 0');
    await at(standby, 'SELECT pg_reload_conf()');
    const blocker = await connectTo(primary.url);
    const changer = await connectTo(primary.url);
    const inspector = await connectTo(standby.url);
    const there = async (value: string) =>
      (await inspector.query(`SELECT ${value} AS value`)).rows[0] as { value: unknown };
    const cancelled = async () =>
      Number((await there('(SELECT sum(confl_lock) FROM pg_stat_database_conflicts)')).value);
    const isLocked = async (lock: string) =>
      (await there(`EXISTS (SELECT FROM pg_locks WHERE ${lock})`)).value === true;
    // The standby locks what the primary does. Flushing sends it at once.
    const lock = (table: string) =>
      `BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE; SELECT pg_logical_emit_message(false, 'test', '', true)`;
    const isServedDespiteCancel = async () => {
      const before = await cancelled();
      await blocker.query(lock('group_members'));
      await until(() => isLocked(`mode = 'AccessExclusiveLock'`));
      let isAnswered = false;
      const answer = post(ann.agent, '/user/sync/0').finally(() => (isAnswered = true));
      // When it waits, it has a lock of users.
      await until(async () => isAnswered || (await isLocked('NOT granted')));
      await changer.query(lock('users'));
      await until(() => isLocked(`mode = 'AccessExclusiveLock' AND relation = 'users'::regclass`));
      await Promise.all([blocker.query('ROLLBACK'), changer.query('ROLLBACK')]);
      return (await answer).status === 200 && (await cancelled()) > before;
    };
    // On a slow machine a statement may have waited for its lock for a second, and was given up before it was cancelled.
    await until(isServedDespiteCancel);
    await Promise.all([blocker, changer, inspector].map((client) => client.end()));
    expect(told()).toEqual(['serving']);
  });

  // guard replica-2: a standby that was made a primary does not serve
  // src/database/replica.ts
  // - else if (!standby.isStandby)
  // + else if (standby.position < 0)
  it('once the standby has become a primary', async () => {
    await start();
    await standby.promote();
    await untilStandbyIs('not a standby');
    await rename('Anna');
    expect(await nameInSync()).toBe('Anna');
  });
});
