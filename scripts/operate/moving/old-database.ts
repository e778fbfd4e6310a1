import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { ChangeLog } from './change-log';
import { allowUse, connect } from './connect';
import { hasCitus, tablesOf, type Table } from './tables';

/** Parts of tables on each worker of a Citus, by their own names. */
const PARTS = `
  SELECT nodename AS host, nodeport AS port, json_object_agg(shard_name, table_name::text) AS parts
    FROM citus_shards JOIN pg_dist_node USING (nodename, nodeport)
   WHERE noderole = 'primary' AND table_name::text = ANY ($1) GROUP BY nodename, nodeport`;

/** Ends the connections from before. */
const END_OLDER = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
   WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND backend_start < $1`;

/** The database that is left: one PostgreSQL, or a Citus with the logs of all its servers. */
export class OldDatabase {
  private constructor(
    readonly db: Client,
    readonly tables: Table[],
    readonly logs: ChangeLog[],
    private readonly servers: Client[],
    private readonly isDistributed: boolean,
  ) {}

  static async open(url: string): Promise<OldDatabase> {
    const db = await connect(url);
    const tables = await tablesOf(db);
    const names = tables.map(({ name }) => name);
    const isDistributed = await hasCitus(db);
    const parts = isDistributed
      ? (await db.query<{ host: string; port: number; parts: Record<string, string> }>(PARTS, [names])).rows
      : [];
    const spread = new Set(parts.flatMap((one) => Object.values(one.parts)));
    const own = names.filter((name) => !spread.has(name));
    const logs = [new ChangeLog(db, new Map(own.map((name) => [name, name])))];
    const servers = [db];
    for (const { host, port, parts: names } of parts) {
      const server = await connect(Object.assign(new URL(url), { host: `${host}:${port}` }).href);
      logs.push(new ChangeLog(server, new Map(Object.entries(names))));
      servers.push(server);
    }
    return new OldDatabase(db, tables, logs, servers, isDistributed);
  }

  /**
   * Lets nobody use it any more, and returns when no other transaction can still commit. Events that its workers still hold
   * are among its changes then.
   */
  async stopUse(): Promise<void> {
    await allowUse(this.db, false);
    const { rows } = await this.db.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    while ((await this.db.query(END_OLDER, [rows[0]?.now])).rows.length > 0 || (await this.hasPrepared()))
      await sleep(50);
    if (this.isDistributed) await this.db.query('SELECT gather_events(max(version)) FROM events_elsewhere');
  }

  /** Returns a version above all that were given out. */
  async newestVersion(): Promise<number> {
    const { rows } = await this.db.query<{ version: string }>('SELECT sync_next_version() AS version');
    return Number(rows[0]?.version);
  }

  async close(): Promise<void> {
    for (const server of this.servers) await server.end();
  }

  /** Returns whether a commit of several servers has not reached all of them. */
  private async hasPrepared(): Promise<boolean> {
    if (this.isDistributed) await this.db.query('SELECT recover_prepared_transactions()');
    for (const server of this.servers) {
      const { rows } = await server.query('SELECT FROM pg_prepared_xacts WHERE database = current_database()');
      if (rows.length > 0) return true;
    }
    return false;
  }
}
