import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isGuessable } from '../config/production';
import { messageOf } from '../start/remedies';
import type { Check, Finding } from './check';
import { OUTSIDE } from './checks-outside';
import type { Parts, Row, Workplace } from './command';

const LEAST_VERSION = 150_000;
const LEAST_FREE_BYTES = 1_024 ** 3;
const MOST_CLOCK_MS = 2_000;
const MOST_OPEN_SECONDS = 60;
/** The service's own transactions end within this time. */
const MOST_WRITING_SECONDS = 5;
const LOOK_MS = 250;
const LOOKS = 24;
/** Share of the connections of the server that is worth a look. */
const MOST_CONNECTIONS = 0.8;
/** As `backup.sh fresh`: a night, and the time that a backup takes. */
const MOST_BACKUP_HOURS = 26;

const CHECKS: Record<string, Check> = {
  settings: ({ config }) => (config.production ? undefined : 'NODE_ENV is not production: the strict defaults are off'),
  secrets: ({ config: { production, secrets } }) => {
    const password = decodeURIComponent(new URL(secrets.databaseUrl ?? 'postgresql://localhost').password);
    const weak = [
      ...((secrets.session ?? []).some(isGuessable) ? ['SESSION_SECRETS'] : []),
      ...(password !== '' && isGuessable(password) ? ['the password of DATABASE_URL'] : []),
    ];
    if (weak.length === 0) return undefined;
    const finding = `${weak.join(' and ')} can be guessed: openssl rand -hex 32 makes another`;
    return production ? finding : { note: finding };
  },
  'database version': ({ server: { number, encoding } }) => {
    if (number < LEAST_VERSION) return 'it is older than PostgreSQL 15: upgrade it';
    return encoding === 'UTF8' ? undefined : `its encoding is ${encoding}: make a database with UTF8`;
  },
  'database rights': ({ config, server }) => {
    // The service that brought its own database has a role for itself there.
    if (config.secrets.databaseUrl === undefined || !server.mayAll) return undefined;
    return 'the role of DATABASE_URL may change the audit trail: use accounts_service (docs/database.md)';
  },
  'database connections': ({ server: { connections, maxConnections } }) => {
    if (connections <= MOST_CONNECTIONS * maxConnections) return undefined;
    return `${connections} of ${maxConnections} are in use: raise max_connections, or lower DATABASE_POOL_MAX`;
  },
  'oldest transaction': async ({ server: { oldestSeconds }, services }) => {
    const seen = Math.round(await watchOldest(services.asked.horizonAge));
    if (Math.max(oldestSeconds - MOST_OPEN_SECONDS, seen - MOST_WRITING_SECONDS) < 0) return undefined;
    return `it has been open for ${Math.max(oldestSeconds, seen)} s or more, and holds back syncs: docs/alerts.md, OldTransaction`;
  },
  clock: async ({ support }) => {
    const before = Date.now();
    const { clockMs } = await support.server();
    const apart = Math.max(before - clockMs, clockMs - Date.now());
    return apart <= MOST_CLOCK_MS
      ? undefined
      : `this machine and the database are ${Math.round(apart / 1_000)} s apart: run NTP on both`;
  },
  disk: async ({ config }) => {
    const { bavail, bsize } = await statfs(config.dataDir);
    const free = bavail * bsize;
    return free >= LEAST_FREE_BYTES
      ? undefined
      : `${config.dataDir} has ${Math.round(free / 1_024 ** 2)} MiB left: make room`;
  },
  backups: async ({ support }) => {
    const hours = await support.hoursSinceBackup();
    if (hours === undefined)
      return 'no backup by deploy/backup.sh or npm run backup is known; others are not seen: docs/backup.md';
    const age = `the newest is ${hours.toFixed(1)} h old`;
    return hours <= MOST_BACKUP_HOURS
      ? { note: age }
      : `${age}: look at the log of the service backup (docs/backup.md)`;
  },
  'test numbers': async ({ services }) => {
    const lines = await services.testNumbers.lines();
    const finding = lines.map(({ line }) => line).join('; ');
    return lines.some(({ state }) => state !== 'in force') ? finding : finding ? { note: finding } : undefined;
  },
  ...OUTSIDE,
};

/**
 * Returns how long one transaction of any role has been writing: PostgreSQL shows the service's role only its own. Watches
 * as long as it is the same one.
 */
async function watchOldest(age: () => Promise<number>): Promise<number> {
  let seen = await age();
  for (let look = 0; look < LOOKS; look += 1) {
    await sleep(LOOK_MS);
    const now = await age();
    if (now <= seen || now > MOST_WRITING_SECONDS) return now;
    seen = now;
  }
  return seen;
}

/** Looks at everything that a deployment needs, one line each. A check that cannot be made is a finding too. */
export async function doctor(workplace: Workplace): Promise<Parts> {
  const at = { ...workplace, server: await workplace.support.server() };
  // At once, since the admin API has a deadline.
  const asked = Object.entries(CHECKS).map(async ([name, check]): Promise<Row> => {
    const finding: Finding = await Promise.resolve(at).then(check).catch(causeOf);
    const isWell = typeof finding !== 'string';
    return { check: name, state: isWell ? 'ok' : 'LOOK', finding: isWell ? finding?.note : finding };
  });
  return { doctor: await Promise.all(asked) };
}

/** The cause tells more than "fetch failed". */
function causeOf(error: unknown): string {
  return messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
}
