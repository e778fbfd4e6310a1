import { randomBytes } from 'node:crypto';
import { migrate } from '../../src/database/migrations';
import { startApp, type TestApp } from '../support/app';
import { expectRefusal, inParallel, post } from '../support/calls';
import { connectTo, TestCluster } from '../support/clusters';
import { runMove, startMove } from '../support/move';
import { expectOk, insertAndSignIn, insertPerson, newPhone, type SignedInPerson } from '../support/people';
import { cookieFor } from '../support/streams';
import { settledClient } from '../support/sync';
import { until } from '../support/until';

let cluster: TestCluster;
let app: TestApp;
let ann: SignedInPerson;
let [from, to, forService] = ['', '', ''];
let count = 0;

beforeAll(async () => {
  cluster = await TestCluster.startCopy({ wal_level: 'logical' });
});
afterAll(() => cluster.remove());

beforeEach(async () => {
  count += 1;
  const named = (name: string, url = cluster.url) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  for (const name of [`old${count}`, `new${count}`]) await at(cluster.url, `CREATE DATABASE ${name}`);
  [from, to, forService] = [named(`old${count}`), named(`new${count}`), named(`new${count}`, cluster.serviceUrl)];
  await migrate(from);
  app = await startApp({}, { databaseUrl: named(`old${count}`, cluster.serviceUrl) });
  ann = await insertAndSignIn(app, 'Ann');
});
afterEach(async () => {
  await app.close();
  await at(cluster.url, 'SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots');
});

async function at<Row>(url: string, sql: string, values: unknown[] = []): Promise<Row[]> {
  const client = await connectTo(url);
  try {
    await client.query('SET default_transaction_read_only = off');
    return (await client.query(sql, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Returns all rows of all tables as texts, but those that belong to a database. */
async function everythingIn(url: string): Promise<Record<string, string[]>> {
  const tables = await at<{ name: string }>(
    url,
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
        AND relname !~ '^(knex_|sync_)'`,
  );
  const found: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows = await at<{ row: string }>(url, `SELECT t::text AS row FROM "${name}" AS t ORDER BY 1`);
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

async function interruptOnceItFollows(): Promise<void> {
  const moving = startMove(from, to);
  await until(() => moving.said().includes('The new database follows.'));
  moving.interrupt();
  await moving.end;
}

describe('npm run move', () => {
  // guard move-1: nothing is written after the last change that is moved
  // scripts/operate/moving/old-database.ts
  // - (await this.db.query(END_OLDER, [rows[0]?.now])).rows.length > 0 ||
  // guard move-2: the last changes are moved, too
  // scripts/operate/move.ts
  // - while (await pass(old, next));
  // guard move-3: a large value that is not in the log stays
  // scripts/operate/moving/change-log.ts
  // - isPartial: before?.values === undefined || before.isPartial
  // + isPartial: false
  // guard move-4: a row whose key has changed does not stay under the old one
  // scripts/operate/moving/change-log.ts
  // - if (message.tag === 'update' && message.key) put(message.key);
  // guard move-5: no trigger changes what is moved
  // scripts/operate/moving/new-database.ts
  // - SET LOCAL session_replication_role = replica
  // + SET LOCAL session_replication_role = origin
  it('copies every row as it is at the end, while all is changed', async () => {
    const bob = await insertPerson(app, 'Bob');
    await app.db('friendships').insert({ user_id: ann.id, friend_id: bob.id, status: 20, display_name: 'bob "\\, {}' });
    await app.db('blacklist').insert({ user_id: ann.id, friend_id: 'somebody' });
    let isOver = false;
    const writing = write(() => isOver);
    await interruptOnceItFollows();
    const { said, code } = await runMove(from, to, '--cut-over');
    isOver = true;
    expect({ said, code }).toMatchObject({ code: 0 });
    expect(await writing).toBeGreaterThan(20);
    const moved = await everythingIn(to);
    expect(moved).toEqual(await everythingIn(from));
    for (const name of ['users', 'phones', 'session', 'captchas', 'friendships', 'security_events', 'rate_limits'])
      expect(moved[name]).not.toEqual([]);
  });

  it('cuts over while another database of the server writes without end', async () => {
    let isOver = false;
    // Together they write more than a megabyte while the log is looked at.
    const writing = inParallel(3, async () => {
      const other = await connectTo(cluster.url);
      while (!isOver) await other.query(`SELECT pg_logical_emit_message(false, 'other', repeat('x', 8000000))`);
      await other.end();
    });
    const moving = startMove(from, to, '--cut-over');
    const end = moving.end.finally(() => (isOver = true));
    await until(() => isOver || moving.said().includes('Behind by'));
    isOver = true;
    const { said, code } = await end;
    expect({ said, code }).toMatchObject({ said: expect.not.stringContaining('Behind by') as string, code: 0 });
    await writing;
  });

  /** Writes, changes and removes rows of all kinds until it is over, and returns how often. Each failure ends a connection. */
  async function write(isOver: () => boolean): Promise<number> {
    let rounds = 0;
    while (!isOver()) {
      const writer = await connectTo(from);
      try {
        for (; !isOver(); rounds += 1) await round((sql, values) => writer.query(sql, values), rounds);
      } catch (error) {
        if (!/terminat|read-only|connection error/.test(String(error))) throw error;
        await writer.end().catch(() => undefined);
      }
    }
    return rounds;
  }

  async function round(query: (sql: string, values?: unknown[]) => Promise<unknown>, number: number): Promise<void> {
    const [id, earlier] = [`captcha-${number}`, `captcha-${number - 5}`];
    await query('UPDATE users SET nickname = $1 WHERE id = $2', [`Ann ${number}`, ann.id]);
    // A value of this size is not in the log when another column is changed.
    await query(`INSERT INTO captchas (id, answer, png, expires_at) VALUES ($1, 'x', $2, now() + interval '1 day')`, [
      id,
      randomBytes(20_000),
    ]);
    await query(`UPDATE captchas SET answer = 'y' WHERE id = $1`, [earlier]);
    await query('DELETE FROM captchas WHERE id = $1', [`captcha-${number - 10}`]);
    // A key changes.
    await query(`UPDATE phones SET phone = '+4474' || lpad($1, 8, '0') WHERE user_id = $2`, [String(number), ann.id]);
    await query('BEGIN');
    await query(`INSERT INTO session (sid, sess, expire) VALUES ($1, '{"userId": "gone"}', now())`, [`sid-${number}`]);
    await query(`UPDATE session SET sess = '{"userId": "null"}' WHERE sid = $1`, [`sid-${number - 1}`]);
    await query(number % 2 ? 'COMMIT' : 'ROLLBACK');
    await query(`INSERT INTO rate_limits (key, used, amount, resets_at) VALUES ('all', 1, 1, now() + interval '1 hour')
                   ON CONFLICT (key) DO UPDATE SET used = rate_limits.used + 1`);
    await query(
      `INSERT INTO security_events (event, user_id, ip, user_agent, request_id) VALUES ('logged_in', $1, '', '', '')`,
      [ann.id],
    );
  }

  // guard move-6: the service cannot use the old database
  // scripts/operate/moving/connect.ts
  // - CONNECTION LIMIT ${isAllowed ? -1 : 0}
  // + CONNECTION LIMIT -1
  // guard move-7: versions of the new database are above those of the old one
  // scripts/operate/moving/new-database.ts
  // - 'INSERT INTO sync_epoch (base, system_identifier) SELECT $1, system_identifier FROM pg_control_system()',
  // + 'SELECT $1::bigint',
  // guard move-8: ids of the new database do not repeat those of the old one
  // scripts/operate/moving/new-database.ts
  // - max(${escapeIdentifier(column)})
  // + 1
  it('closes the old database to the service: sessions, clients and ids go on in the new one', async () => {
    await interruptOnceItFollows();
    await putClock('1 hour');
    const bob = await insertPerson(app, 'Bob');
    const client = await settledClient(ann);
    const session = await cookieFor(app, ann);
    const { said, code } = await runMove(from, to, '--cut-over');
    expect({ said, code }).toMatchObject({ code: 0 });
    for (const path of ['/user/sync/0', '/user/groups']) expectRefusal(await post(ann.agent, path), 503);

    await putClock('0');
    const moved = await startApp({}, { databaseUrl: forService, dataDir: app.dataDir });
    try {
      const asked = async (path: string, body: object = {}) => expectOk(await post(moved.api, path, body, session));
      await asked('/user/add_to_blacklist', { friendId: bob.id });
      const { result } = await asked(`/user/sync/${client.version}`);
      expect(result).toMatchObject({ blacklist: [{ friendId: bob.id }] });
      const phone = newPhone();
      await expectOk(moved.api.post('/user/send_code').send(phone));
      await until(async () => (await moved.db('security_events').where({ event: 'code_sent' })).length === 1);
    } finally {
      await moved.close();
    }
  });

  /** Puts the clock of the new server back by this interval. */
  async function putClock(back: string): Promise<void> {
    await at(
      to,
      `CREATE OR REPLACE FUNCTION sync_clock() RETURNS bigint LANGUAGE sql VOLATILE AS $$
         SELECT (extract(epoch FROM clock_timestamp() - interval '${back}') * 1000000)::bigint $$`,
    );
  }

  it('with --cancel, lets the service use the old database again', async () => {
    await runMove(from, to, '--cut-over');
    expect(await runMove(from, to, '--cancel')).toMatchObject({ code: 0 });
    await until(async () => (await ann.agent.post('/user/set_nickname').send({ nickname: 'Annabel' })).status === 200);
    expect(await at(from, 'SELECT FROM pg_replication_slots WHERE database = current_database()')).toEqual([]);
    expect(await at(from, 'SELECT FROM pg_publication')).toEqual([]);
  });

  // guard move-9: nothing is moved to a database in use
  // scripts/operate/moving/new-database.ts
  // - if (users.rows.length > 0)
  // + if (false)
  it('does not write to a database that has users', async () => {
    await runMove(from, to, '--cut-over');
    const { said, code } = await runMove(from, to, '--cut-over');
    expect(said).toContain('Cannot move: the new database has users already: move to an empty one');
    expect(code).toBe(1);
  });

  it('keeps the service away from the new database until all is there', async () => {
    await interruptOnceItFollows();
    await expect(at(forService, 'SELECT 1')).rejects.toThrow('too many connections for database');
  });
});
