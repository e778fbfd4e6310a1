import { PgoutputPlugin, type Pgoutput } from 'pg-logical-replication';
import type { Client } from 'pg';
import { quoted } from './tables';

/** The name of the publication and of the replication slot. */
export const NAME = 'accounts_move';

type Values = Record<string, string | null>;

/** The end of a row's changes: its values, or only those that changed, or undefined if it is gone. */
export interface Change {
  key: Values;
  values: Values | undefined;
  isPartial: boolean;
}

/** The changes of a part of the log, by table and by key, in the order of the last changes. */
export type Changes = Map<string, Map<string, Change>>;

/** Changes that are read at once. The last transaction is read whole. */
const AT_ONCE = 5_000;

/** Values stay texts, which any PostgreSQL reads again without a loss. */
class TextPlugin extends PgoutputPlugin {
  override parse(buffer: Buffer): Pgoutput.Message {
    const message = super.parse(buffer);
    if (message.tag === 'relation') for (const column of message.columns) column.parser = (text: unknown) => text;
    return message;
  }
}

/** The log of one server of the old database: what was written after it had begun. */
export class ChangeLog {
  private last: string | undefined;

  /** `tables` has the name of each table by its name in the log: a part of it on a Citus has a name of its own. */
  constructor(
    private readonly server: Client,
    private readonly tables: Map<string, string>,
  ) {}

  /** Begins the log, unless an earlier run has. */
  async begin(): Promise<void> {
    const { rows } = await this.server.query(
      'SELECT FROM pg_replication_slots WHERE slot_name = $1 AND database = current_database()',
      [NAME],
    );
    if (rows.length > 0) return;
    await this.server.query(`DROP PUBLICATION IF EXISTS ${NAME}`);
    await this.server.query(`CREATE PUBLICATION ${NAME} FOR TABLE ${quoted([...this.tables.keys()])}`);
    await this.server.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [NAME]);
  }

  /** Returns the next changes, which come again until they are confirmed. */
  async next(): Promise<Changes> {
    const written = await this.server.query<{ end: string }>('SELECT pg_current_wal_flush_lsn() AS end');
    const { rows } = await this.server.query<{ data: Buffer }>(
      `SELECT data FROM pg_logical_slot_peek_binary_changes('${NAME}', NULL, $1, 'proto_version', '1', 'publication_names', '${NAME}')`,
      [AT_ONCE],
    );
    const plugin = new TextPlugin({ protoVersion: 1, publicationNames: [NAME] });
    const changes: Changes = new Map();
    // The log has nothing of these tables until then.
    if (rows.length === 0) this.last = written.rows[0]?.end;
    for (const { data } of rows) this.add(changes, plugin.parse(data));
    return changes;
  }

  async confirm(): Promise<void> {
    if (this.last === undefined) return;
    await this.server.query('SELECT pg_replication_slot_advance($1, $2)', [NAME, this.last]);
    this.last = undefined;
  }

  /** Returns the bytes of the log that are still to be read. */
  async behind(): Promise<number> {
    const { rows } = await this.server.query<{ bytes: string }>(
      `SELECT pg_current_wal_lsn() - confirmed_flush_lsn AS bytes FROM pg_replication_slots WHERE slot_name = $1`,
      [NAME],
    );
    return Number(rows[0]?.bytes ?? 0);
  }

  async remove(): Promise<void> {
    await this.server.query(
      `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
        WHERE slot_name = $1 AND database = current_database()`,
      [NAME],
    );
    await this.server.query(`DROP PUBLICATION IF EXISTS ${NAME}`);
  }

  private add(changes: Changes, message: Pgoutput.Message): void {
    if (message.tag === 'commit') this.last = message.commitEndLsn ?? undefined;
    if (message.tag === 'truncate') throw new Error('a table was truncated: cancel the move, and begin again');
    if (message.tag !== 'insert' && message.tag !== 'update' && message.tag !== 'delete') return;
    const { keyColumns, name } = message.relation;
    const table = this.tables.get(name) ?? name;
    const rows = changes.get(table) ?? new Map<string, Change>();
    changes.set(table, rows);
    const put = (key: Values, values?: Values) => {
      const id = JSON.stringify(keyColumns.map((column) => key[column]));
      const before = rows.get(id);
      rows.delete(id);
      rows.set(id, merged(before, key, values));
    };
    if (message.tag === 'delete') return put(message.key ?? {});
    // The key has changed.
    if (message.tag === 'update' && message.key) put(message.key);
    put(message.new, message.new);
  }
}

/** A large value that an update left alone is not in the log. */
function merged(before: Change | undefined, key: Values, values: Values | undefined): Change {
  if (values === undefined) return { key, values, isPartial: false };
  const known = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  if (Object.keys(known).length === Object.keys(values).length) return { key, values, isPartial: false };
  return { key, values: { ...before?.values, ...known }, isPartial: before?.values === undefined || before.isPartial };
}
