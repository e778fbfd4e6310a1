import { randomInt } from 'node:crypto';
import type { Knex } from 'knex';
import { codeOf } from '../base/errors';
import { isCut } from './outage';
import { formFor, statement } from './statement';

/** Runs `work` in one transaction, with repositories bound to it. Each service names those that it needs. */
export type Transaction<Repositories> = <T>(work: (repositories: Repositories) => Promise<T>) => Promise<T>;

/**
 * Returns a function that runs transactions. Retries them when PostgreSQL asks for it, and when their connection broke
 * before the COMMIT was sent.
 */
export function transactions<Repositories>(db: Knex, bind: (trx: Knex) => Repositories): Transaction<Repositories> {
  return (work) =>
    retrying(
      () => db.transaction((trx) => work(bind(trx))),
      (error) => isTransient(error) || isCut(error),
    );
}

/** Time limits of statements, and of their waits for locks. */
interface TimeLimits {
  statementMs: number;
  lockMs: number;
}

const setLimits = statement<unknown, keyof TimeLimits>(
  'set-time-limits',
  `SELECT set_config('statement_timeout', :statementMs, true), set_config('lock_timeout', :lockMs, true)`,
);

/** Like `transactions`, but with time limits of its own, which a pooler of connections cannot leave out. */
export function limitedTransactions<Repositories>(
  db: Knex,
  bind: (trx: Knex) => Repositories,
  { statementMs, lockMs }: TimeLimits,
): Transaction<Repositories> {
  const transaction = transactions(db, (trx) => trx);
  return (work) =>
    transaction(async (trx) => {
      await setLimits(trx, { statementMs: String(statementMs), lockMs: String(lockMs) });
      return work(bind(trx));
    });
}

/** Runs `work` in a transaction on several servers, where it takes more than one statement. */
export function inSteps<T>(db: Knex, work: (db: Knex) => Promise<T>): Promise<T> {
  return formFor(
    db,
    () => work(db),
    () => db.transaction(work),
  )();
}

/** Data that was read has changed since, and no lock could prevent it: the transaction is retried. */
export class Overtaken extends Error {
  readonly code = '40001';
}

const RETRIES = 3;
/** Serialization failure and deadlock. */
const TRANSIENT = ['40001', '40P01'];

const RECONNECT_MS = 100;

function isTransient(error: unknown): boolean {
  return TRANSIENT.includes(codeOf(error) ?? '');
}

/**
 * Retries `work` after a serialization failure or a deadlock, of which nothing remains, or after what `mayRepeat`
 * returns true for.
 */
export async function retrying<T>(work: () => Promise<T>, mayRepeat = isTransient): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === RETRIES || !mayRepeat(error)) throw error;
      const pause = isCut(error) ? RECONNECT_MS : randomInt(10 * 2 ** attempt);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
