import type { Caller } from '../base/caller';
import type { Config } from '../config/config';
import type { Services } from '../composition/services';
import type { SupportRepository } from './support-repository';

/** The services that a command uses, and its operator. */
export interface Workplace {
  config: Config;
  services: Services;
  support: SupportRepository;
  /** The operator, for the audit trail. */
  caller: Caller;
}

export type Cell = string | number | boolean | null | undefined;
export type Row = Record<string, Cell>;
/** Parts of an answer by their titles: sentences, or rows of a table. */
export type Parts = Record<string, string[] | Row[]>;

/** Words and options as the operator gave them. */
export interface Given {
  words: string[];
  options: Record<string, string | boolean | undefined>;
}

export interface Command {
  /** Its words, as in "sessions end". */
  name: string;
  /** Names of its further words: <needed> or [optional]. */
  takes: string;
  what: string;
  /** Flags with their meaning. */
  options?: Record<string, string>;
  /** Whether it changes something with these options. It then has --dry-run, and leaves a row in the audit trail. */
  changes?: (options: Given['options']) => boolean;
  run(at: Workplace, given: Given): Promise<Parts>;
}

/** A mistake of the operator: shown as one line. */
export class Mistake extends Error {}
