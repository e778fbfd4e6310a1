import type { Context } from './command';
import type { ServerState } from './support-repository';

/** Undefined or a note where all is well, otherwise what to do. */
export type Finding = string | { note: string } | undefined;

/** The answer of PUBLIC_URL about its readiness, or why there is none. */
export type PublicAnswer = { status: number; body: string } | { failure: unknown };

export interface CheckContext extends Context {
  server: ServerState;
  /** Asks PUBLIC_URL, once for all checks. */
  askPublicly: () => Promise<PublicAnswer>;
}

export type Check = (context: CheckContext) => Promise<Finding> | Finding;
