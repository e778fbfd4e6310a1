import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { migrate } from '../../src/database/migrations';
import { codeBlocks, codeOfKind, codesInSentences } from '../support/code-blocks';
import { InstalledPostgres, installedPostgres } from '../support/installed-postgres';
import { AS_ORDINARY_USER, ROOT } from '../support/service-process';
import { until } from '../support/until';

const programs = installedPostgres() ?? '';
const hasAll = ['pg_basebackup', 'pg_archivecleanup'].every((program) => existsSync(join(programs, program)));
/** setsid is part of util-linux, which not every system has. */
const hasSetsid = spawnSync('setsid', ['--version']).status === 0;
const read = (page: string) => readFileSync(join(ROOT, 'docs', page), 'utf8');

const PAGES = ['abuse.md', 'database.md', 'operations.md', 'secrets.md', 'upgrading.md'];
const STATEMENT = /^(?:ALTER (?:ROLE|SYSTEM)|CREATE ROLE|GRANT|SELECT|UPDATE|… SET) /;
const statements = PAGES.flatMap((page) =>
  codesInSentences(read(page))
    .filter((code) => STATEMENT.test(code))
    .map((statement) => ({ page, statement })),
);

if (programs === '')
  process.stderr.write('Commands for operators are NOT tested: no PostgreSQL with pg_dump is installed.\n');

(programs === '' ? describe.skip : describe)('the pages for operators', () => {
  let server: InstalledPostgres;
  beforeAll(async () => {
    server = InstalledPostgres.start(programs);
    await server.sql('postgres', 'CREATE ROLE accounts SUPERUSER LOGIN');
    await server.sql('postgres', 'CREATE DATABASE accounts OWNER accounts');
    await server.sql('accounts', readFileSync(join(ROOT, 'deploy/postgres/1-roles.sql'), 'utf8'));
    await migrate(server.url('accounts', 'accounts_owner'));
  });
  afterAll(() => server.remove());

  (hasSetsid ? it : it.skip)('make the two roles and their passwords, by the commands of database.md', async () => {
    const [own = '', ofCompose = ''] = codeBlocks(read('database.md')).map(({ text }) => text);
    const withPasswords = () =>
      server.sql('accounts', 'SELECT rolname FROM pg_authid WHERE rolpassword IS NOT NULL ORDER BY 1');
    const both = [{ rolname: 'accounts_owner' }, { rolname: 'accounts_service' }];

    // Without a terminal psql asks on standard output and reads standard input.
    const input = 'first\nfirst\nsecond\nsecond\n';
    run(['setsid', '--wait', 'bash', '-euc', own], { SUPERUSER_URL: server.url('accounts', 'accounts') }, input);
    expect(await withPasswords()).toEqual(both);

    await server.sql('accounts', 'ALTER ROLE accounts_owner PASSWORD NULL; ALTER ROLE accounts_service PASSWORD NULL');
    const inContainer = [...ofCompose.matchAll(/^docker compose exec postgres (.*)$/gm)].map(
      ([, command = '']) => command,
    );
    expect(inContainer).toHaveLength(2);
    const env = {
      POSTGRES_USER: 'accounts',
      POSTGRES_DB: 'accounts',
      DATABASE_PASSWORD: 'first',
      DATABASE_MIGRATION_PASSWORD: 'second',
    };
    const mounted = join(ROOT, 'deploy/postgres');
    for (const command of inContainer)
      run(['sh', '-euc', command.replace('/docker-entrypoint-initdb.d', mounted)], env);
    expect(await withPasswords()).toEqual(both);
  });

  it('have at least one statement', () => expect(statements.length).toBeGreaterThan(8));

  it.each(statements)('have a statement that PostgreSQL accepts, on $page: $statement', async ({ statement }) => {
    const whole = statement
      .replace(/^… SET/, 'ALTER ROLE … SET')
      .replace(/ROLE … /, 'ROLE my_service ')
      .replace(/PASSWORD … /, "PASSWORD 'x' ");
    if (whole.startsWith('ALTER SYSTEM ')) {
      await server.sql('accounts', whole);
      await server.sql('accounts', 'ALTER SYSTEM RESET ALL');
      return;
    }
    const created = whole.startsWith('CREATE ROLE') ? (whole.split(' ')[2] ?? '') : '';
    const before = ['my_old_role', 'my_service']
      .filter((role) => role !== created)
      .map((role) => `CREATE ROLE ${role}`);
    if (created === 'accounts_service') before.push('ALTER ROLE accounts_service RENAME TO other_service');
    await server.sql('accounts', ['BEGIN', ...before, whole, 'ROLLBACK'].join(';'));
  });

  // guard operator-commands-1: the documented way back to a moment works in PostgreSQL
  // docs/backup.md
  // - recovery_target_time =
  // + recovery_target_name =
  (hasAll ? it : it.skip)('go back to a moment, by the settings and commands of backup.md', async () => {
    const wal = join(server.folder, 'wal');
    const files = join(server.folder, 'files');
    const page = read('backup.md').replaceAll('/wal', wal);
    const [yaml = ''] = codeOfKind(page, 'yaml');
    const { services } = parse(yaml) as { services: { postgres: { command: string[] } } };
    const settings = services.postgres.command.slice(1).map((option) => /^-c(\w+)=(.*)$/s.exec(option) ?? []);
    const commands = [...page.matchAll(/^docker compose exec (?:--user postgres )?postgres (.*)$/gm)];
    const [, script = ''] = /<<'EOF'\n(.*?)^EOF$/ms.exec(page) ?? [];
    const [cleanup = ''] = /pg_archivecleanup [^`]+/.exec(page) ?? [];
    const [base, archived] = commands.map(([, command = '']) => command);

    asOrdinaryUser(`mkdir -p ${wal}/base`);
    for (const [, name, value = ''] of settings)
      appendFileSync(join(files, 'postgresql.conf'), `${name} = '${value.replaceAll("'", "''")}'\n`);
    server.stopServer();
    server.startServer();
    asOrdinaryUser(base ?? '');
    await server.sql('accounts', 'CREATE TABLE things AS SELECT 1 AS thing');
    const [{ moment } = {}] = await server.sql(
      'accounts',
      "SELECT to_char(now(), 'YYYY-MM-DD HH24:MI:SS.USOF') AS moment",
    );
    await server.sql('accounts', 'INSERT INTO things VALUES (2)');
    await until(() => / [1-9]\d* \| [0-9A-F]{24}/.test(asOrdinaryUser(archived ?? '')));
    server.stopServer();

    const [folder = ''] = readdirSync(join(wal, 'base'));
    asOrdinaryUser(
      script.replace(/base\/\d{4}-\d\d-\d\d/, `base/${folder}`).replace(/'\d{4}-.*\+00'/, `'${String(moment)}'`),
    );
    server.startServer();
    await until(async () => {
      const [{ recovering } = {}] = await server.sql('accounts', 'SELECT pg_is_in_recovery() AS recovering');
      return recovering === false;
    });
    expect(await server.sql('accounts', 'SELECT thing FROM things')).toEqual([{ thing: 1 }]);
    expect(readFileSync(join(server.folder, 'log'), 'utf8')).toContain('recovery stopping before commit');

    const segments = () => readdirSync(wal).filter((name) => /^\w{24}$/.test(name));
    const [start = ''] = readdirSync(wal).filter((name) => name.endsWith('.backup'));
    expect(segments().sort()[0]).not.toBe(start.slice(0, 24));
    asOrdinaryUser(cleanup.replace(/ \w{24}\.\w{8}\.backup/, ` ${start}`));
    expect(segments().sort()[0]).toBe(start.slice(0, 24));
  });

  /** Runs a command as an ordinary user, since the files belong to PostgreSQL. */
  function asOrdinaryUser(command: string): string {
    const before = process.getuid?.() === 0 ? AS_ORDINARY_USER : [];
    return run([...before, 'sh', '-euc', `cd /; ${command}`], { PGDATA: join(server.folder, 'files') });
  }

  function run([program = '', ...args]: string[], more: Record<string, string>, input = ''): string {
    const env = { PATH: `${programs}:${process.env.PATH}`, PGHOST: server.folder, ...more };
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, env, input, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${args.at(-1)}: ${stderr}`);
    return stdout;
  }
});
