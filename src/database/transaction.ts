import { randomInt } from 'node:crypto';
import type { Knex } from 'knex';
import { codeOf } from '../base/errors';

/** Runs `work` in one transaction, with repositories bound to it. Each service names those that it needs. */
export type Transaction<Repositories> = <T>(work: (repositories: Repositories) => Promise<T>) => Promise<T>;

/** Returns a function that runs transactions, and retries them when PostgreSQL asks for it. */
export function transactions<Repositories>(db: Knex, bind: (trx: Knex) => Repositories): Transaction<Repositories> {
  return (work) => retrying(() => db.transaction((trx) => work(bind(trx))));
}

/** Data that was read has changed since, and no lock could prevent it: the transaction is retried. */
export class Overtaken extends Error {
  readonly code = '40001';
}

const RETRIES = 3;
/** Serialization failure and deadlock. */
const TRANSIENT = ['40001', '40P01'];

/** Retries `work` after a serialization failure or a deadlock; nothing of the failed attempt remains. */
export async function retrying<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === RETRIES || !TRANSIENT.includes(codeOf(error) ?? '')) throw error;
      await new Promise((resolve) => setTimeout(resolve, randomInt(10 * 2 ** attempt)));
    }
  }
}
