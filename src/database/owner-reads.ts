import type { Runner } from './statement';

/** In a statement on these reads, the user whose session it is. */
export const OWNER = Symbol('the owner of the session');

/** Reads for the owner of a session, who is not known before the first statement has been answered. */
export interface OwnerReads extends Runner {
  /** Called with the user once the session has been found, before anybody sees what was read with it. */
  whenFound: (userId: string) => Promise<void>;
}

/** A user who reads. */
export interface Reader {
  readonly reads: Runner;
  /** Known once something has been read. */
  readonly userId: string;
}
