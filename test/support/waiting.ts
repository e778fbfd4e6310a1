import type { Knex } from 'knex';
import type { TestApp } from './app';
import { otherServers } from './database';
import { until } from './until';

/** Ends the statements that wait for a lock, as their time limit does. */
export async function cancelWaiting(db: Knex): Promise<void> {
  await db.raw(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`);
}

/** Waits until this number of the database's connections wait for a lock. */
export async function untilWaiting(db: Knex, count: number): Promise<void> {
  const waiting = `SELECT count(*) AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  const onAll = `SELECT sum(result::integer) AS n FROM run_command_on_all_nodes($$${waiting}$$)`;
  await until(async () => {
    const { rows } = await db.raw<{ rows: { n: number }[] }>(otherServers().length > 0 ? onAll : waiting);
    return (rows[0]?.n ?? 0) >= count;
  });
}

/** For `whileHeld`, with the id of a user or group. */
export const LOCK_USER = 'SELECT FROM users WHERE id = ? FOR UPDATE';
export const LOCK_GROUP = 'SELECT FROM group_sizes WHERE group_id = ? FOR UPDATE';

type Database = Pick<TestApp, 'db'>;
type Step = (trx: Knex.Transaction) => PromiseLike<unknown>;
type Call = () => Promise<unknown>;
type Answers<Calls> = Calls extends Call
  ? Awaited<ReturnType<Calls>>
  : { -readonly [Index in keyof Calls]: Calls[Index] extends Call ? Awaited<ReturnType<Calls[Index]>> : never };

/**
 * Runs a statement in a transaction that is committed when the call waits for a lock, and returns the answer. Several
 * calls begin in turn, each when those before it wait. `last` runs before the commit.
 */
export function whileHeld<const Calls extends Call | readonly Call[]>(
  app: Database,
  sql: string,
  values: string[],
  calls: Calls,
  last?: Step,
): Promise<Answers<Calls>> {
  return whileOpen(app, (trx) => trx.raw(sql, values), calls, last);
}

/** Like `whileHeld`, but the transaction begins with a function. */
export async function whileOpen<const Calls extends Call | readonly Call[]>(
  { db }: Database,
  first: Step,
  calls: Calls,
  last?: Step,
): Promise<Answers<Calls>> {
  const answers: Promise<unknown>[] = [];
  await db.transaction(async (trx) => {
    await first(trx);
    for (const call of [calls].flat() as Call[]) {
      const answer = call();
      // Its failure is thrown after the commit.
      answer.catch(() => undefined);
      answers.push(answer);
      await untilWaiting(db, answers.length);
    }
    await last?.(trx);
  });
  const all = await Promise.all(answers);
  return (Array.isArray(calls) ? all : all[0]) as Answers<Calls>;
}

/** Gives `work` a function that makes the next writes to a table fail, by default three by a deadlock. */
export async function withFailures(
  { db }: Database,
  work: (nextOn: (table: string, failures?: number, code?: string) => PromiseLike<unknown>) => Promise<void>,
): Promise<void> {
  await db.raw('CREATE SEQUENCE tries');
  const nextOn = (table: string, failures = 3, code = '40P01') =>
    db.raw(`
      SELECT setval('tries', 1, false);
      CREATE OR REPLACE FUNCTION fail_at_first() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          IF nextval('tries') <= ${failures} THEN RAISE EXCEPTION 'cut' USING ERRCODE = '${code}'; END IF;
          RETURN NEW;
        END $$;
      CREATE OR REPLACE TRIGGER fail_at_first BEFORE INSERT OR UPDATE ON ${table}
        FOR EACH ROW EXECUTE FUNCTION fail_at_first();`);
  try {
    await work(nextOn);
  } finally {
    await db.raw('DROP FUNCTION IF EXISTS fail_at_first CASCADE; DROP SEQUENCE tries');
  }
}
