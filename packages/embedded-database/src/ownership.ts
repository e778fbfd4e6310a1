import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { codeOf } from './error';

const DATABASE = 'accounts';
const NAME = 'account service, process ';
/** Any pair of numbers that no other program uses in this cluster. */
const LOCK = '1633905524, 1';
const LOCK_OR_HOLDER = `SELECT pg_try_advisory_lock(${LOCK}) AS ours, (
  SELECT substring(application_name FROM '^${NAME}(\\d+)$') FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND (classid, objid) = (${LOCK})) AS holder`;
const RECLAIM_AFTER_MS = 500;

/** `by` is the process that holds the lock; 0 when it has just released it. */
export type Claim = { state: 'ours'; client: Client } | { state: 'taken'; by: number } | { state: 'away' };

/** Codes of a server that does not run yet, or no longer. Waiting does not mend others, such as a wrong password. */
const AWAY = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03']);

/**
 * Tries to claim the cluster for one service. The claim is a lock of a database session: it ends with the process,
 * however that ends, and no file can go stale.
 */
export async function claim(server: string): Promise<Claim> {
  const client = newClient(server);
  try {
    await client.connect();
    const { rows } = await client.query<{ ours: boolean; holder: string | null }>(LOCK_OR_HOLDER);
    if (rows[0]?.ours) return { state: 'ours', client };
    await client.end();
    return { state: 'taken', by: Number(rows[0]?.holder) };
  } catch (error) {
    await client.end().catch(() => undefined);
    const code = codeOf(error);
    // Some errors of pg, such as "Connection terminated" and time-outs, have no code.
    if (code === undefined || AWAY.has(code)) return { state: 'away' };
    throw error;
  }
}

/** Claim on a cluster, held while the service runs. */
export class Ownership {
  private released = false;
  private reclaiming: Promise<void> | undefined;

  /** Calls `revive` when the server has dropped the session, before the lock is taken again. */
  constructor(
    private readonly server: string,
    private client: Client,
    private readonly revive: () => Promise<void>,
  ) {
    this.watch();
  }

  /** Creates the database of the service if it is missing, and returns its URL. */
  async openDatabase(): Promise<string> {
    const { rowCount } = await this.client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (!rowCount) await this.client.query(`CREATE DATABASE ${DATABASE}`);
    return urlOf(this.server, DATABASE);
  }

  /** Creates the role of the service if it is missing, and returns its URL. A standby has the role of its primary. */
  async openServiceRole(role: string, password: string): Promise<string> {
    const { rows } = await this.client.query<{ standby: boolean; missing: boolean }>(
      'SELECT pg_is_in_recovery() AS standby, to_regrole($1) IS NULL AS missing',
      [role],
    );
    const [{ standby, missing } = { standby: false, missing: true }] = rows;
    if (!standby && missing) await this.client.query(`CREATE ROLE ${role}`);
    if (!standby) await this.client.query(`ALTER ROLE ${role} LOGIN PASSWORD '${password}'`);
    const url = new URL(urlOf(this.server, DATABASE));
    Object.assign(url, { username: role, password });
    return url.href;
  }

  /** Stops the server, then releases the lock: another start must not take over a server that is stopping. */
  async release(stopServer: () => Promise<void>): Promise<void> {
    this.released = true;
    try {
      await this.reclaiming;
      await stopServer();
    } finally {
      await this.client.end().catch(() => undefined);
    }
  }

  /** Reclaims the lock when the session ends: after a crash the server ends all sessions, but the service goes on. */
  private watch(): void {
    this.client.once('end', () => (this.reclaiming = this.reclaim()));
  }

  private async reclaim(): Promise<void> {
    while (!this.released) {
      await sleep(RECLAIM_AFTER_MS);
      if (this.released) return;
      await this.revive().catch(() => undefined);
      const again = await claim(this.server).catch(() => undefined);
      if (again?.state !== 'ours') continue;
      this.client = again.client;
      return this.watch();
    }
  }
}

function urlOf(server: string, database: string): string {
  return `${server}/${database}?sslmode=disable`;
}

/** Sets every option, so that no PG… variable of the operator's shell has an effect. */
function newClient(server: string): Client {
  const client = new Client({
    connectionString: urlOf(server, 'postgres'),
    options: '-c statement_timeout=0 -c idle_session_timeout=0',
    application_name: NAME + String(process.pid),
    connectionTimeoutMillis: 5_000,
  });
  // Without a listener, a killed database would end this process too.
  client.on('error', () => undefined);
  return client;
}
