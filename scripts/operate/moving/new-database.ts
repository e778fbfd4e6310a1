import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { escapeIdentifier, type Client } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { migrate } from '../../../src/database/migrations';
import type { Change, Changes } from './change-log';
import { allowUse, connect } from './connect';
import { hasCitus, quoted, type Table } from './tables';

/** Remembers what an earlier run has copied. */
const PROGRESS = 'accounts_move';
/** The most by which clocks of servers may differ: the default of CLOCK_SKEW_MAX_MS. */
const CLOCKS_APART_MICROS = 1_000_000;

async function hasBegun(db: Client): Promise<boolean> {
  return (await db.query(`SELECT WHERE to_regclass('${PROGRESS}') IS NOT NULL`)).rows.length > 0;
}

/** The database that is moved to. No trigger changes what is written here: rows keep their versions. */
export class NewDatabase {
  private constructor(
    readonly db: Client,
    private readonly isDistributed: boolean,
    private readonly tables: Map<string, Table>,
  ) {}

  static async open(url: string, tables: Table[]): Promise<NewDatabase> {
    const db = await connect(url);
    if (!(await hasBegun(db))) await migrate(url);
    return new NewDatabase(db, await hasCitus(db), new Map(tables.map((table) => [table.name, table])));
  }

  /** Begins, or goes on. Throws if the database is in use. */
  async begin(): Promise<void> {
    if (await hasBegun(this.db)) return;
    const users = await this.db.query('SELECT 1 FROM users LIMIT 1');
    if (users.rows.length > 0) throw new Error('the new database has users already: move to an empty one');
    await this.db.query(`CREATE TABLE ${PROGRESS} (copied text PRIMARY KEY)`);
    // A service that is started here too early changes nothing.
    await allowUse(this.db, false);
  }

  /** Copies a table whole, unless an earlier run has. Returns whether it did. */
  async copy(table: Table, old: Client): Promise<boolean> {
    const { rows } = await this.db.query(`SELECT FROM ${PROGRESS} WHERE copied = $1`, [table.name]);
    if (rows.length > 0) return false;
    const what = `${escapeIdentifier(table.name)} (${quoted(table.columns.map(({ name }) => name))})`;
    await this.unchanged(async () => {
      // A few rows came with the migrations.
      await this.db.query(`DELETE FROM ${escapeIdentifier(table.name)}`);
      await pipeline(old.query(copyTo(`COPY ${what} TO STDOUT`)), this.db.query(copyFrom(`COPY ${what} FROM STDIN`)));
      if (this.isDistributed && table.name === 'group_members')
        await this.db.query(`INSERT INTO user_groups SELECT member_id, group_id, 0 FROM group_members`);
      await this.db.query(`INSERT INTO ${PROGRESS} VALUES ($1)`, [table.name]);
    });
    await this.db.query(`ANALYZE ${escapeIdentifier(table.name)}`);
    return true;
  }

  /** Writes changes of the old database, which may come again. */
  async write(changes: Changes): Promise<void> {
    if (changes.size === 0) return;
    await this.unchanged(async () => {
      for (const [name, rows] of changes) {
        const table = this.tables.get(name);
        if (!table) throw new Error(`${name} is not a table of the service`);
        const all = [...rows.values()];
        await this.remove(
          table,
          all.filter(({ values }) => values === undefined),
        );
        await this.put(
          table,
          all.filter(({ values, isPartial }) => values !== undefined && !isPartial),
        );
        for (const change of all) if (change.isPartial) await this.update(table, change);
      }
    });
  }

  /** Makes it ready for the service, whose versions go on above the newest of the old database. */
  async finish(newestVersion: number, say: (line: string) => void): Promise<void> {
    const { rows } = await this.db.query<{ table: string; column: string }>(
      `SELECT relname AS table, attname AS column FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE attidentity <> '' AND relnamespace = 'public'::regnamespace`,
    );
    for (const { table, column } of rows)
      await this.db.query(
        `SELECT setval(pg_get_serial_sequence($1, $2), max(${escapeIdentifier(column)})) FROM ${escapeIdentifier(table)}`,
        [table, column],
      );
    if (this.isDistributed) {
      await this.beginGathering(newestVersion);
      await this.awaitClock(newestVersion, say);
    } else await this.openBase(newestVersion);
    await this.end();
  }

  async end(): Promise<void> {
    await allowUse(this.db, true);
    await this.db.query(`DROP TABLE IF EXISTS ${PROGRESS}`);
  }

  async close(): Promise<void> {
    await this.db.end();
  }

  /** Runs work in a transaction without triggers, on all servers. */
  private async unchanged(work: () => Promise<void>): Promise<void> {
    await this.db.query(`BEGIN; SET LOCAL citus.propagate_set_commands = 'local';
      SET LOCAL citus.multi_shard_modify_mode = 'sequential'; SET LOCAL session_replication_role = replica`);
    try {
      await work();
      await this.db.query('COMMIT');
    } catch (error) {
      await this.db.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  private async remove({ name, columns, key }: Table, changes: Change[]): Promise<void> {
    if (changes.length === 0) return;
    const given = columns.filter((column) => key.includes(column.name));
    const same = given.map((column) => `written.${escapeIdentifier(column.name)} = ${castOf(column, 'gone')}`);
    await this.db.query(
      `DELETE FROM ${escapeIdentifier(name)} AS written USING ${listOf(given, 'gone')} WHERE ${same.join(' AND ')}`,
      given.map((column) => changes.map((change) => change.key[column.name])),
    );
  }

  private async put({ name, columns, key }: Table, changes: Change[]): Promise<void> {
    if (changes.length === 0) return;
    const others = columns.map((column) => column.name).filter((column) => !key.includes(column));
    const set = others.map((column) => `${escapeIdentifier(column)} = excluded.${escapeIdentifier(column)}`);
    const names = columns.map((column) => column.name);
    await this.db.query(
      `INSERT INTO ${escapeIdentifier(name)} (${quoted(names)}) OVERRIDING SYSTEM VALUE
        SELECT ${columns.map((column) => castOf(column, 'given')).join(', ')} FROM ${listOf(columns, 'given')}
        ON CONFLICT (${quoted(key)}) DO ${set.length > 0 ? `UPDATE SET ${set.join(', ')}` : 'NOTHING'}`,
      columns.map((column) => changes.map(({ values }) => values?.[column.name])),
    );
    if (this.isDistributed && name === 'group_members')
      await this.db.query(
        `INSERT INTO user_groups SELECT member_id, group_id, 0 FROM unnest($1::text[], $2::text[]) AS given (member_id, group_id)
          ON CONFLICT (user_id, group_id) DO NOTHING`,
        ['member_id', 'group_id'].map((column) => changes.map((change) => change.key[column])),
      );
  }

  private async update({ name, columns, key }: Table, change: Change): Promise<void> {
    const given = columns.filter((column) => column.name in (change.values ?? {}));
    const pairs = given.map((column, index) => ({
      text: `${escapeIdentifier(column.name)} = $${index + 1}::text::${column.type}`,
      isKey: key.includes(column.name),
    }));
    const set = pairs.filter(({ isKey }) => !isKey).map(({ text }) => text);
    const where = pairs.filter(({ isKey }) => isKey).map(({ text }) => text);
    await this.db.query(
      `UPDATE ${escapeIdentifier(name)} SET ${set.join(', ')} WHERE ${where.join(' AND ')}`,
      given.map((column) => change.values?.[column.name]),
    );
  }

  /** Versions begin at the clock, or above the newest one if the clock of this server is behind. */
  private async openBase(newestVersion: number): Promise<void> {
    await this.db.query('DELETE FROM sync_life; DELETE FROM sync_epoch');
    await this.db.query(
      'INSERT INTO sync_epoch (base, system_identifier) SELECT $1, system_identifier FROM pg_control_system()',
      [newestVersion],
    );
    await this.db.query('SELECT sync_base()');
  }

  /** Readers see all events of the old database, and later ones once they are gathered. */
  private async beginGathering(newestVersion: number): Promise<void> {
    await this.db.query(
      `INSERT INTO event_readers (name, version, number, subject) VALUES ('gathered', $1, 0, '')
        ON CONFLICT (name) DO UPDATE SET version = excluded.version`,
      [newestVersion],
    );
  }

  private async awaitClock(version: number, say: (line: string) => void): Promise<void> {
    for (let told = false; ; told = true) {
      const { rows } = await this.db.query<{ clock: string }>('SELECT sync_clock() AS clock');
      const behind = version + CLOCKS_APART_MICROS - Number(rows[0]?.clock);
      if (behind < 0) return;
      if (behind > 5_000_000 && !told)
        say(`The clock of the new database is ${Math.round(behind / 1e6)} s behind: waiting for it.`);
      await sleep(Math.min(behind / 1_000 + 1, 1_000));
    }
  }
}

/** A column of a list of texts, as what it is in the table. */
const castOf = ({ name, type }: Table['columns'][number], list: string) => `${list}.${escapeIdentifier(name)}::${type}`;

/** Rows of the texts that are the parameters of a statement, one parameter a column. */
function listOf(columns: Table['columns'], name: string): string {
  const parameters = columns.map((_, index) => `$${index + 1}::text[]`);
  return `unnest(${parameters.join(', ')}) AS ${name} (${quoted(columns.map((column) => column.name))})`;
}
