import type { Workplace } from './command';
import type { ServerState } from './support-repository';

/** Undefined or a note where all is well, otherwise what to do. */
export type Finding = string | { note: string } | undefined;

export type Check = (at: Workplace & { server: ServerState }) => Promise<Finding> | Finding;
