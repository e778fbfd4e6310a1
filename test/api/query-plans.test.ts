import knex from 'knex';
import { Client } from 'pg';
import { SyncRepository } from '../../src/features/sync/sync-repository';
import { ProfilesRepository } from '../../src/features/users/profiles-repository';
import { SessionReader } from '../../src/http/session-reader';
import type { Place, Reads } from '../../src/reads';
import { startApp, type TestApp } from '../support/app';

/** Compiles, and is connected to nothing. */
const compiler = knex({ client: 'pg' });

let app: TestApp;
let client: Client;
beforeAll(async () => {
  app = await startApp();
  client = new Client(app.databaseUrl);
  await client.connect();
  await seed();
  // As the shared connections have it: one plan for all values.
  await client.query('SET plan_cache_mode = force_generic_plan');
}, 120_000);
afterAll(async () => {
  await client.end();
  await app.close();
});

/** Enough for a sequential scan to be no planner's choice but a mistake of ours. */
async function seed(): Promise<void> {
  await client.query(`
    INSERT INTO users (id, nickname) SELECT 'user' || n, 'Ann' FROM generate_series(1, 20000) n;
    INSERT INTO phones (phone, user_id) SELECT '+4474' || (10000000 + n), 'user' || n FROM generate_series(1, 20000) n;
    INSERT INTO session (sid, sess, expire)
      SELECT 'sid' || n, json_build_object('userId', 'user' || n), now() + interval '1 day' FROM generate_series(1, 20000) n;
    INSERT INTO groups (id, name, creator_id) SELECT 'group' || n, 'Hiking', 'user1' FROM generate_series(1, 2000) n;
    INSERT INTO group_members (group_id, member_id)
      SELECT 'group' || (1 + (n % 2000)), 'user' || (1 + n * 7 % 20000) FROM generate_series(1, 40000) n ON CONFLICT DO NOTHING;
    INSERT INTO friendships (user_id, friend_id, status)
      SELECT 'user' || n, 'user' || (n % 20000 + 1), 20 FROM generate_series(1, 20000) n;
    INSERT INTO blacklist (user_id, friend_id) SELECT 'user' || n, 'user' || (n % 20000 + 1) FROM generate_series(1, 20000) n;
    INSERT INTO rate_limits SELECT 'login_failures_p:+4474' || n, 1, 10, now() + interval '1 day' FROM generate_series(1, 20000) n;
    INSERT INTO verification_codes (phone, code_hmac, expires_at)
      SELECT '+4474' || (10000000 + n), '', now() FROM generate_series(1, 20000) n;
    INSERT INTO verification_tokens SELECT sha256(n::text::bytea), '+4474', '44', now() + interval '1 day' FROM generate_series(1, 20000) n;
    INSERT INTO sms_traffic SELECT r::text, sms_traffic_slot(now() - n * interval '10 minutes'), 1, 1
      FROM generate_series(1, 20) r, generate_series(1, 1000) n;`);
  await client.query('ANALYZE');
}

interface Statement {
  sql: string;
  bindings: readonly unknown[];
}

/** The statements that the service prepares, as it would give them to PostgreSQL. */
function prepared(): Map<string, Statement> {
  const found = new Map<string, Statement>();
  const place: Place = { run: async () => [] };
  const recording: Pick<Reads, 'prepare' | 'place'> = {
    prepare: (name, query) => {
      found.set(name, query.toSQL().toNative());
      return async () => [];
    },
    place: () => place,
  };
  const reads = recording as Reads;
  new SessionReader(reads, compiler, 'sid', ['secret']);
  new ProfilesRepository(reads, compiler);
  new SyncRepository(reads, compiler);
  return found;
}

const VALUES: Record<string, unknown> = {
  ...{ ':sid': 'sid77', ':id': 'user77', ':phone': '+447410000077', ':userId': 'user77', ':since': 1 },
};

async function planOf({ sql, bindings }: Statement): Promise<string> {
  const values = bindings.map((value) => VALUES[String(value)] ?? value);
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** What the other frequent statements look up, and by what. */
const OTHERS: [string, string, unknown[]][] = [
  ['the account of a login', 'SELECT * FROM users WHERE closed_at IS NULL AND id = $1', ['user77']],
  ['a bucket', 'SELECT * FROM rate_limits WHERE key = ANY ($1::text[])', [['login_failures_p:+447477']]],
  ['the newest code', 'SELECT id FROM verification_codes WHERE phone = $1 ORDER BY id DESC LIMIT 1', ['+447410000077']],
  ['a token', 'SELECT phone FROM verification_tokens WHERE token_hash = $1', [Buffer.from('x')]],
  ['traffic', `SELECT sum(sent) FROM sms_traffic WHERE region = $1 AND slot > now() - interval '15 days'`, ['7']],
  ['own sessions', `SELECT sid FROM session WHERE sess ->> 'userId' = $1`, ['user77']],
  ['own groups', 'SELECT group_id FROM group_members WHERE member_id = $1 AND NOT is_deleted', ['user77']],
];

describe('the plan of every frequent read', () => {
  it.each([...prepared().keys()])('%s has no sequential scan', async (name) => {
    const statement = prepared().get(name);
    if (!statement) throw new Error('it is gone');
    const plan = await planOf(statement);
    expect(plan).not.toMatch(/Seq Scan/);
    if (name !== 'sync-horizon') expect(plan).toMatch(/Index/);
  });

  it.each(OTHERS)('%s: no sequential scan', async (_name, sql, bindings) => {
    expect(await planOf({ sql, bindings })).not.toMatch(/Seq Scan/);
  });

  it('would show one', async () => {
    expect(await planOf({ sql: `SELECT * FROM users WHERE nickname = $1`, bindings: ['Ann'] })).toMatch(/Seq Scan/);
  });
});
