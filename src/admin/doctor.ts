import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLine } from '../base/command-line';
import { codeOf } from '../base/errors';
import { isGuessable } from '../config/sections/sessions';
import { isOutage } from '../database/outage';
import { messageOf } from '../start/remedies';
import type { Check, Finding, PublicAnswer } from './check';
import { askPublicUrl, OUTSIDE } from './checks-outside';
import type { Answer, Row, Context } from './command';

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
    const { horizonAge } = await services();
    const seen = Math.round(await watchOldest(() => horizonAge.seconds()));
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
      return `no backup by deploy/backup.sh or ${commandLine('backup')} is known; others are not seen: docs/backup.md`;
    const age = `the newest is ${hours.toFixed(1)} h old`;
    return hours <= MOST_BACKUP_HOURS
      ? { note: age }
      : `${age}: look at the log of the service backup (docs/backup.md)`;
  },
  'test numbers': async ({ reads }) => {
    const lines = await reads.testNumbers.lines();
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

/** Remedies for checks that end with an error. */
const REMEDIES: Record<string, string> = {
  disk: 'run doctor where the service runs, which makes DATA_DIR at its start',
  'public address': 'set PUBLIC_URL to the address of clients, and let it lead to the proxy from this machine too',
  'headers of the proxy': 'let PUBLIC_URL lead to the proxy from this machine too',
  certificate: 'clients refuse it: look at the log of the proxy',
  'SMS credit': "check the provider's keys in the settings, and its status page",
};
const BUSY = 'the database was too busy or away: run doctor again, and look at docs/alerts.md, DatabaseAway';
const OTHERWISE = 'run doctor again where the service runs, and look at the log';

/** Errors of connections, in words. */
const IN_WORDS: Record<string, string> = {
  ENOTFOUND: 'the DNS of this machine does not know its name',
  EAI_AGAIN: 'the DNS of this machine does not answer',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was closed',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'no network leads there',
  ENETUNREACH: 'no network leads there',
  ENOENT: 'the folder does not exist on this machine',
};

/** Looks at everything that a deployment needs, one line each. A check that cannot be made is a finding too. */
export async function doctor(context: Context): Promise<Answer> {
  let asked: Promise<PublicAnswer> | undefined;
  const askPublicly = () => (asked ??= askPublicUrl(context));
  const checked = { ...context, server: await context.support.server(), askPublicly };
  // At once, since the admin API has a deadline.
  const found = Object.entries(CHECKS).map(async ([name, check]): Promise<Row> => {
    const finding: Finding = await Promise.resolve(checked)
      .then(check)
      .catch((error: unknown) => failureText(name, error));
    const isWell = typeof finding !== 'string';
    return { check: name, state: isWell ? 'ok' : 'LOOK', finding: isWell ? finding?.note : finding };
  });
  return { doctor: await Promise.all(found) };
}

/** Tells why a check could not be made, and what to do. */
function failureText(name: string, error: unknown): string {
  // The cause tells more than "fetch failed".
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const remedy = REMEDIES[name] ?? (isOutage(cause) ? BUSY : OTHERWISE);
  return `${IN_WORDS[codeOf(cause) ?? ''] ?? messageOf(cause)}: ${remedy}`;
}
