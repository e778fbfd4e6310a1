import { Client } from 'pg';
import { codeOf } from '../../errors';

export const USER = 'accounts';
export const DATABASE = 'accounts';

const NAME = 'account service, process ';
/** Any pair of numbers that no other program takes in this cluster. */
const LOCK = '1633905524, 1';
const RECLAIM_AFTER_MS = 500;

export interface Address {
  port: number;
  password: string;
}

export type Claim =
  { state: 'ours'; ownership: Ownership } | { state: 'taken'; by: number | undefined } | { state: 'away' };

/** The server is not there yet, or not any more; the rest (a wrong password, say) will not mend by waiting. */
const AWAY = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03']);

/**
 * Tries to become the one service on a cluster. The claim is a lock of a database session, so that it ends with the
 * process that holds it, however that ends, and no file can go stale.
 */
export async function claim(address: Address): Promise<Claim> {
  const client = newClient(address);
  try {
    await client.connect();
    const { rows } = await client.query<{ ours: boolean }>(`SELECT pg_try_advisory_lock(${LOCK}) AS ours`);
    if (rows[0]?.ours) return { state: 'ours', ownership: new Ownership(address, client) };
    const by = await holder(client);
    await client.end();
    return { state: 'taken', by };
  } catch (error) {
    await client.end().catch(() => undefined);
    const code = codeOf(error);
    // pg's own "Connection terminated" and time-outs carry no code.
    if (code === undefined || AWAY.has(code)) return { state: 'away' };
    throw error;
  }
}

/** Held for as long as the service lives. */
export class Ownership {
  private released = false;
  private revive: () => Promise<void> = async () => undefined;
  private reclaiming: Promise<void> | undefined;

  constructor(
    private readonly address: Address,
    private client: Client,
  ) {
    this.watch();
  }

  async createDatabase(): Promise<void> {
    const { rowCount } = await this.client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (!rowCount) await this.client.query(`CREATE DATABASE ${DATABASE}`);
  }

  /** `revive` is called when the server has dropped the session, before the lock is taken again. */
  reviveBy(revive: () => Promise<void>): void {
    this.revive = revive;
  }

  /** The server is about to be stopped: losing the session is no accident from now on. */
  async stopWatching(): Promise<void> {
    this.released = true;
    await this.reclaiming;
  }

  async release(): Promise<void> {
    this.released = true;
    await this.client.end().catch(() => undefined);
  }

  /** A server that restarts after a crash drops every session, and the lock with it, while the service lives on. */
  private watch(): void {
    this.client.once('end', () => this.reclaimLater());
  }

  private reclaimLater(): void {
    if (this.released) return;
    setTimeout(() => (this.reclaiming = this.reclaim()), RECLAIM_AFTER_MS).unref();
  }

  private async reclaim(): Promise<void> {
    if (this.released) return;
    await this.revive().catch(() => undefined);
    if (this.released) return;
    const again = await claim(this.address).catch(() => undefined);
    if (again?.state !== 'ours') return this.reclaimLater();
    this.client = again.ownership.client;
    again.ownership.released = true;
    if (this.released) return this.release();
    this.watch();
  }
}

/** Everything is given, so that no PG… variable of the operator's shell has a say. */
function newClient({ port, password }: Address): Client {
  const client = new Client({
    host: '127.0.0.1',
    port,
    user: USER,
    password,
    database: 'postgres',
    ssl: false,
    options: '-c statement_timeout=0 -c idle_session_timeout=0',
    application_name: NAME + String(process.pid),
    connectionTimeoutMillis: 5_000,
  });
  // Without a listener, a database that is killed under us would end the process too.
  client.on('error', () => undefined);
  return client;
}

async function holder(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND (classid, objid) = (${LOCK}) AND application_name LIKE $1`,
    [`${NAME}%`],
  );
  return rows[0] && Number(rows[0].name.slice(NAME.length));
}
