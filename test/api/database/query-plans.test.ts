import { Client } from 'pg';
import { silent } from '../../support/silent';
import { openConnections } from '../../../src/database/connections';
import { PAGE } from '../../../src/database/pages';
import { LimitsRepository } from '../../../src/features/limits/limits-repository';
import { statements } from '../../support/all-statements';
import { post } from '../../support/calls';
import { PNG } from '../../support/images';
import { field, insertAndSignIn, newPhone, registerAndSignIn, signIn, verificationToken } from '../../support/people';
import { stage } from '../../support/stage';

let client: Client;
let asked: Map<string, unknown[]>;
afterAll(() => client.end());
const { app } = stage();
beforeAll(async () => {
  client = new Client(app.ownerUrl);
  await client.connect();
  await seed();
  asked = await askOnPool();
  // Like the shared connections: one plan for all values.
  await client.query('SET plan_cache_mode = force_generic_plan');
});

/** Inserts enough rows that a sequential scan would be a mistake of the service, not the planner's choice. */
async function seed(): Promise<void> {
  await client.query(`
    INSERT INTO users (id, nickname) SELECT 'user' || n, 'Ann' FROM generate_series(1, 20000) n;
    INSERT INTO phones (phone, user_id) SELECT '+4474' || (10000000 + n), 'user' || n FROM generate_series(1, 20000) n;
    INSERT INTO session (sid, sess, expire)
      SELECT 'sid' || n, json_build_object('userId', 'user' || n), now() + interval '1 day' FROM generate_series(1, 20000) n;
    INSERT INTO groups (id, name, creator_id) SELECT 'group' || n, 'Hiking', 'user' || n FROM generate_series(1, 2000) n;
    INSERT INTO group_dismissals SELECT 'group' || n FROM generate_series(2, 2000) n;
    INSERT INTO group_members (group_id, member_id)
      SELECT 'group' || (1 + (n % 2000)), 'user' || (1 + n * 7 % 20000) FROM generate_series(1, 40000) n ON CONFLICT DO NOTHING;
    INSERT INTO account_closings SELECT 'user' || n FROM generate_series(2, 20000) n;
    INSERT INTO friendships (user_id, friend_id, status)
      SELECT 'user' || n, 'user' || (n % 20000 + 1), 20 FROM generate_series(1, 20000) n;
    INSERT INTO blacklist (user_id, friend_id) SELECT 'user' || n, 'user' || (n % 20000 + 1) FROM generate_series(1, 20000) n;
    INSERT INTO rate_limits SELECT 'login_failures_p:+4474' || n, 1, 10, now() + interval '1 day' FROM generate_series(1, 20000) n;
    INSERT INTO verification_codes (phone, code_hmac, expires_at)
      SELECT '+4474' || (10000000 + n), '', now() FROM generate_series(1, 20000) n;
    INSERT INTO verification_tokens SELECT sha256(n::text::bytea), '+4474' || (10000000 + n), '44', now() + interval '1 day' FROM generate_series(1, 20000) n;
    INSERT INTO sms_traffic SELECT r::text, sms_traffic_slot(now() - n * interval '10 minutes'), 1, 1
      FROM generate_series(1, 20) r, generate_series(1, 1000) n;
    INSERT INTO sms_networks SELECT '203.0.' || r || '.0/24', sms_traffic_slot(now() - n * interval '10 minutes'), 1, 1
      FROM generate_series(1, 200) r, generate_series(1, 100) n;
    INSERT INTO captchas SELECT 'captcha' || n, 'x', '', '', now() + interval '1 day' FROM generate_series(1, 20000) n;
    INSERT INTO messaging_tokens SELECT 'user' || n, 'app', 'x', 'Ann', '' FROM generate_series(1, 20000) n;
    INSERT INTO event_readers SELECT 'reader' || n, 0, 0, '' FROM generate_series(1, 20000) n;
    INSERT INTO messaging_turns (subject, due_at)
      SELECT 'user' || n, now() + n * interval '1 second' FROM generate_series(1, 20000) n;
    INSERT INTO messaging_changes SELECT 'user' || n, 'user.updated', '', '', n, 1, now() FROM generate_series(1, 20000) n;
    INSERT INTO webhooks (id, url, kinds, secret, version, number, subject)
      SELECT 'wh' || n, '', '{}', '', 0, 0, '' FROM generate_series(1, 20000) n;
    INSERT INTO number_claims
      SELECT '+4474' || (10000000 + n), 'user' || n, 0, now(), now() + n * interval '1 minute' FROM generate_series(1, 20000) n;
    INSERT INTO images (user_id, name, bytes, due_at)
      SELECT 'user' || n, 'a.png', 100, now() + n * interval '1 minute' FROM generate_series(1, 20000) n;
    INSERT INTO admin_tokens (hash, name, scope, created_by, expires_at, revoked_at)
      SELECT sha256(n::text::bytea), 'ci' || n, 'read', 'olga', now() + interval '90 days',
             CASE WHEN n > 100 THEN now() END FROM generate_series(1, 20000) n;
    INSERT INTO security_events (at, event, user_id, ip, user_agent, request_id)
      SELECT now() - n * interval '1 minute', 'logged_in', 'user' || (1 + n % 1000), '203.0.113.7', '', 'request' || n
        FROM generate_series(1, 20000) n;
    INSERT INTO groups (id, name, creator_id) VALUES ('crowd', 'Crowd', 'user1');
    INSERT INTO group_members (group_id, member_id) SELECT 'crowd', 'user' || n FROM generate_series(1, 10000) n;`);
  // The service sweeps some of these rows during the test, and autovacuum must not find the tables small then.
  await client.query(`
    DO $$ DECLARE name regclass; BEGIN
      FOR name IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP
        EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', name);
      END LOOP;
    END $$`);
  await client.query('ANALYZE');
}

interface Statement {
  sql: string;
  bindings: readonly unknown[];
}

async function planOf(sql: string, bindings: readonly unknown[] = []): Promise<string> {
  const explain = bindings.length > 0 ? 'EXPLAIN' : 'EXPLAIN (GENERIC_PLAN)';
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`${explain} ${sql}`, [...bindings]);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** Returns the tables that a plan reads completely. */
function scannedIn(plan: string): string[] {
  return [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table = '']) => table);
}

/** Returns the statements of the service on its pool, with values, while a client uses every operation. */
async function askOnPool(): Promise<Map<string, unknown[]>> {
  const found = new Map<string, unknown[]>();
  const note = ({ sql, bindings }: Statement) => {
    const isData = /^\s*(with|select|insert|update|delete)/i.test(sql);
    // The first of several pages.
    if (isData && !found.has(sql)) found.set(sql, [...bindings]);
  };
  app.serviceDb.on('query', note);
  await useEverything();
  app.serviceDb.off('query', note);
  return found;
}

async function useEverything(): Promise<void> {
  const ann = await registerAndSignIn(app);
  const bob = await insertAndSignIn(app);
  const { agent, region, phone, password } = ann;
  const call = (path: string, body?: object) => post(agent, `/user/${path}`, body);
  const [guest, dan] = [app.agent(), newPhone()];
  await call('check_phone_available', { region, phone });
  await call('login', { region, phone, password: `${password}no` });
  await call('set_nickname', { nickname: 'Anna' });
  await call('add_to_blacklist', { friendId: bob.id });
  await call('remove_from_blacklist', { friendId: bob.id });
  await client.query(
    `INSERT INTO blacklist (user_id, friend_id) SELECT $1, 'user' || n FROM generate_series(1, 5000) n`,
    [ann.id],
  );
  await client.query('ANALYZE blacklist');
  await call('blacklist');
  await call('groups');
  const friendship = (path: string, body?: object) => post(agent, `/friendship/${path}`, body);
  await friendship('invite', { friendId: bob.id });
  await friendship('agree', { friendId: bob.id });
  await friendship('ignore', { friendId: bob.id });
  await friendship('set_display_name', { friendId: bob.id, displayName: 'Bobby' });
  await friendship(`${bob.id}/profile`);
  await friendship('delete', { friendId: bob.id });
  await client.query(
    `INSERT INTO friendships (user_id, friend_id, status) SELECT $1, 'user' || n, 20 FROM generate_series(1, 5000) n`,
    [ann.id],
  );
  await client.query('ANALYZE friendships');
  await friendship('all');
  await client.query(`INSERT INTO group_members (group_id, member_id) VALUES ('crowd', $1)`, [ann.id]);
  const group = (path: string, body?: object) => post(agent, `/group/${path}`, body);
  await client.query(
    `INSERT INTO friendships (user_id, friend_id, status) VALUES ('user1', $1, 20), ('user2', $1, 20)`,
    [ann.id],
  );
  const { body: made } = await group('create', { name: 'Hikers', memberIds: ['user1'] });
  const groupId = String(field(field(made, 'result'), 'id'));
  await group('add', { groupId, memberIds: ['user2'] });
  for (const path of ['kick', 'set_manager', 'remove_manager']) await group(path, { groupId, memberIds: ['user1'] });
  await group('transfer', { groupId, userId: ann.id });
  await group('rename', { groupId, name: 'Climbers' });
  await group('set_display_name', { groupId, displayName: 'Anna' });
  await group('join', { groupId: 'crowd' });
  await group('join', { groupId: 'group1' });
  await group('crowd');
  await group('crowd/members');
  await group('quit', { groupId: 'crowd' });
  await group('dismiss', { groupId });
  await client.query(`UPDATE group_members SET is_deleted = false WHERE group_id = 'crowd' AND member_id = $1`, [
    ann.id,
  ]);
  await call('sync/0');
  await call(`find/${bob.region}/${bob.phone}`);
  await call('get_token');
  const { body: granted } = await call('get_image_token');
  const imageToken = String(field(field(granted, 'result'), 'token'));
  await app.api.post('/').field('token', imageToken).attach('file', PNG, 'portrait.png');
  await call('set_portrait_uri', { portraitUri: 'https://images.example/p.png' });
  const { body } = await call('get_sms_img_code');
  const verifyId = field(field(body, 'result'), 'verifyId');
  await app.api.get(`/captcha/${String(verifyId)}.png`);
  await call('send_code', { region, phone, verifyId, verifyCode: 'wrong' });
  await call('sessions');
  await call('change_password', { oldPassword: password, newPassword: `${password}x` });
  const token = await verificationToken(app, bob);
  await call('reset_password', { password, verification_token: token });
  for (const path of ['register_by_token', 'login_by_token', 'set_password']) {
    const body = { nickname: 'Dan', password, verification_token: await verificationToken(app, dan) };
    await post(guest, `/user/${path}`, body);
  }
  await call('verify_code', { region, phone, code: '000000' });
  await call('verify_code', { ...newPhone(), code: '000000' });
  await signIn(app, { ...ann, password: `${password}x` });
  await call('batch', { ids: [bob.id] });
  await call('set_findable', { findable: true });
  const proof = await verificationToken(app, bob);
  await call('start_over', { verification_token: proof });
  await call('number_claim');
  await call('keep_number', { password: `${password}x` });
  await call('export');
  await call('logout');
  const cat = await registerAndSignIn(app);
  const verification_token = await verificationToken(app, newPhone());
  await post(cat.agent, '/user/change_phone', { password: cat.password, verification_token });
  await post(cat.agent, '/user/close_account', { password: cat.password });
}

/** Questions about the whole: full limits, PostgreSQL's own tables, the newest backup, untold changes, webhooks, and what is copied. */
const OF_ALL = [
  'support-fullest-limits',
  'support-server',
  'support-newest-backup',
  'messaging-waiting',
  'support-copied',
  'take-webhooks',
  'list-webhooks',
  'webhook-states',
];
/** Never asked on one server, where another statement finds the same. */
const ON_SEVERAL = ['portraits-of-groups', 'gather-events'];
const ofSome = [...statements].filter(([name]) => ![...OF_ALL, ...ON_SEVERAL].includes(name));

describe('the query plan', () => {
  it.each(ofSome)('for %s has no sequential scan', async (_name, sql) => {
    expect(scannedIn(await planOf(sql))).toEqual([]);
  });

  // guard query-plans-1: the statements find a limit by its key
  // src/features/limits/limits-repository.ts
  // - ${locked} OFFSET 0)
  // + ${locked})
  it.each(ofSome.filter(([, sql]) => sql.includes('rate_limits')))(
    'for %s finds limits by their keys, even while PostgreSQL takes their table for small',
    async (_name, sql) => {
      // In its own schema, which comes before the one with the full table.
      await client.query('CREATE TEMP TABLE rate_limits (LIKE public.rate_limits INCLUDING ALL)');
      const plan = await planOf(sql);
      await client.query('DROP TABLE pg_temp.rate_limits');
      expect(plan).not.toMatch(/Seq Scan on rate_limits|Scan (on|using) rate_limits_resets_at/);
    },
  );

  // guard query-plans-2: statements on limits are planned once per connection
  // src/database/connections.ts
  // - prepare ? [PLAN_ONCE] : []
  // + []
  it('for limits is made once per connection, not once per login', async () => {
    const settings = { poolMax: 1, prepare: true, clocksApartMs: 0 };
    const connections = openConnections(app.databaseUrl, settings, silent);
    const limits = new LimitsRepository(connections.counting);
    const buckets = [{ key: 'login_failures_p:+441632960001', amount: 100, seconds: 900 }];
    for (let count = 0; count < 3; count += 1) await limits.settle(await limits.hold(buckets), () => true);
    const planned = await connections
      .counting('pg_prepared_statements')
      .whereLike('name', '%-limits')
      .sum('custom_plans as each');
    expect(planned).toEqual([{ each: '0' }]);
    await connections.close();
  });

  it('for statements by Knex has no sequential scan', async () => {
    expect(asked.size).toBeGreaterThan(25);
    const scanning = [];
    for (const sql of asked.keys()) {
      // An operator has few webhooks.
      const scanned = scannedIn(await planOf(sql)).filter((table) => table !== 'webhooks');
      if (scanned.length > 0) scanning.push({ sql, scanned });
    }
    expect(scanning).toEqual([]);
  });

  it.each<[string, string | RegExp, RegExp]>([
    ['large group', 'ORDER BY member_id LIMIT', /Index Scan using group_members_pkey/],
    [
      'long list of members',
      /^SELECT member_id AS id, display_name .* NOT is_deleted AND member_id > /,
      /Index Scan using group_members_pkey/,
    ],
    ['long blacklist', /^SELECT friend_id AS id, .* status AND friend_id > /, /Index Scan using blacklist_pkey/],
    ['long list of friendships', 'status <> 30 AND friend_id >', /Index Scan using friendships_pkey/],
    [
      'long blacklist for sync',
      /FROM blacklist WHERE user_id = \$1 AND \(status OR \$2::bigint > 0\) AND version > \$\d AND friend_id >/,
      /Index Scan using blacklist_pkey/,
    ],
    [
      'long list of friends for sync',
      /FROM friendships WHERE user_id = \$1 AND \(status <> 30 OR \$2::bigint > 0\) AND version > \$\d AND friend_id >/,
      /Index Scan using friendships_pkey/,
    ],
  ])('for a page of a %s reads no more than the page', async (_what, words, scan) => {
    const pages = [...asked].filter(([sql]) =>
      typeof words === 'string' ? sql.includes(words) : words.test(sql.replace(/\s+/g, ' ')),
    );
    expect(pages).toHaveLength(1);
    // Like on the pool, where this statement is planned for its values.
    await client.query('SET plan_cache_mode = auto');
    for (const [sql, bindings] of pages) {
      const plan = await planOf(sql, bindings);
      expect(plan).toMatch(scan);
      expect(plan).not.toMatch(/Sort/);
    }
    await client.query('SET plan_cache_mode = force_generic_plan');
  });

  // guard query-plans-5: others' rows about an account are found by an index
  // migrations/0016_friendships.up.sql
  // - CREATE INDEX friendships_friend ON friendships (friend_id) WHERE status <> 30;
  // + CREATE INDEX friendships_friend ON friendships (updated_at);
  it.each([
    ['sync-named-rows', 'friendships_user_named'],
    ['sync-named-rows', 'blacklist_user_held'],
    ['end-other-sides', 'friendships_friend'],
    ['overdue-requests', 'friendships_asked_at'],
    ['count-groups-made', 'groups_made_by'],
    ['sync-rows', 'group_members_living'],
    ['sync-page-of-ended-memberships', 'group_members_ended'],
  ])('for %s uses the index %s', async (name, index) => {
    expect(await planOf(statements.get(name) ?? '')).toContain(index);
  });

  it.each(['own-friends-among', 'befrienders-among'])(
    'for %s reads only friendships with these users',
    async (name) => {
      await client.query(`
      INSERT INTO users (id, nickname) VALUES ('popular', 'Pat') ON CONFLICT DO NOTHING;
      INSERT INTO friendships (user_id, friend_id, status)
        SELECT side.* FROM generate_series(1, 5000) n,
               LATERAL (VALUES ('popular', 'user' || n, 20), ('user' || n, 'popular', 20)) AS side ON CONFLICT DO NOTHING;
      ANALYZE friendships`);
      // Like on the pool, where these statements are planned for their values.
      await client.query('SET plan_cache_mode = auto');
      const ids = Array.from({ length: 100 }, (_, n) => `user${n + 1}`);
      const plan = await planOf(`(ANALYZE, TIMING OFF) ${statements.get(name) ?? ''}`, [ids, 'popular']);
      await client.query('SET plan_cache_mode = force_generic_plan');
      expect(plan).toContain('friendships_pkey');
      expect(plan).not.toMatch(/Rows Removed by Filter/);
    },
  );

  // guard query-plans-3: memberships that ended before the client's version are not read
  // migrations/0023_ended_memberships.up.sql
  // - ON group_members (member_id, version, group_id) WHERE is_deleted
  // + ON group_members (updated_at)
  it('for sync finds the ended memberships that the client lacks without reading those that it has', async () => {
    const plan = await planOf(statements.get('sync-rows') ?? '');
    expect(plan).toMatch(/Index Scan using group_members_ended .*\n.*Index Cond: .*member_id = .* AND \(version > /);
  });

  // guard query-plans-4: an export looks up the groups of one page at a time
  // src/features/account/export-repository.ts
  // - ORDER BY group_id LIMIT ${PAGE}) me
  // + ORDER BY group_id) me
  it('for a page of memberships in an export looks up only the groups of that page', async () => {
    await client.query(
      `INSERT INTO group_members (group_id, member_id, is_deleted)
         SELECT 'group' || n, 'leaver', true FROM generate_series(1, 2000) n`,
    );
    const plan = await planOf(`(ANALYZE, TIMING OFF) ${statements.get('kept-memberships') ?? ''}`, ['leaver', '']);
    const [, lookedUp] = /groups_pkey on groups .*loops=(\d+)/.exec(plan) ?? [];
    expect(Number(lookedUp)).toBe(PAGE);
  });

  it('would show a sequential scan', async () => {
    expect(scannedIn(await planOf(`SELECT * FROM users WHERE nickname = $1`, ['Ann']))).toEqual(['users']);
  });
});
