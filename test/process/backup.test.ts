import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../src/database/migrations';
import { tokenWith } from '../support/admin-calls';
import { startApp, type TestApp } from '../support/app';
import { cloneDatabase } from '../support/database';
import { multipartForm, picture } from '../support/images';
import { InstalledPostgres, installedPostgres } from '../support/installed-postgres';
import {
  expectOk,
  field,
  insertPerson,
  newPhone,
  register,
  signIn,
  type Person,
  type SignedInPerson,
} from '../support/people';
import { rememberSecret } from '../support/secrets';
import { ROOT } from '../support/service-process';
import { foldingClientOf, fullState, insertGroup, settledClient } from '../support/sync';
import { until } from '../support/until';

const SCRIPT = join(ROOT, 'deploy', 'backup.sh');
const ROLES = readFileSync(join(ROOT, 'deploy/postgres/1-roles.sql'), 'utf8');
const SETTINGS = 'SESSION_SECRETS=of-this-installation\n';
/** The embedded PostgreSQL has no pg_dump. */
const programs = installedPostgres() ?? '';
const isRoot = process.getuid?.() === 0;
if (programs === '') process.stderr.write('Backups are NOT tested: no PostgreSQL with pg_dump is installed.\n');

function major(folder: string): number {
  const { stdout } = spawnSync(join(folder, 'pg_dump'), ['--version']);
  return Number(/(\d+)/.exec(String(stdout))?.[1] ?? Infinity);
}

interface Outcome {
  status: number | null;
  output: string;
}

/** The database and folders of an installation. */
interface Place {
  server: InstalledPostgres;
  database: string;
  dataDir: string;
  backupDir: string;
}

(programs === '' ? describe.skip : describe)('deploy/backup.sh', () => {
  let server: InstalledPostgres;
  let other: InstalledPostgres;
  let made = 0;
  const folders: string[] = [];
  const apps: TestApp[] = [];
  const running = new Set<ChildProcess>();

  beforeAll(async () => {
    [server, other] = [InstalledPostgres.start(programs), InstalledPostgres.start(programs)];
    for (const one of [server, other])
      await one.sql('postgres', 'CREATE ROLE accounts_owner LOGIN; CREATE ROLE accounts_service LOGIN');
    await server.sql('postgres', 'CREATE ROLE relations_writer LOGIN');
    await server.sql('postgres', 'CREATE DATABASE template_accounts OWNER accounts_owner');
    await migrate(server.url('template_accounts', 'accounts_owner'));
  });
  afterEach(async () => {
    for (const child of running) child.kill('SIGTERM');
    while (apps.length > 0) await apps.pop()?.close();
  });
  afterAll(() => {
    server.remove();
    other.remove();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  function newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'accounts-backup-'));
    folders.push(folder);
    return folder;
  }

  async function emptyPlace(on = other, backupDir = newFolder(), template = 'template1'): Promise<Place> {
    made += 1;
    const database = `accounts_${made}`;
    await on.sql('postgres', `CREATE DATABASE ${database} TEMPLATE ${template} OWNER accounts_owner`);
    return { server: on, database, dataDir: join(newFolder(), 'data'), backupDir };
  }

  /** Makes a place whose database has the service's tables. */
  async function newPlace(): Promise<Place> {
    const place = await emptyPlace(server, newFolder(), 'template_accounts');
    mkdirSync(place.dataDir);
    return place;
  }

  async function open({ server: on, database, dataDir }: Place): Promise<TestApp> {
    const app = await startApp({}, { databaseUrl: on.url(database, 'accounts_owner'), dataDir });
    apps.push(app);
    return app;
  }

  async function close(app: TestApp): Promise<void> {
    apps.splice(apps.indexOf(app), 1);
    await app.close();
  }

  function start(place: Place, args: string[], env: Record<string, string> = {}, before: string[] = []) {
    const settings = join(place.dataDir, '..', '.env');
    if (!existsSync(settings)) writeFileSync(settings, SETTINGS);
    const [file = '', ...rest] = [...before, 'sh', SCRIPT, ...args];
    const child = spawn(file, rest, {
      env: {
        PATH: `${programs}:${process.env.PATH ?? ''}`,
        PGHOST: place.server.folder,
        PGUSER: 'postgres',
        PGDATABASE: place.database,
        DATA_DIR: place.dataDir,
        BACKUP_DIR: place.backupDir,
        ENV_FILE: settings,
        ...env,
      },
    });
    running.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)));
    const ended = new Promise<Outcome>((settle) => child.on('close', (status) => settle({ status, output })));
    void ended.then(() => running.delete(child));
    return { child, ended, shown: () => output };
  }

  const run = (...args: Parameters<typeof start>) => start(...args).ended;

  async function backUp(place: Place, env: Record<string, string> = {}): Promise<string> {
    const { status, output } = await run(place, ['now'], env);
    expect({ status, output }).toEqual({ status: 0, output: expect.stringMatching(/ is complete, /) as string });
    return /accounts-\S+/.exec(output)?.[0] ?? '';
  }

  async function restore(place: Place, ...args: string[]): Promise<void> {
    const { status, output } = await run(place, ['restore', ...args]);
    expect({ status, output }).toEqual({ status: 0, output: expect.stringMatching(/ was restored into /) as string });
  }

  async function expectRefused(outcome: Promise<Outcome>, why: RegExp): Promise<void> {
    const { status, output } = await outcome;
    expect({ status, lines: output.trim().split('\n') }).toEqual({
      status: 1,
      lines: [expect.stringMatching(why) as string],
    });
  }

  const backupsIn = ({ backupDir }: Place) => readdirSync(backupDir).filter((name) => name !== '.lock');
  const tablesOf = async ({ server: on, database }: Place) =>
    Number(
      (await on.sql(database, `SELECT count(*) AS n FROM pg_class WHERE relnamespace = 'public'::regnamespace`))[0]?.n,
    );
  const usersOf = async ({ server: on, database }: Place) =>
    (await on.sql(database, 'SELECT id FROM users ORDER BY id')).map(({ id }) => id);

  async function showPortrait(app: TestApp, { agent }: SignedInPerson): Promise<{ key: string; image: Buffer }> {
    const token = rememberSecret(String(field((await expectOk(agent.post('/user/get_image_token'))).result, 'token')));
    const { headers, body } = multipartForm([
      ['token', token],
      ['file', await picture('png')],
    ]);
    const answer = await fetch(app.url, { method: 'POST', headers, body: new Uint8Array(body) });
    const key = String(field(await answer.json(), 'key'));
    await expectOk(agent.post('/user/set_portrait_uri').send({ portraitUri: `${app.url}/files/${key}` }));
    return { key, image: await imageAt(app, key) };
  }

  async function imageAt(app: TestApp, key: string): Promise<Buffer> {
    const answer = await fetch(`${app.url}/files/${key}`);
    expect(answer.status).toBe(200);
    return Buffer.from(await answer.arrayBuffer());
  }

  describe('a backup restored into a fresh database and folder', () => {
    it('has the accounts, their passwords, and their portraits', async () => {
      const place = await newPlace();
      const app = await open(place);
      const ann = await signIn(app, await register(app, newPhone()));
      const { key, image } = await showPortrait(app, ann);
      await close(app);

      const fresh = await emptyPlace(other, place.backupDir);
      await restore(fresh, await backUp(place));

      const again = await open(fresh);
      expect((await again.api.get('/readyz')).status).toBe(200);
      const { agent } = await signIn(again, ann);
      const { result } = await expectOk(agent.post(`/user/${ann.id}`));
      expect(field(result, 'portraitUri')).toMatch(new RegExp(`/files/${key}$`));
      expect(await imageAt(again, key)).toEqual(image);
    });

    // guard backup-22: a large object of the service's role does not break backups
    // deploy/backup.sh
    // - --no-blobs
    // guard backup-23: a backup of a database with two roles can be restored by the owner
    // deploy/backup.sh
    // - --exclude-schema=pg_catalog
    it('works for the owner of the tables, also after the role of the service has made a large object', async () => {
      const place = await newPlace();
      const fresh = await emptyPlace(other, place.backupDir);
      await place.server.sql(place.database, 'SET ROLE accounts_service; SELECT lo_create(0)');
      for (const { server: on, database } of [place, fresh]) await on.sql(database, ROLES);
      const asOwner = { PGUSER: 'accounts_owner' };
      const name = await backUp(place, asOwner);
      expect(await run(fresh, ['restore', name], asOwner)).toMatchObject({ status: 0 });
    });

    it('leaves out unfinished uploads, and an embedded database', async () => {
      const place = await newPlace();
      for (const folder of ['uploads/.parts/ann', 'uploads/.incoming', 'uploads/ann', 'postgres'])
        mkdirSync(join(place.dataDir, folder), { recursive: true });
      for (const file of ['uploads/.parts/ann/1', 'uploads/.incoming/1', 'uploads/ann/1.png', 'postgres/PG_VERSION'])
        writeFileSync(join(place.dataDir, file), 'x');
      const fresh = await emptyPlace(other, place.backupDir);
      await restore(fresh, await backUp(place));
      expect(readdirSync(fresh.dataDir)).toEqual(['uploads']);
      expect(readdirSync(join(fresh.dataDir, 'uploads'))).toEqual(['ann']);
    });

    it('gives the folder and its files the owners and rights that they had', async () => {
      const place = await newPlace();
      writeFileSync(join(place.dataDir, 'session-secret'), 'x', { mode: 0o600 });
      chmodSync(place.dataDir, 0o710);
      const fresh = await emptyPlace(other, place.backupDir);
      mkdirSync(fresh.dataDir, { mode: 0o755 });
      await restore(fresh, await backUp(place));
      for (const name of ['.', 'session-secret']) {
        const [was, is] = [place, fresh].map(({ dataDir }) => statSync(join(dataDir, name)));
        expect([is?.mode, is?.uid, is?.gid]).toEqual([was?.mode, was?.uid, was?.gid]);
      }
    });

    // guard backup-8: restored tables belong to the owner of the schema
    // deploy/backup.sh
    // -   make_roles
    // -   become_owner
    // + make_roles
    // guard backup-9: missing roles keep their rights in a restore
    // deploy/backup.sh
    // -   [ -z "$replace" ] || drop_all
    // -   make_roles
    // + [ -z "$replace" ] || drop_all
    it('belongs to the owner of the schema, and other roles keep their rights', async () => {
      const place = await newPlace();
      await place.server.sql(
        place.database,
        `GRANT SELECT, INSERT ON users TO accounts_service;
         GRANT INSERT (user_id, friend_id), UPDATE (status) ON friendships TO relations_writer`,
      );
      const fresh = await emptyPlace(other, place.backupDir);
      await restore(fresh, await backUp(place));
      const rights = ({ server: on, database }: Place) =>
        on.sql(
          database,
          `SELECT relname::text, relkind::text, relowner::regrole::text, relacl::text, attname::text, attacl::text
             FROM pg_class LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attacl IS NOT NULL
            WHERE relnamespace = 'public'::regnamespace
            UNION ALL
           SELECT oid::regprocedure::text, 'f', proowner::regrole::text, proacl::text, NULL, NULL
             FROM pg_proc WHERE pronamespace = 'public'::regnamespace
            ORDER BY 1, 5`,
        );
      expect(await rights(fresh)).toEqual(await rights(place));
      // The restore created the role, which cannot log in yet.
      expect(
        await other.sql('postgres', `SELECT rolcanlogin FROM pg_roles WHERE rolname = 'relations_writer'`),
      ).toEqual([{ rolcanlogin: false }]);
    });
  });

  describe('sync after a restore', () => {
    let place: Place;
    let ann: Person;
    let bob: Person;
    let cat: Person;

    beforeEach(async () => {
      place = await newPlace();
    });

    async function peopleWho(app: TestApp): Promise<SignedInPerson> {
      [ann, bob, cat] = [
        await insertPerson(app, 'Ann'),
        await insertPerson(app, 'Bob'),
        await insertPerson(app, 'Cat'),
      ];
      await app.db('friendships').insert({ user_id: ann.id, friend_id: bob.id, status: 20, display_name: 'Bobby' });
      await app.db('friendships').insert({ user_id: ann.id, friend_id: cat.id, status: 20 });
      await insertGroup(app, 'hikers', [ann, bob]);
      return signIn(app, ann);
    }

    it('sends a client that synced before the backup what it has missed', async () => {
      const app = await open(place);
      const client = await settledClient(await peopleWho(app));
      await app.db('friendships').where({ friend_id: bob.id }).update({ display_name: 'Robert' });
      await close(app);
      const name = await backUp(place);
      const fresh = await emptyPlace(other, place.backupDir);
      await restore(fresh, name, '--nothing-lost');

      const again = await open(fresh);
      const annAgain = await signIn(again, ann);
      const returning = foldingClientOf(annAgain);
      Object.assign(returning, { version: client.version });
      const { friends, group_members } = await returning.sync();
      expect(friends.map(({ displayName }) => displayName)).toEqual(['Robert']);
      expect(group_members).toEqual([]);
    });

    // guard backup-10: clients that have seen changes lost by a restore are sent the restored state
    // deploy/backup.sh
    // - [ -n "$nothing_lost" ] || { forget_versions && revoke_tokens; }
    it.each([
      ['another server', () => emptyPlace(other, place.backupDir), []],
      ['the same database', () => Promise.resolve(place), ['--replace']],
    ])(
      'into %s: sends a client that has seen later changes the restored state, and then each new change',
      async (_, to, args) => {
        const app = await open(place);
        const before = await peopleWho(app);
        let person = before;
        const client = foldingClientOf(before);
        // Keeps the client, which now asks the service that runs at the address.
        Object.assign(client, { ask: (version: number) => syncOf(person, version) });
        await client.sync();
        const name = await backUp(place);
        await app.db('friendships').where({ friend_id: bob.id }).update({ display_name: 'Robert' });
        await app.db('friendships').where({ friend_id: cat.id }).delete();
        await app.db('groups').where({ id: 'hikers' }).update({ name: 'Climbers' });
        await app.db('users').where({ id: bob.id }).update({ nickname: 'Rob' });
        await app.db('blacklist').insert({ user_id: ann.id, friend_id: bob.id });
        await client.sync();
        await app.db('blacklist').where({ user_id: ann.id }).delete();
        await client.sync();
        expect(client.state().friends).toHaveLength(1);
        await close(app);

        const there = await to();
        await restore(there, name, ...args);
        const again = await open(there);
        person = await signIn(again, ann);
        await client.sync();
        expect(client.state()).toEqual(await fullState(person));
        expect(
          client
            .state()
            .friends.map(({ displayName }) => displayName)
            .sort(),
        ).toEqual(['', 'Bobby']);

        await again.db('friendships').where({ friend_id: bob.id }).update({ display_name: 'Bobbie' });
        await client.sync();
        expect(client.state()).toEqual(await fullState(person));
      },
    );

    async function syncOf({ agent }: SignedInPerson, version: number) {
      return (await expectOk(agent.post(`/user/sync/${version}`))).result;
    }

    it('sends the restored state when going back in another way, by resend', async () => {
      const app = await open(place);
      const person = await peopleWho(app);
      const client = await settledClient(person);
      await expectRefused(run(place, ['resend']), /in use/);
      await close(app);
      const { status, output } = await run(place, ['resend']);
      expect({ status, output }).toMatchObject({
        status: 0,
        output: expect.stringMatching(/sent everything/) as string,
      });
      const again = await open(place);
      const returning = foldingClientOf(await signIn(again, ann));
      Object.assign(returning, { version: client.version });
      expect((await returning.sync()).group_members).toHaveLength(2);
      expect(returning.state()).toEqual(await fullState(await signIn(again, ann)));
    });

    // guard backup-11: a restore keeps the dates of rows
    // deploy/backup.sh
    // - ALTER TABLE $table DISABLE TRIGGER USER;
    it('keeps the dates of entries of the blacklist', async () => {
      const app = await open(place);
      await peopleWho(app);
      await app.db('blacklist').insert({ user_id: ann.id, friend_id: bob.id });
      await close(app);
      const fresh = await emptyPlace(other, place.backupDir);
      await restore(fresh, await backUp(place));
      const dates = ({ server: on, database }: Place) => on.sql(database, 'SELECT updated_at FROM blacklist');
      expect(await dates(fresh)).toEqual(await dates(place));
    });
  });

  // guard backup-12: sessions from before a restore end when told to
  // deploy/backup.sh
  // - [ -z "$end_sessions" ] || echo 'DELETE FROM session;'
  it('keeps sessions, or ends all of them when told to', async () => {
    const place = await newPlace();
    const app = await open(place);
    await signIn(app, await insertPerson(app));
    await close(app);
    const name = await backUp(place);
    const sessions = async () =>
      (await place.server.sql(place.database, 'SELECT count(*)::int AS n FROM session'))[0]?.n;
    await restore(place, name, '--replace');
    expect(await sessions()).toBe(1);
    await restore(place, name, '--replace', '--end-sessions');
    expect(await sessions()).toBe(0);
  });

  // guard backup-21: a restore does not bring back a token of the admin API that was revoked
  // deploy/backup.sh
  // - forget_versions && revoke_tokens;
  // + forget_versions;
  it('revokes the tokens of the admin API, of which one may have been revoked since, unless nothing was lost', async () => {
    const place = await newPlace();
    const app = await open(place);
    await insertPerson(app);
    await tokenWith(app, 'helpdesk', 'support');
    await close(app);
    const name = await backUp(place);
    const valid = async () =>
      (
        await place.server.sql(place.database, 'SELECT count(*)::int AS n FROM admin_tokens WHERE revoked_at IS NULL')
      )[0]?.n;
    await restore(place, name, '--replace', '--nothing-lost');
    expect(await valid()).toBe(1);
    await restore(place, name, '--replace');
    expect(await valid()).toBe(0);
  });

  describe('restore refuses', () => {
    let place: Place;
    let name: string;

    beforeAll(async () => {
      place = await newPlace();
      const app = await open(place);
      await insertPerson(app);
      await close(app);
      mkdirSync(join(place.dataDir, 'uploads'), { recursive: true });
      writeFileSync(join(place.dataDir, 'uploads', 'image'), 'as it was');
      name = await backUp(place);
    });

    // guard backup-5: a restore replaces a database that is not empty only when told to
    // deploy/backup.sh
    // - [ -n "$replace" ] || refuse_tables
    it('a database that is not empty, unless told to replace it', async () => {
      const full = await newPlace();
      full.backupDir = place.backupDir;
      await full.server.sql(full.database, 'CREATE TABLE of_a_newer_release (user_id text REFERENCES users)');
      await expectRefused(run(full, ['restore', name]), /is not empty, it has \d+ tables: --replace drops them/);
      expect(await usersOf(full)).toEqual([]);
      await restore(full, name, '--replace');
      expect(await usersOf(full)).toEqual(await usersOf(place));
      expect(await full.server.sql(full.database, `SELECT to_regclass('of_a_newer_release') AS it`)).toEqual([
        { it: null },
      ]);
    });

    it('a role that is not a superuser, in one line', async () => {
      const outcome = await run(place, ['restore', name, '--replace'], { PGUSER: 'accounts_owner' });
      expect(outcome).toEqual({
        status: 0,
        output: expect.stringMatching(/^\S+ restore: .* was restored into .*\n$/) as string,
      });
    });

    // guard backup-6: a restore replaces existing images only when told to
    // deploy/backup.sh
    // - [ -n "$replace" ] || refuse_files
    it('a folder with files, unless told to replace them', async () => {
      const fresh = await emptyPlace(other, place.backupDir);
      mkdirSync(join(fresh.dataDir, 'uploads'), { recursive: true });
      writeFileSync(join(fresh.dataDir, 'uploads', 'later'), 'x');
      await expectRefused(run(fresh, ['restore', name]), /uploads already exists: --replace drops it/);
      expect(await tablesOf(fresh)).toBe(0);
      expect(readdirSync(fresh.dataDir)).toEqual(['uploads']);
      await restore(fresh, name, '--replace');
      expect(readdirSync(join(fresh.dataDir, 'uploads'))).toEqual(['image']);
    });

    // guard backup-4: a backup is not restored under a running service
    // deploy/backup.sh
    // -   refuse_open_connections
    // -   [ -n "$replace" ]
    // + [ -n "$replace" ]
    it('while the service is connected', async () => {
      const app = await open(place);
      await app.api.post('/user/check_phone_available').send(newPhone());
      const refused = run(place, ['restore', name, '--replace']);
      await expectRefused(refused, /in use, \d+ connections of accounts_owner: stop the service first/);
    });

    // guard backup-3: a damaged backup is not restored
    // deploy/backup.sh
    // - tell=$(cd "$from" && sha256sum --check --quiet SHA256SUMS 2>&1) ||
    // + true ||
    it.each(['database.dump', 'data.tar', '.env'])('a backup whose %s was changed', async (file) => {
      const fresh = await emptyPlace(other, newFolder());
      const copy = await backUp({ ...place, backupDir: fresh.backupDir });
      appendFileSync(join(fresh.backupDir, copy, file), 'x');
      await expectRefused(run(fresh, ['restore', copy]), new RegExp(`is damaged, nothing was restored: .*${file}`));
      expect(await tablesOf(fresh)).toBe(0);
    });

    it('an invalid name, and an unknown option', async () => {
      const fresh = await emptyPlace(other, place.backupDir);
      await expectRefused(
        run(fresh, ['restore', 'accounts-1']),
        /Z restore: failed: there is no backup accounts-1 in /,
      );
      await expectRefused(run(fresh, ['restore']), /there is no backup without a name/);
      await expectRefused(run(fresh, ['restore', name, '--force']), /there is no option --force/);
      await expectRefused(run({ ...fresh, backupDir: newFolder() }, ['restore', 'latest']), /there is no backup/);
    });

    it('a role that may not create missing roles', async () => {
      const fresh = await emptyPlace(other, newFolder());
      await place.server.sql(place.database, 'CREATE ROLE unheard_of; GRANT SELECT ON users TO unheard_of');
      const copy = await backUp({ ...place, backupDir: fresh.backupDir });
      const refused = run(fresh, ['restore', copy], { PGUSER: 'accounts_owner' });
      await expectRefused(refused, /the role unheard_of is missing: have a superuser create it first/);
    });

    // guard backup-7: a restore whose dump breaks off changes nothing
    // deploy/backup.sh
    // - echo "BEGIN; SET LOCAL
    // + echo "SET LOCAL
    it('to leave changes when it fails half way: the database and the files stay as they were', async () => {
      const [backupDir, users] = [newFolder(), await usersOf(place)];
      const cut = { ...place, backupDir };
      const copy = await backUp(cut);
      const dump = join(backupDir, copy, 'database.dump');
      truncateSync(dump, statSync(dump).size - 2_000);
      spawnSync('sh', ['-c', 'sha256sum database.dump data.tar .env >SHA256SUMS'], { cwd: join(backupDir, copy) });
      const { status, output } = await run(cut, ['restore', copy, '--replace']);
      expect({ status, output }).toMatchObject({
        status: 1,
        output: expect.stringMatching(/the database is unchanged/) as string,
      });
      expect(await usersOf(place)).toEqual(users);
      expect(readFileSync(join(place.dataDir, 'uploads', 'image'), 'utf8')).toBe('as it was');
      expect(readdirSync(place.dataDir)).not.toContain('.restored');
    });
  });

  describe('backup', () => {
    // guard backup-18: a backup is readable only by its owner
    // deploy/backup.sh
    // - umask 077
    // + umask 022
    it('lets only the owner read it', async () => {
      const place = await newPlace();
      const folder = join(place.backupDir, await backUp(place));
      expect(readdirSync(folder).sort()).toEqual(['.env', 'SHA256SUMS', 'data.tar', 'database.dump']);
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
      expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(SETTINGS);
    });

    it.each([
      ['none', '.env.none'],
      ['plain', '.env'],
    ])('keeps settings as BACKUP_ENV=%s says', async (BACKUP_ENV, kept) => {
      const place = await newPlace();
      const files = readdirSync(join(place.backupDir, await backUp(place, { BACKUP_ENV })));
      expect(files.filter((name) => name.startsWith('.env'))).toEqual([kept].filter((name) => name === '.env'));
    });

    // guard backup-1: settings are encrypted in backups when told to
    // deploy/backup.sh
    // - tell=$(encrypt_by_gpg 2>&1)
    // + tell=$(cp "$ENV_FILE" "$UNFINISHED/.env" 2>&1)
    (spawnSync('gpg', ['--version']).status === 0 ? it : it.skip)(
      'encrypts settings to the gpg key that BACKUP_ENV names, and a restore says so',
      async () => {
        const place = await newPlace();
        const home = newFolder();
        const gpg = (...args: string[]) =>
          spawnSync('gpg', ['--homedir', home, '--batch', '--quiet', '--pinentry-mode', 'loopback', ...args]);
        gpg('--passphrase', '', '--quick-generate-key', 'operator@example.com', 'rsa2048', 'encrypt');
        const key = join(home, 'key.asc');
        writeFileSync(key, gpg('--armor', '--export').stdout);
        const name = await backUp(place, { BACKUP_ENV: key });
        const folder = join(place.backupDir, name);
        expect(readdirSync(folder).sort()).toEqual(['.env.gpg', 'SHA256SUMS', 'data.tar', 'database.dump']);
        expect(gpg('--decrypt', join(folder, '.env.gpg')).stdout.toString()).toBe(SETTINGS);
        spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']);
        const restored = await run(place, ['restore', name, '--replace']);
        expect(restored.output).toMatch(/restore: the settings of the backup are encrypted: decrypt \S+\.env\.gpg,/);
      },
    );

    it('fails when the settings cannot be encrypted, and leaves nothing', async () => {
      const place = await newPlace();
      await expectRefused(run(place, ['now'], { BACKUP_ENV: '/no/key' }), /cannot read the public key \/no\/key/);
      expect(backupsIn(place)).toEqual([]);
    });

    // guard backup-2: a server newer than pg_dump is reported with a remedy
    // deploy/backup.sh
    // - $(why_not_dumped "$tell")
    // + $(why "$tell")
    (major(programs) < 18 ? it : it.skip)(
      'names the package to install when the server is newer than pg_dump',
      async () => {
        const newer = await cloneDatabase();
        const { hostname, port, username, password, pathname } = new URL(newer.url);
        const env = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password };
        const outcome = run(await newPlace(), ['now'], { ...env, PGDATABASE: pathname.slice(1) });
        await expectRefused(outcome, /the server is PostgreSQL 18, but pg_dump is \d+: install postgresql-client-18$/);
        await newer.drop();
      },
    );

    // guard backup-14: a backup has images that arrive while the database is dumped
    // deploy/backup.sh
    // - pack --append --newer="@$((began - 60))"
    it('has the images that rows name, including those that come or go while the database is dumped', async () => {
      const place = await newPlace();
      const uploads = join(place.dataDir, 'uploads');
      mkdirSync(uploads);
      writeFileSync(join(uploads, 'goes'), 'x');
      const first = newFolder();
      const program = `#!/bin/sh\nrm ${uploads}/goes\ntouch ${uploads}/comes\nexec ${programs}/pg_dump "$@"\n`;
      writeFileSync(join(first, 'pg_dump'), program, { mode: 0o755 });
      const name = await backUp(place, { PATH: `${first}:${programs}:${process.env.PATH ?? ''}` });
      const fresh = await emptyPlace(other, place.backupDir);
      await restore(fresh, name);
      expect(readdirSync(join(fresh.dataDir, 'uploads')).sort()).toEqual(['comes', 'goes']);
    });

    it('is made of the standby that BACKUP_FROM names, and noted at the primary', async () => {
      const place = await newPlace();
      await other.sql('postgres', `CREATE DATABASE ${place.database} OWNER accounts_owner`);
      await migrate(other.url(place.database, 'accounts_owner'));
      await other.sql(place.database, `INSERT INTO users (id, nickname) VALUES ('onlythere', 'Ann')`);
      const name = await backUp(place, { BACKUP_FROM: `host=${other.folder}` });
      const fresh = await emptyPlace(other, place.backupDir);
      await restore(fresh, name);
      expect(await usersOf(fresh)).toEqual(['onlythere']);
      const noted = `SELECT detail FROM security_events WHERE event = 'backed_up'`;
      expect(await server.sql(place.database, noted)).toEqual([{ detail: name }]);
      expect(await other.sql(place.database, noted)).toEqual([]);
    });

    it('is noted in the audit trail, where the doctor of operators reads its age', async () => {
      const place = await newPlace();
      const name = await backUp(place);
      const noted = `SELECT detail FROM security_events WHERE event = 'backed_up'`;
      expect(await place.server.sql(place.database, noted)).toEqual([{ detail: name }]);
    });

    it('is made also when the audit trail cannot be written, and says so', async () => {
      const place = await newPlace();
      const refuse = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the trail is closed'; END $$;
        CREATE TRIGGER closed BEFORE INSERT ON security_events EXECUTE FUNCTION refuse()`;
      await place.server.sql(place.database, refuse);
      const { status, output } = await run(place, ['now']);
      expect({ status, output }).toEqual({
        status: 0,
        output: expect.stringMatching(/the audit trail does not have accounts-\S+: .*the trail is closed/) as string,
      });
    });

    // guard backup-20: the newest backups are kept
    // deploy/backup.sh
    // - backups | head -n "-$BACKUP_KEEP"
    // + backups | tail -n "+$BACKUP_KEEP"
    it('keeps the newest backups, and only those', async () => {
      const place = await newPlace();
      for (const day of ['01', '02', '03', '04']) mkdirSync(join(place.backupDir, `accounts-2026-01-${day}T03-00-00Z`));
      mkdirSync(join(place.backupDir, 'of-somebody-else'));
      const name = await backUp(place, { BACKUP_KEEP: '3' });
      expect(backupsIn(place).sort()).toEqual(
        ['accounts-2026-01-03T03-00-00Z', 'accounts-2026-01-04T03-00-00Z', name, 'of-somebody-else'].sort(),
      );
    });

    /** More backups than are kept. A failed one may not remove any. */
    const OLDER = ['accounts-2026-01-01T03-00-00Z', 'accounts-2026-01-02T03-00-00Z'];

    function withOlder(place: Place): Place {
      for (const name of OLDER) mkdirSync(join(place.backupDir, name));
      return place;
    }

    async function expectFailed(place: Place, why: RegExp, env: Record<string, string> = {}): Promise<void> {
      await expectRefused(run(place, ['now'], { BACKUP_KEEP: '1', ...env }), why);
      expect(backupsIn(place).sort()).toEqual(OLDER);
    }

    // guard backup-13: a failed backup removes no older backup
    // deploy/backup.sh
    // - connect
    // - [ "$(sql
    // + prune
    // + connect
    // + [ "$(sql
    it('fails when the database is down, and removes no older backup', async () => {
      const place = withOlder(await newPlace());
      await expectFailed(place, /failed: the database cannot be reached: .*No such file/, { PGHOST: newFolder() });
    });

    // guard backup-15: an interrupted dump is not a backup
    // deploy/backup.sh
    // - --file="$UNFINISHED/database.dump" 2>&1) || fail "the database was not dumped: $(why_not_dumped "$tell")"
    // + --file="$UNFINISHED/database.dump" 2>&1) || true
    it('fails when the dump breaks off, and removes no older backup', async () => {
      const place = withOlder(await newPlace());
      const env = { PGUSER: 'accounts_service' };
      await expectFailed(place, /failed: the database was not dumped: .*permission denied/, env);
    });

    // guard backup-16: an empty database does not replace backups
    // deploy/backup.sh
    // - [ "$(sql "SELECT to_regclass('public.users') IS NOT NULL")" = t ] ||
    // + true ||
    it('fails when the database is empty, so that a lost database does not replace the backups', async () => {
      await expectFailed(withOlder(await emptyPlace()), /has no table users|does not exist/);
      const place = withOlder(await emptyPlace());
      mkdirSync(place.dataDir);
      await expectFailed(place, /has no table users: an empty database is not backed up/);
    });

    it('fails with an invalid number of backups to keep', async () => {
      await expectFailed(withOlder(await newPlace()), /BACKUP_KEEP must be a whole number from 1: 0/, {
        BACKUP_KEEP: '0',
      });
    });

    // guard backup-17: a backup fails on a full disk
    // deploy/backup.sh
    // - [ "$status" -le 1 ] ||
    // + true ||
    (isRoot ? it : it.skip)('fails when the disk is full, and leaves nothing of the backup', async () => {
      const place = withOlder(await newPlace());
      writeFileSync(join(place.dataDir, 'image'), Buffer.alloc(2_000_000));
      const mount = `mount -t tmpfs -o size=1m tmpfs "$BACKUP_DIR" && mkdir "$BACKUP_DIR/accounts-1" && sh "$1" now
        status=$?; ls -A "$BACKUP_DIR"; exit $status`;
      const { status, output } = await run(place, [], {}, ['unshare', '--mount', 'sh', '-c', mount]);
      expect({ status, output }).toEqual({
        status: 1,
        output: expect.stringMatching(/failed: .* was not packed: .*0 free in \S+\n\.lock\naccounts-1\n$/) as string,
      });
    });

    // guard backup-19: backups are made one at a time
    // deploy/backup.sh
    // - flock --nonblock 9 ||
    // + true ||
    it('runs once at a time', async () => {
      const place = await newPlace();
      const holder = spawn('flock', [join(place.backupDir, '.lock'), 'cat'], { stdio: ['pipe', 'pipe', 'ignore'] });
      holder.stdin.write('held\n');
      await new Promise((resolve) => holder.stdout.once('data', resolve));
      await expectRefused(run(place, ['now']), /another backup or restore is under way/);
      holder.stdin.end();
      await new Promise((resolve) => holder.on('close', resolve));
      await backUp(place);
    });
  });

  describe('the nightly backup', () => {
    /** Replaces `date` and `sleep` by programs that let a night pass at once. */
    function clock(time: string) {
      const folder = newFolder();
      const [now, asleep] = [join(folder, 'now'), join(folder, 'asleep')];
      const program = (name: string, body: string) =>
        writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
      program('date', `case $* in *+%s) exec /bin/date +%s --date="$(cat ${now})" ;; esac\nexec /bin/date "$@"`);
      program('sleep', `touch ${asleep}\nexec /bin/sleep 0.05`);
      writeFileSync(now, time);
      return {
        path: `${folder}:${programs}:${process.env.PATH ?? ''}`,
        /** Sets the time, after the script has decided when to continue. */
        set: async (next: string) => {
          rmSync(asleep, { force: true });
          await until(() => existsSync(asleep));
          writeFileSync(now, next);
        },
      };
    }

    it('makes a backup at once when the last day has none, and stops when told to', async () => {
      const place = await newPlace();
      expect(await run(place, ['fresh'])).toMatchObject({ status: 1 });
      const { child, ended, shown } = start(place, ['nightly'], { PATH: clock('2026-03-01T12:00:00Z').path });
      await until(() => shown().includes(' is complete, '));
      expect(await run(place, ['fresh'])).toMatchObject({ status: 0 });
      child.kill('SIGTERM');
      expect(await ended).toMatchObject({ status: 0 });
    });

    it('makes a backup at BACKUP_AT of each day', async () => {
      const place = await newPlace();
      await backUp(place);
      const time = clock('2026-03-01T08:08:59Z');
      const { child, ended, shown } = start(place, ['nightly'], { PATH: time.path, BACKUP_AT: '08:09' });
      const count = () => shown().split(' is complete, ').length - 1;
      for (const [now, backups] of [
        ['2026-03-01T08:09:00Z', 1],
        ['2026-03-02T08:08:59Z', 1],
        ['2026-03-02T08:09:00Z', 2],
      ] as const) {
        await time.set(now);
        await until(() => count() >= backups);
        expect(count()).toBe(backups);
      }
      child.kill('SIGTERM');
      await ended;
    });

    it('tries again an hour after a failure', async () => {
      const place = await newPlace();
      const time = clock('2026-03-01T03:00:00Z');
      rmSync(place.dataDir, { recursive: true });
      const { child, ended, shown } = start(place, ['nightly'], { PATH: time.path });
      await until(() => /failed: the folder \S+ does not exist/.test(shown()));
      mkdirSync(place.dataDir);
      await time.set('2026-03-01T04:00:00Z');
      await until(() => shown().includes(' is complete, '));
      child.kill('SIGTERM');
      await ended;
    });

    it('refuses an invalid time of day', async () => {
      await expectRefused(
        run(await newPlace(), ['nightly'], { BACKUP_AT: '24:00' }),
        /BACKUP_AT must be a time of day/,
      );
    });
  });

  it('runs by npm run backup, like npm run restore, with the settings of the service', async () => {
    const place = await newPlace();
    const env = {
      PATH: `${programs}:${process.env.PATH ?? ''}`,
      HOME: process.env.HOME ?? '',
      DATA_DIR: place.dataDir,
      BACKUP_DIR: place.backupDir,
      DATABASE_URL: place.server.url(place.database, 'accounts_owner'),
    };
    const npm = (...args: string[]) =>
      new Promise<Outcome>((settle) => {
        const child = spawn('npm', ['run', '--silent', ...args], { cwd: ROOT, env });
        let output = '';
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (chunk: Buffer) => (output += String(chunk)));
        child.on('close', (status) => settle({ status, output }));
      });
    expect(await npm('backup')).toEqual({ status: 0, output: expect.stringMatching(/ is complete, /) as string });
    // PostgreSQL lists a connection for a moment after its client has ended.
    const connections = `SELECT FROM pg_stat_activity WHERE datname = '${place.database}'`;
    await until(async () => (await place.server.sql('postgres', connections)).length === 0);
    const { status, output } = await npm('restore', '--', 'latest', '--replace');
    expect({ status, output }).toMatchObject({
      status: 0,
      output: expect.stringMatching(/ was restored into /) as string,
    });
  });
});
