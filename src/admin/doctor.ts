import { statfs } from 'node:fs/promises';
import { messageOf } from '../start/remedies';
import type { Parts, Row, Workplace } from './command';
import type { ServerState } from './support-repository';
import { isFull } from './why';

/** A finding, or undefined where all is well. */
type Check = (at: Workplace & { server: ServerState }) => Promise<string | undefined> | string | undefined;

const LEAST_VERSION = 150_000;
const LEAST_FREE_BYTES = 1_024 ** 3;
const MOST_CLOCK_MS = 2_000;
const MOST_OPEN_SECONDS = 60;
/** Share of the connections of the server that is worth a look. */
const MOST_CONNECTIONS = 0.8;
/** Events of the last day that must have come from more than one address, if they are of several users. */
const SEVERAL = { events: 50, users: 10 };
const PUBLIC_MS = 5_000;

const CHECKS: Record<string, Check> = {
  settings: ({ config }) => (config.production ? undefined : 'NODE_ENV is not production: the strict defaults are off'),
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
  'oldest transaction': ({ server: { oldestSeconds } }) => {
    if (oldestSeconds <= MOST_OPEN_SECONDS) return undefined;
    return `it has been open for ${oldestSeconds} s, and holds back syncs: docs/alerts.md, OldTransaction`;
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
  'addresses of clients': async ({ support }) => {
    const { events, users, addresses } = await support.addressesOfDay();
    if (events < SEVERAL.events || users < SEVERAL.users || addresses > 1) return undefined;
    return `${users} users have one address: TRUST_PROXY must name the proxy in front (docs/abuse.md)`;
  },
  'public address': async ({ config }) => {
    const { publicUrl } = config.http;
    if (publicUrl === undefined) return 'PUBLIC_URL is not set: links and images get the address of each request';
    const answer = await fetch(`${publicUrl}/readyz`, { signal: AbortSignal.timeout(PUBLIC_MS) });
    return answer.ok ? undefined : `${publicUrl}/readyz answers ${answer.status}`;
  },
  'SMS provider': async ({ support }) => {
    const { sent, failed } = await support.messagesOfDay();
    return failed > sent
      ? `${failed} messages failed in the last day, and ${sent} were sent: look at its status and credit`
      : undefined;
  },
  'budget of codes': async ({ support, config }) => {
    if (config.limits.sendInAll.amount === 0)
      return config.production ? 'SEND_CODE_PER_DAY is 0: a fraud has no bound' : undefined;
    const [budget] = await support.limitsOf('all', ['send_in_all']);
    return budget && isFull(budget) ? `it is spent, until ${budget.ends}: docs/alerts.md, BudgetSpent` : undefined;
  },
};

/** Looks at everything that a deployment needs, one line each. A check that cannot be made is a finding too. */
export async function doctor(workplace: Workplace): Promise<Parts> {
  const at = { ...workplace, server: await workplace.support.server() };
  const rows: Row[] = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    const finding = await Promise.resolve(at).then(check).catch(causeOf);
    rows.push({ check: name, state: finding === undefined ? 'ok' : 'LOOK', finding });
  }
  return { doctor: rows };
}

/** The cause tells more than "fetch failed". */
function causeOf(error: unknown): string {
  return messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
}
