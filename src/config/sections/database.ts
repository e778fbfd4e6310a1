import { onOff, text, whole } from '../../base/formats';
import { rows, type Section, type Values } from '../../base/settings';
import { withPassword } from '../../database/database-url';
import { databaseUrl } from '../formats';

const MIB = 1_024 * 1_024;

// prettier-ignore
export const ADDRESSES = rows({
  DATABASE_URL: { kind: databaseUrl, secret: true, required: 'set it, the embedded database is for development only',
    says: 'postgresql://user:password@host:5432/database. Default: an embedded PostgreSQL in DATA_DIR.' },
  DATABASE_PASSWORD: { kind: text, secret: true,
    says: `Password for DATABASE_URL, which must then contain none. Characters such as @, / and % need no encoding
      here.` },
  DATABASE_MIGRATION_URL: { kind: databaseUrl, secret: true,
    says: `Address for migrations, which run as the owner of the tables. With it, the role of DATABASE_URL needs only
      the rights that the service uses. Default: DATABASE_URL. With the compose file: the owner's address in its own
      database if this is unset, and DATABASE_URL if it is empty. The command line makes tokens of the admin API with
      it.` },
  DATABASE_MIGRATION_PASSWORD: { kind: text, secret: true,
    says: `Password for DATABASE_MIGRATION_URL, in the same way. openssl rand -hex 32 makes either password.` },
});

// prettier-ignore
export const ROWS = rows({
  ...ADDRESSES,
  DATABASE_REPLICA_URL: { kind: databaseUrl, secret: true,
    says: `Address of a standby that serves sync, exports and members of groups (docs/database.md), with the role of
      DATABASE_URL. Without a password in it, it gets DATABASE_PASSWORD. Default: the primary serves all.` },
  REPLICA_LAG_MAX: { kind: whole(0, 1_048_576), default: 16,
    says: 'MiB of the log of writes by which the standby may be behind. Further behind, the primary serves.' },
  DATABASE_LIMITS_URL: { kind: databaseUrl, secret: true,
    says: `Address of another PostgreSQL for the counts of limits (docs/database.md), with the role of DATABASE_URL.
      Without a password in it, it gets DATABASE_PASSWORD. Default: the database of DATABASE_URL.` },
  CLOCK_SKEW_MAX_MS: { kind: whole(0, 60_000), default: 1_000,
    says: `With users and groups on several servers (docs/distributed.md): maximum difference of their clocks in
      milliseconds, which is that of a standby to its primary too. A sync repeats the changes of this time.` },
  DATABASE_POOL_MAX: { kind: whole(1, 1_000), default: 10,
    says: `Maximum connections for data. The service opens more: half this number for limits and the audit trail, four
      that small reads share, and one that checks the state of the database.` },
  DATABASE_PREPARE: { kind: onOff, default: 'on',
    says: `on or off: run frequent statements as prepared statements. PgBouncer in transaction mode supports them from
      1.21 on, with its max_prepared_statements above 0. Use off for older versions.` },
  DATABASE_WAIT_SECONDS: { kind: whole(0, 3_600), default: 0, production: 60,
    says: 'Seconds that the service waits at start for an unreachable database, which may still be starting.' },
  AUTO_MIGRATE: { kind: onOff, default: 'on', says: 'on or off: bring the schema up to date at start' },
});

export const SECTIONS: Section[] = [{ title: 'Database', rows: ROWS, ours: ['DATABASE'] }];

type Addresses = Values<typeof ADDRESSES>;
type Env = Values<typeof ROWS>;

export function databaseOf(env: Env) {
  return {
    poolMax: env.DATABASE_POOL_MAX,
    prepare: env.DATABASE_PREPARE === 'on',
    clocksApartMs: env.CLOCK_SKEW_MAX_MS,
    /** Undefined: no standby is read. */
    ...otherDatabases(env),
    autoMigrate: env.AUTO_MIGRATE === 'on',
    waitSeconds: env.DATABASE_WAIT_SECONDS,
  };
}

/** Returns the standby and the database of limits. Their roles have the passwords of the primary's, unless given. */
function otherDatabases(env: Env) {
  const { DATABASE_REPLICA_URL: replica, DATABASE_LIMITS_URL: limits, DATABASE_PASSWORD: password } = env;
  const whole = (url: string) => (password !== undefined && withPassword(url, password)) || url;
  return {
    replica: replica === undefined ? undefined : { url: whole(replica), mostBehind: env.REPLICA_LAG_MAX * MIB },
    limitsUrl: limits === undefined ? undefined : whole(limits),
  };
}

/** Returns both addresses. Migrations run as the owner of the tables: without their own address, the service is. */
export function databaseUrls(env: Addresses, mistakes: string[]) {
  const databaseUrl = databaseAddress(env, 'DATABASE', mistakes);
  const migrationUrl = databaseAddress(env, 'DATABASE_MIGRATION', mistakes);
  if (migrationUrl && !databaseUrl)
    mistakes.push('DATABASE_URL: set it, since DATABASE_MIGRATION_URL is only for migrations');
  return { databaseUrl, migrationUrl: migrationUrl ?? databaseUrl };
}

export function databaseAddress(env: Addresses, name: 'DATABASE' | 'DATABASE_MIGRATION', mistakes: string[]) {
  const { [`${name}_URL` as const]: url, [`${name}_PASSWORD` as const]: password } = env;
  if (password === undefined) return url;
  const whole = url && withPassword(url, password);
  if (!whole)
    mistakes.push(`${name}_PASSWORD: needs a ${name}_URL without a password: postgresql://user@host:5432/database`);
  return whole;
}
