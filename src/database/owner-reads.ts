import type { Runner } from './statement';

/** Value that stands for the owner of the session in a statement on these reads. */
export const OWNER = Symbol('the owner of the session');

/** Reads for the owner of a session, who is unknown until the first statement is answered. */
export interface OwnerReads extends Runner {
  /** Called with the user when the session is found, before any result is returned. */
  whenFound: (userId: string) => Promise<void>;
  /** Lets the next statement find the session again, without a call of `whenFound`. */
  checkAgain(): void;
}

/** A user who reads. */
export interface Reader {
  readonly reads: Runner;
  /** Known once something has been read. */
  readonly userId: string;
}
