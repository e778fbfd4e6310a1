import type { Client } from 'pg';
import { knexFor } from '../../../src/database/pool';
import { migrate, migrationOptions, migratorConfig } from '../../../src/database/migrations';
import { SERVICE_ROLE } from '../../../src/database/service-role';
import { connectTo } from '../../support/clusters';
import { emptyDatabase } from '../../support/database';
import { describeOnOneServer } from '../../support/on-one-server';
import { command } from '../../support/operator';
import { stage } from '../../support/stage';

const ROWS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];
const KEPT = ['SELECT', 'INSERT', 'UPDATE'];

/** All rights of the service on each table. */
const RIGHTS = {
  users: ROWS,
  phones: ROWS,
  blacklist: ROWS,
  session: ROWS,
  images: ROWS,
  admin_tokens: ['SELECT'],
  verification_codes: ROWS,
  verification_tokens: ROWS,
  captchas: ROWS,
  rate_limits: ROWS,
  sms_traffic: ROWS,
  sms_networks: ROWS,
  messaging_tokens: ROWS,
  messaging_expiries: ROWS,
  messaging_changes: ROWS,
  messaging_turns: ROWS,
  event_readers: ROWS,
  webhooks: ROWS,
  number_claims: ROWS,
  events: ['SELECT', 'DELETE'],
  friendships: KEPT,
  groups: KEPT,
  group_members: KEPT,
  sync_epoch: ['SELECT'],
  group_sizes: ['SELECT', 'UPDATE'],
  group_dismissals: ROWS,
  account_closings: ROWS,
  knex_migrations: ['SELECT'],
  security_events: ['SELECT', 'INSERT'],
  security_events_kept: ['SELECT'],
};

const RIGHTS_ON_TABLES = `
  SELECT relname AS name, array_agg(privilege ORDER BY n) AS rights
    FROM pg_class,
         unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) WITH ORDINALITY AS p (privilege, n)
   WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
     AND has_table_privilege($1, oid, privilege)
   GROUP BY relname`;

let owner: Client;
let service: Client;
afterAll(() => Promise.all([owner.end(), service.end()]));
const { app } = stage();
beforeAll(async () => {
  owner = await connectTo(app.ownerUrl);
  service = await connectTo(app.databaseUrl);
});

describeOnOneServer('the role of the service', () => {
  it('is not a superuser, owns nothing, and belongs to no other role', async () => {
    const { rows } = await owner.query(
      `SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
              (SELECT count(*) FROM pg_class WHERE relowner = r.oid) AS relations,
              (SELECT count(*) FROM pg_proc WHERE proowner = r.oid) AS functions,
              (SELECT count(*) FROM pg_auth_members WHERE member = r.oid) AS roles,
              has_database_privilege(oid, current_database(), 'CREATE') AS makes_schemas,
              has_schema_privilege(oid, 'public', 'CREATE') AS makes_tables
         FROM pg_roles r WHERE rolname = $1`,
      [SERVICE_ROLE],
    );
    expect(rows).toEqual([
      {
        rolsuper: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolreplication: false,
        rolbypassrls: false,
        relations: '0',
        functions: '0',
        roles: '0',
        makes_schemas: false,
        makes_tables: false,
      },
    ]);
    const { rows: own } = await service.query('SELECT session_user AS role');
    expect(own).toEqual([{ role: SERVICE_ROLE }]);
  });

  // guard service-role-3: the service's role has only the rights it needs
  // src/database/service-role.ts
  // - sync_life: []
  // + sync_life: ['DELETE']
  it('has only the rights it needs on each table', async () => {
    const { rows } = await owner.query<{ name: string; rights: string[] }>(RIGHTS_ON_TABLES, [SERVICE_ROLE]);
    expect(Object.fromEntries(rows.map(({ name, rights }) => [name, rights]))).toEqual(RIGHTS);
  });

  // guard service-role-1: the service's role cannot change or delete anything in the audit trail
  // src/database/service-role.ts
  // - security_events: ['SELECT', 'INSERT'],
  it('can only add to the audit trail and read it', async () => {
    await service.query(
      `INSERT INTO security_events (event, ip, user_agent, request_id) VALUES ('logged_in', '', '', '')`,
    );
    expect((await service.query('SELECT event FROM security_events')).rows).toEqual([{ event: 'logged_in' }]);
    await expectRefused('permission denied for table security_events', [
      `UPDATE security_events SET event = 'nothing'`,
      'SELECT FROM security_events FOR UPDATE',
      `DELETE FROM security_events WHERE at < now() - interval '1 year'`,
      'TRUNCATE security_events',
      'CREATE TRIGGER mine BEFORE INSERT ON security_events EXECUTE FUNCTION refuse_removal()',
    ]);
    await expectRefused('must be owner', [
      'DROP TABLE security_events',
      'ALTER TABLE security_events DISABLE TRIGGER ALL',
      'DROP TRIGGER security_events_no_update ON security_events',
      'CREATE RULE mine AS ON INSERT TO security_events DO INSTEAD NOTHING',
      'DROP FUNCTION security_events_append_only() CASCADE',
      'ALTER FUNCTION security_events_sweep SET search_path = pg_temp, public',
    ]);
    await expectRefused('permission denied to set parameter', ['SET session_replication_role = replica']);
  });

  // guard service-role-12: the service's role makes and changes no token of the admin API
  // src/database/service-role.ts
  // - 'REVOKE INSERT, UPDATE ON %s FROM %s',
  it('can only note the use of tokens of the admin API, also where a version before granted more', async () => {
    await owner.query(`GRANT INSERT, UPDATE ON admin_tokens TO ${SERVICE_ROLE}`);
    await migrate(app.ownerUrl);
    await service.query('UPDATE admin_tokens SET last_used_at = now()');
    await expectRefused('permission denied for table admin_tokens', [
      `INSERT INTO admin_tokens (hash, name, scope, created_by, expires_at) VALUES ('', '', 'admin', '', now())`,
      ...['hash', 'scope', 'expires_at', 'revoked_at'].map((column) => `UPDATE admin_tokens SET ${column} = NULL`),
    ]);
    const { dataDir, databaseUrl } = app;
    const alone = { dataDir, databaseUrl, ownerUrl: databaseUrl };
    await expect(command(alone, 'tokens add', ['mine', 'admin'])).rejects.toThrow('set DATABASE_MIGRATION_URL');
  });

  // guard service-role-2: the service's role owns nothing
  // packages/embedded-database/src/ownership.ts
  // - Object.assign(url, { username: role, password });
  it('cannot make, change or drop tables, or raise its own rights', async () => {
    await expectRefused('must be owner', [
      'ALTER TABLE users ADD COLUMN mine text',
      'ALTER TABLE users DISABLE TRIGGER users_keep',
      'DROP TABLE users',
      'CREATE INDEX ON users (nickname)',
    ]);
    await expectRefused('permission denied', [
      'CREATE TABLE mine (id text)',
      'CREATE SCHEMA mine',
      'TRUNCATE rate_limits',
      'DELETE FROM groups',
      'UPDATE sync_epoch SET base = 0',
      'DELETE FROM sync_life',
      'DELETE FROM knex_migrations',
      'UPDATE knex_migrations_lock SET is_locked = 1',
      `ALTER ROLE ${SERVICE_ROLE} SUPERUSER`,
      'CREATE ROLE mine',
      'SET ROLE accounts',
      `COPY users TO PROGRAM 'cat'`,
      `SELECT pg_read_file('/etc/passwd')`,
    ]);
  });

  async function expectRefused(refusal: string, statements: string[]): Promise<void> {
    for (const statement of statements) {
      const told = await service.query(statement).then(String, String);
      expect({ statement, told }).toEqual({ statement, told: expect.stringContaining(refusal) as string });
    }
  }
});

describe('the sweep of the audit trail', () => {
  const add = (age: string, requestId: string, count = 1) =>
    owner.query(
      `INSERT INTO security_events (at, event, ip, user_agent, request_id)
       SELECT now() - $1::interval, 'logged_in', '', '', $2 FROM generate_series(1, $3)`,
      [age, requestId, count],
    );
  const left = () =>
    app
      .db('security_events')
      .whereLike('request_id', 'aged-%')
      .distinct('request_id')
      .orderBy('request_id')
      .pluck('request_id');

  afterEach(() => owner.query(`DELETE FROM security_events WHERE at < now() - interval '1 day'`));

  // guard service-role-8: the sweep of the audit trail continues until nothing old is left
  // src/features/audit/security-events-repository.ts
  // - isLeft = (row?.removed ?? 0) > 0;
  // + isLeft = row === undefined;
  it('removes events older than AUDIT_DAYS, in as many batches as it takes', async () => {
    await add('181 days', 'aged-181', 12_000);
    await add('179 days', 'aged-179');
    await app.sweep();
    expect(await left()).toEqual(['aged-179']);
    expect(app.logged()).not.toContainEqual(
      expect.objectContaining({ msg: expect.stringContaining('sweeping failed') as string }),
    );
  });

  // guard service-role-4: the sweep of the audit trail keeps the last day
  // migrations/0022_audit_trail_kept.up.sql
  // - greatest(days, (SELECT kept.days FROM security_events_kept kept))
  // + days
  it('keeps thirty days, or what the owner sets, however few days the service asks for', async () => {
    await add('31 days', 'aged-31d');
    await add('29 days', 'aged-29d');
    await add('23 hours', 'aged-23h');
    for (const days of [0, 1, -1_000_000]) await service.query('SELECT security_events_sweep($1)', [days]);
    expect(await left()).toEqual(['aged-23h', 'aged-29d']);
    await expect(service.query('UPDATE security_events_kept SET days = 1')).rejects.toThrow('permission denied');
    await owner.query('UPDATE security_events_kept SET days = 1');
    await service.query('SELECT security_events_sweep(0)');
    expect(await left()).toEqual(['aged-23h']);
    await owner.query('UPDATE security_events_kept SET days = 30');
  });

  // guard service-role-5: the database dates the events of the service
  // migrations/0022_audit_trail_kept.up.sql
  // - NEW.at := now();
  it('is not misled by dates that the service writes: each event is dated now', async () => {
    for (const at of ["now() - interval '100 days'", "now() + interval '100 years'"])
      await service.query(
        `INSERT INTO security_events (at, event, ip, user_agent, request_id) VALUES (${at}, 'logged_in', '', '', 'aged-dated')`,
      );
    const { rows } = await owner.query(
      `SELECT count(*) FROM security_events WHERE request_id = 'aged-dated' AND at BETWEEN now() - interval '1 minute' AND now()`,
    );
    expect(rows).toEqual([{ count: '2' }]);
  });

  // guard service-role-7: only the service may run the sweep of the audit trail
  // migrations/0015_audit_sweep.up.sql
  // - REVOKE EXECUTE ON FUNCTION security_events_sweep FROM PUBLIC;
  it('can be run only by the service', async () => {
    const { rows } = await owner.query(
      `SELECT has_function_privilege('public', 'security_events_sweep(integer)', 'EXECUTE') AS everybody`,
    );
    expect(rows).toEqual([{ everybody: false }]);
  });

  // guard service-role-6: the sweep of the audit trail uses its own table, whatever its caller has made
  // migrations/0022_audit_trail_kept.up.sql
  // - SET search_path = public, pg_temp AS
  // + AS
  it('is not misled by tables of the same name that its caller has made', async () => {
    await add('181 days', 'aged-181');
    await service.query('CREATE TEMPORARY TABLE security_events (at timestamptz)');
    await service.query('SELECT security_events_sweep(180)');
    await service.query('DROP TABLE pg_temp.security_events');
    expect(await left()).not.toContain('aged-181');
  });
});

describe('functions with the rights of their owner', () => {
  // guard service-role-11: only the service may tell of events, or pass a group on
  // migrations/0031_told_by_triggers.up.sql
  // - REVOKE EXECUTE ON FUNCTION tell, group_pass_on FROM PUBLIC;
  it('can be run by the service, by triggers, and by nobody else who may connect', async () => {
    const { rows } = await owner.query(
      `SELECT array_agg(proname::text) FILTER (WHERE has_function_privilege('public', oid, 'EXECUTE')) AS everybody,
              bool_and(has_function_privilege($1, oid, 'EXECUTE')) AS service
         FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND proname IN ('tell', 'group_pass_on')`,
      [SERVICE_ROLE],
    );
    expect(rows).toEqual([{ everybody: null, service: true }]);
  });
});

describeOnOneServer('a migration that makes a table', () => {
  const NEW = `
    CREATE TABLE brand_new (id bigserial PRIMARY KEY, word text NOT NULL);
    CREATE FUNCTION brand_new_words() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM brand_new';
    REVOKE EXECUTE ON FUNCTION brand_new_words FROM PUBLIC`;

  async function useTable(): Promise<unknown> {
    await service.query(`INSERT INTO brand_new (word) VALUES ('one'), ('two')`);
    await service.query(`UPDATE brand_new SET word = 'three' WHERE word = 'one'`);
    await service.query(`DELETE FROM brand_new WHERE word = 'two'`);
    return (await service.query('SELECT brand_new_words() AS count')).rows[0];
  }

  // guard service-role-10: each run of the migrations gives the service's role missing rights
  // src/database/migrations.ts
  // - // The role may have been created after the last migration.
  // - await grantToService(trx);
  it('gives the service its rights without naming them', async () => {
    await owner.query(NEW);
    await expect(useTable()).rejects.toThrow('permission denied');
    await migrate(app.ownerUrl);
    expect(await useTable()).toEqual({ count: '1' });
    await expect(service.query('TRUNCATE brand_new')).rejects.toThrow('permission denied');
    await owner.query('DROP TABLE brand_new CASCADE; DROP FUNCTION brand_new_words');
  });

  // guard service-role-9: a migration gives the service's role its rights, in its own transaction
  // src/database/migrations.ts
  // - // In the same transaction, so that no instance sees a table that it may not use.
  // - await grantToService(trx);
  it("gives them in the same migration, also by Knex's own command", async () => {
    const database = await emptyDatabase();
    const db = knexFor(migrationOptions(database.url));
    await db.migrate.latest(migratorConfig);
    await db.destroy();
    const [there, here] = [await connectTo(database.url), await connectTo(app.ownerUrl)];
    const rights = async (client: Client) =>
      (await client.query<Record<string, unknown>>(`${RIGHTS_ON_TABLES} ORDER BY 1`, [SERVICE_ROLE])).rows;
    expect(await rights(there)).toEqual(await rights(here));
    await Promise.all([there.end(), here.end()]);
    await database.drop();
  });
});
