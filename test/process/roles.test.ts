import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrate, newestMigration, undoMigration } from '../../src/database/migrations';
import { SERVICE_ROLE } from '../../src/database/service-role';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../packages/embedded-database/src';
import { connectTo } from '../support/clusters';
import { newDataDir, ROOT, RUN } from '../support/service-process';
import { makeDataDir, startService } from '../support/started';
import { walkThrough } from '../support/walk-through';

/** Passwords with characters that are special in a URL, a shell or SQL. */
const PASSWORDS = { service: `p@ss/w:rd #1?&%41'"\\$x`, owner: `o'wner@/%2F"\\ $(id)` };
const ROLES = readFileSync(join(ROOT, 'deploy/postgres/1-roles.sql'), 'utf8');
const withPsql = spawnSync('psql', ['--version']).status === 0 ? it : it.skip;

const folder = newDataDir();
let postgres: EmbeddedPostgres;
let databases = 0;

/** Makes a PostgreSQL as an installation finds it: with a superuser, and without the service's roles. */
beforeAll(async () => {
  postgres = await startEmbeddedPostgres({ role: SERVICE_ROLE, dataDir: folder.path, settings: { fsync: 'off' } });
  await ask(postgres.url, `DROP OWNED BY ${SERVICE_ROLE}; DROP ROLE ${SERVICE_ROLE}`);
});
afterAll(async () => {
  await postgres.stop();
  folder.remove();
});

describe('an installation with one role', () => {
  it('keeps working', async () => {
    const admin = await newDatabase();
    expect(await rowsOf(admin, `SELECT FROM pg_roles WHERE rolname = '${SERVICE_ROLE}'`)).toEqual([]);
    const env = oneRole(admin);
    await walkThrough(await (await startService(env)).untilReady(), env.DATA_DIR);
  });

  // guard roles-3: existing tables go to the owner when an installation moves to two roles
  // deploy/postgres/1-roles.sql
  // - format('ALTER TABLE %s OWNER TO accounts_owner', oid::regclass)
  // + format('ALTER TABLE %s OWNER TO CURRENT_USER', oid::regclass)
  it.each(['a superuser', 'a plain owner'])('moves from %s to two, by the SQL of deploy/postgres', async (former) => {
    const admin = await newDatabase();
    const old = oneRole(former === 'a superuser' ? admin : await givenAway(admin, 'former_owner'));
    const before = await (await startService(old)).untilReady();
    await walkThrough(before, old.DATA_DIR);
    const kept = await rowsOf(admin, 'SELECT id, nickname FROM users');
    await makeRoles(admin);
    if (former === 'a plain owner') await ask(admin, 'GRANT accounts_owner TO former_owner');
    // An instance of the old version keeps running in that time.
    await walkThrough(before, old.DATA_DIR);
    await before.stop();

    const env = twoRoles(admin);
    await walkThrough(await (await startService(env)).untilReady(), env.DATA_DIR);
    expect(await rowsOf(admin, 'SELECT id, nickname FROM users')).toEqual(expect.arrayContaining(kept));
    expect(await rowsOf(admin, OWNERS)).toEqual([{ owner: 'accounts_owner' }]);

    const owner = address(admin, 'accounts_owner', PASSWORDS.owner);
    const newest = await newestMigration(owner);
    if (!newest) throw new Error('no migration has been applied');
    await undoMigration(owner, newest);
    expect(await migrate(owner)).toEqual([newest.name]);
  });

  // guard roles-1: an instance without its rights is not ready, and says what to do
  // src/database/migrations.ts
  // - has_table_privilege(to_regclass('knex_migrations'), 'SELECT')
  // + to_regclass('knex_migrations') IS NOT NULL
  it('moves to two, and is not ready until the role of the service has its rights', async () => {
    const admin = await newDatabase();
    await migrate(admin);
    await makeRoles(admin);
    // As if the role had been created after the last migration.
    await ask(admin, `DROP OWNED BY ${SERVICE_ROLE}`);
    const { DATABASE_MIGRATION_URL, DATABASE_MIGRATION_PASSWORD, ...alone } = twoRoles(admin);
    const service = await (await startService({ ...alone, AUTO_MIGRATE: 'off' })).untilListening();
    const answer = await fetch(`${service.url}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('npm run migrate');
    runMigrations({ DATABASE_MIGRATION_URL, DATABASE_MIGRATION_PASSWORD });
    await service.untilReady();
    await walkThrough(service, alone.DATA_DIR);
  });
});

describe('an installation with two roles', () => {
  // guard roles-2: migrations run as the owner
  // src/run.ts
  // - migrate(database.migrationUrl,
  // + migrate(database.url,
  it('migrates as the owner and serves as the other role, with any characters in the passwords', async () => {
    const admin = await newDatabase();
    await makeRoles(admin);
    const env = twoRoles(admin);
    const service = await (await startService(env)).untilReady();
    expect(service.stdout).toContain('Applied migrations: 0001_accounts');
    await walkThrough(service, env.DATA_DIR);
    expect(await rowsOf(admin, OWNERS)).toEqual([{ owner: 'accounts_owner' }]);
    const connections = `SELECT DISTINCT usename FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'user-account-service'`;
    expect(await rowsOf(admin, connections)).toEqual([{ usename: SERVICE_ROLE }]);
  });

  // guard roles-4: the service's role makes no temporary tables
  // deploy/postgres/1-roles.sql
  // - EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  // guard roles-5: the service's role makes no large objects
  // deploy/postgres/1-roles.sql
  // - REVOKE EXECUTE ON FUNCTION lo_creat, lo_create, lo_from_bytea FROM PUBLIC;
  // + NULL;
  it('lets the service make neither temporary tables nor large objects', async () => {
    const admin = await newDatabase();
    await makeRoles(admin);
    const service = address(admin, SERVICE_ROLE, PASSWORDS.service);
    const objects = ['lo_creat(-1)', 'lo_create(0)', `lo_from_bytea(0, '')`].map((call) => `SELECT ${call}`);
    for (const statement of ['CREATE TEMPORARY TABLE mine ()', ...objects])
      await expect(ask(service, statement)).rejects.toThrow(/^permission denied/);
  });

  it('starts with only the role of the service, with AUTO_MIGRATE=off', async () => {
    const admin = await newDatabase();
    await makeRoles(admin);
    const { DATABASE_MIGRATION_URL, DATABASE_MIGRATION_PASSWORD, ...alone } = twoRoles(admin);
    const service = await (await startService({ ...alone, AUTO_MIGRATE: 'off' })).untilListening();
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);

    const migrations = { DATABASE_MIGRATION_URL, DATABASE_MIGRATION_PASSWORD };
    expect(runMigrations(migrations)).toContain('Applied migrations: 0001_accounts');
    expect(runMigrations(migrations)).toContain('The schema is up to date.');
    await service.untilReady();
    await walkThrough(service, alone.DATA_DIR);

    await ask(admin, `CREATE ROLE my_service LOGIN PASSWORD 'mine' IN ROLE ${SERVICE_ROLE}`);
    const { DATABASE_PASSWORD: _, ...others } = alone;
    const DATABASE_URL = address(admin, 'my_service', 'mine');
    const member = await (await startService({ ...others, DATABASE_URL, AUTO_MIGRATE: 'off' })).untilReady();
    await walkThrough(member, alone.DATA_DIR);
  });

  it('names the missing setting in one line when the role of the service would have to migrate', async () => {
    const admin = await newDatabase();
    await makeRoles(admin);
    const { DATABASE_MIGRATION_URL: _, DATABASE_MIGRATION_PASSWORD: __, ...alone } = twoRoles(admin);
    const service = await startService(alone);
    expect(await service.exited).toBe(1);
    expect(service.stderr).toMatch(
      /^Cannot start: the database at \S+ cannot be used: .*permission denied.*DATABASE_MIGRATION_URL.*\n$/,
    );
  });

  withPsql('has the passwords from its environment, or from the files that it names', async () => {
    const admin = await newDatabase();
    await ask(admin, ROLES);
    const { hostname, port, username, password, pathname } = new URL(admin);
    const server = { PATH: process.env.PATH, PGHOST: hostname, PGPORT: port, PGPASSWORD: password };
    const database = { POSTGRES_USER: username, POSTGRES_DB: pathname.slice(1) };
    const file = join(folder.path, 'owner-password');
    writeFileSync(file, `${PASSWORDS.owner}\n`);
    for (const ofOwner of [
      { DATABASE_MIGRATION_PASSWORD: PASSWORDS.owner },
      { DATABASE_MIGRATION_PASSWORD_FILE: file },
    ]) {
      await ask(admin, `ALTER ROLE accounts_owner PASSWORD 'other'; ALTER ROLE ${SERVICE_ROLE} PASSWORD 'other'`);
      const { status, stderr } = spawnSync('bash', [join(ROOT, 'deploy/postgres/2-passwords.sh')], {
        env: { ...server, ...database, DATABASE_PASSWORD: PASSWORDS.service, ...ofOwner },
      });
      expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
      await ask(address(admin, SERVICE_ROLE, PASSWORDS.service), 'SELECT');
      await ask(address(admin, 'accounts_owner', PASSWORDS.owner), 'SELECT');
    }
  });
});

/** The owners of everything that migrations make. */
const OWNERS = `
  SELECT DISTINCT pg_get_userbyid(owner) AS owner
    FROM (SELECT relowner FROM pg_class WHERE relnamespace = 'public'::regnamespace
           UNION ALL SELECT proowner FROM pg_proc WHERE pronamespace = 'public'::regnamespace
           UNION ALL SELECT datdba FROM pg_database WHERE datname = current_database()) AS all_of_them (owner)`;

/** Creates a database and returns the superuser's address of it. */
async function newDatabase(): Promise<string> {
  const name = `installation_${(databases += 1)}`;
  await ask(postgres.url, `CREATE DATABASE ${name}`);
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  return url.href;
}

/** Creates a role that owns the database and has no other rights. */
async function givenAway(admin: string, role: string): Promise<string> {
  await ask(admin, `CREATE ROLE ${role} LOGIN PASSWORD 'former'`);
  await ask(admin, `ALTER DATABASE ${new URL(admin).pathname.slice(1)} OWNER TO ${role}`);
  return address(admin, role, 'former');
}

async function makeRoles(admin: string): Promise<void> {
  await ask(admin, ROLES);
  const client = await connectTo(admin);
  const literal = (password: string) => client.escapeLiteral(password);
  await client.query(`ALTER ROLE accounts_owner PASSWORD ${literal(PASSWORDS.owner)}`);
  await client.query(`ALTER ROLE ${SERVICE_ROLE} PASSWORD ${literal(PASSWORDS.service)}`);
  await client.end();
}

function address(admin: string, role: string, password = ''): string {
  const url = new URL(admin);
  url.username = role;
  url.password = encodeURIComponent(password);
  return url.href;
}

function oneRole(admin: string) {
  return { DATA_DIR: makeDataDir(), DATABASE_URL: admin, SMS_PROVIDER: 'file' };
}

/** Returns the settings of such an installation, with the passwords outside the addresses. */
function twoRoles(admin: string) {
  return {
    DATA_DIR: makeDataDir(),
    DATABASE_URL: address(admin, SERVICE_ROLE),
    DATABASE_PASSWORD: PASSWORDS.service,
    DATABASE_MIGRATION_URL: address(admin, 'accounts_owner'),
    DATABASE_MIGRATION_PASSWORD: PASSWORDS.owner,
    SMS_PROVIDER: 'file',
  };
}

async function ask(url: string, sql: string): Promise<void> {
  const client = await connectTo(url);
  await client.query(sql).finally(() => client.end());
}

async function rowsOf(url: string, sql: string): Promise<unknown[]> {
  const client = await connectTo(url);
  return client
    .query<Record<string, unknown>>(sql)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

/** Runs npm run migrate. */
function runMigrations(env: Record<string, string>): string {
  const { stdout, stderr } = spawnSync(process.execPath, [RUN, 'scripts/operate/migrate.ts'], {
    cwd: ROOT,
    env: { ...process.env, ...env },
  });
  return `${stdout.toString()}${stderr.toString()}`;
}
