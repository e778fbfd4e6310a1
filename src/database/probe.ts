import { DatabaseSilent, type ConnectionWatch } from './connection-watch';
import { GuardedClient } from './guarded-client';
import { isMigrated, type Ask } from './migrations';
import { connectionOptions } from './pool';
import { withTimeout } from '../load/timeout';

export type DatabaseState = 'ready' | 'migrations are missing' | 'does not take writes';

const ANSWER_MS = 2_000;
const EVERY_MS = 5_000;

/**
 * Asks the database for its state, on its own connection: busy connections are not a reason to send requests to another
 * instance. It also asks every few seconds by itself: the log then shows an outage even without requests, and after a
 * restart of the server the base of versions exists before a write needs it.
 */
export class DatabaseProbe {
  private client: Promise<GuardedClient> | undefined;
  private asked: Promise<DatabaseState> | undefined;
  private migrated = false;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly url: string,
    private readonly watch: ConnectionWatch,
  ) {
    this.timer = setInterval(() => void this.state().catch(() => undefined), EVERY_MS).unref();
  }

  /** Rejects when the database cannot be asked. Concurrent callers share one question. */
  state(): Promise<DatabaseState> {
    this.asked ??= this.ask().finally(() => (this.asked = undefined));
    return this.asked;
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await (await this.client?.catch(() => undefined))?.end();
  }

  private async ask(): Promise<DatabaseState> {
    const client = await (this.client ??= this.connect());
    try {
      return await withTimeout(this.stateBy(client), this.watch.patience * ANSWER_MS);
    } catch (error) {
      // The next question opens a new connection.
      client.cut(new DatabaseSilent());
      throw error;
    }
  }

  private async stateBy(client: GuardedClient): Promise<DatabaseState> {
    const ask: Ask = async (sql) => (await client.query<Record<string, unknown>>(sql)).rows;
    // Asked until it is true: applied migrations stay.
    this.migrated ||= await isMigrated(ask);
    if (!this.migrated) return 'migrations are missing';
    const [row] = await ask(
      `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS closed`,
    );
    if (row?.closed === true) return 'does not take writes';
    await ask('SELECT sync_base()');
    return 'ready';
  }

  private async connect(): Promise<GuardedClient> {
    const forget = () => (this.client = undefined);
    const client = new GuardedClient({ ...connectionOptions(this.url, this.watch.patience), watch: this.watch });
    client.once('end', forget);
    try {
      await client.connect();
      return client;
    } catch (error) {
      forget();
      throw error;
    }
  }
}
