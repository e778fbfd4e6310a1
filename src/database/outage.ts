import { isNativeError } from 'node:util/types';
import { DatabaseError } from 'pg';
import { codeOf } from '../base/errors';

const OUTAGES = new Set([
  // node: no connection, or one that broke
  ...'ECONNREFUSED ECONNRESET ENOTFOUND EAI_AGAIN ETIMEDOUT EHOSTUNREACH ENETUNREACH EPIPE'.split(' '),
  // serialization failure and deadlock, after the retries; lock not available, statement timed out
  ...'40001 40P01 55P03 57014 57P01 57P02 57P03 57P05 25P03'.split(' '),
  // a primary that became a standby
  '25006',
  // a statement whose preparation PostgreSQL gave up
  '26000',
]);

/**
 * Depends on pg's wording where errors lack a code; Knex prefixes the statement. test/unit/outage.test.ts makes each.
 */
const OUTAGE_MESSAGE =
  /(^| - )(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered)/;

/** A server of a Citus has died in the middle of a transaction. */
const SERVER_LOST = /failure on connection marked as essential|postmaster was shut down, exiting/;

/** Returns whether it is connection trouble (class 08), exhausted connections, disk or memory (53), or our time-out. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined && (OUTAGES.has(code) || /^(08|53|58)...$/.test(code))) return true;
  if (!isNativeError(error)) return false;
  if (code !== undefined) return SERVER_LOST.test(error.message);
  if (error.name === 'KnexTimeoutError' || error.name === 'AggregateError') return true;
  return OUTAGE_MESSAGE.test(error.message);
}

/** A connection could not be made, also after the time that requests wait for the end of an outage. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  /** PostgreSQL's word: the client could not establish a connection. */
  readonly code = '08001';

  constructor(cause: unknown) {
    super(isNativeError(cause) ? cause.message : 'the database cannot be reached', { cause });
  }
}

/** A connection broke during a COMMIT, which may have taken effect. */
export class CommitLost extends Error {
  override readonly name = 'CommitLost';
  /** PostgreSQL's word: the resolution of the transaction is unknown. */
  readonly code = '08007';

  constructor(cause: unknown) {
    super('the connection broke during a COMMIT', { cause });
  }
}

/** A silent connection, which has used up a request's time, and the two above. */
const NOT_CUT = ['ETIMEDOUT', '08001', '08007'];

/** Returns whether a connection broke under a statement, so that what had no effect may be sent again on another. */
export function isCut(error: unknown): boolean {
  // An error about the connection of another server, which the one that is connected tells of.
  const isRelayed = error instanceof DatabaseError && error.severity === 'ERROR';
  return isLostConnection(error) && !isRelayed && !NOT_CUT.includes(codeOf(error) ?? '');
}

/** Returns whether the statement was never sent, because its connection was broken before. */
export function isUnsent(error: unknown): boolean {
  return isNativeError(error) && error.message.endsWith('is not queryable');
}

/** Returns whether it is an outage of connections, such as their watch sees, and not of a statement on a good one. */
export function isLostConnection(error: unknown): boolean {
  return isOutage(error) && /^(E|08|57P|$)/.test(codeOf(error) ?? '');
}
