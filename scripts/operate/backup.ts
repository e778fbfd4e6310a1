import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { databaseUrl } from '../../knexfile';

/**
 * npm run backup, npm run restore -- NAME: deploy/backup.sh for an installation without containers, with the settings
 * of its service. It needs pg_dump, pg_restore and psql, of the database's version or a newer one, and GNU's tar and
 * coreutils.
 */

/** Returns variables for the environment: other users of this machine can read the arguments of a command. */
function connection(address: string): Record<string, string> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(address);
  const given = {
    PGHOST: searchParams.get('host') ?? hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    PGSSLMODE: searchParams.get('sslmode') ?? '',
    PGSSLROOTCERT: searchParams.get('sslrootcert') ?? '',
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
}

function runBackup(args: string[]): number {
  // Connects as the owner of the tables, with the variables of .env.
  const database = connection(databaseUrl());
  const folders = {
    DATA_DIR: resolve(process.env.DATA_DIR || '.data'),
    BACKUP_DIR: resolve(process.env.BACKUP_DIR || 'backups'),
    ENV_FILE: resolve('.env'),
  };
  const script = join(__dirname, '../..', 'deploy', 'backup.sh');
  const env = { ...process.env, ...folders, ...database };
  return spawnSync('sh', [script, ...args], { stdio: 'inherit', env }).status ?? 1;
}

try {
  process.exitCode = runBackup(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'unknown error'}\n`);
  process.exitCode = 1;
}
