import type { RequestHandler } from 'express';
import type { StatementObserver } from '../database/pool';
import type { RequestObserver } from '../http/request-log';
import type { CallObserver } from '../integrations/calls';

/** Told of each request, statement and call to a vendor. */
export interface Observers {
  /** Encloses each request, so that what belongs to it is known. */
  enclose?: RequestHandler | undefined;
  request?: RequestObserver | undefined;
  statement?: StatementObserver | undefined;
  call?: CallObserver | undefined;
}

export function bothOf(one: Observers = {}, other: Observers = {}): Observers {
  return {
    enclose: one.enclose ?? other.enclose,
    request: callBoth(one.request, other.request),
    statement: callBoth(one.statement, other.statement),
    call: callBoth(one.call, other.call),
  };
}

/** Returns a function that calls both. A single one is returned itself, so that it costs nothing more. */
function callBoth<Args extends unknown[]>(
  one: ((...args: Args) => void) | undefined,
  other: ((...args: Args) => void) | undefined,
): ((...args: Args) => void) | undefined {
  if (!one || !other) return one ?? other;
  return (...args) => {
    one(...args);
    other(...args);
  };
}
