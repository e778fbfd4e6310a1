import type { Caller } from '../base/caller';
import type { Services } from '../composition/services';
import type { Config } from '../config/config';
import type { Reads } from './reads';
import type { SupportRepository } from './support-repository';
import type { AdminTokensRepository, Scope } from './tokens-repository';

/** Services and repositories that a command uses, and its operator. */
export interface Context {
  config: Config;
  /** Returns the services that answer requests. The command line builds them at the first call, which takes a while. */
  services: () => Promise<Services>;
  reads: Reads;
  support: SupportRepository;
  tokens: AdminTokensRepository;
  /** Name of the operator, for the audit trail. */
  operator: string;
  /** The operator, as the origin of changes. */
  caller: Caller;
}

export type Cell = string | number | boolean | null | undefined;
export type Row = Record<string, Cell>;
/** Answer of a command, by titles: sentences, or rows of a table. */
export type Answer = Record<string, string[] | Row[]>;

/** Words and options of the operator. */
export interface Input {
  words: string[];
  options: Record<string, string | boolean | undefined>;
}

export interface Command {
  /** Its words, as in "sessions end". */
  name: string;
  /** Names of its further words: <needed> or [optional]. */
  takes: string;
  what: string;
  /** Least scope of a token that may run it. */
  scope: Scope;
  /** Flags with their meaning. */
  options?: Record<string, string>;
  /** Whether it changes something with these options. It then has --dry-run, and leaves a row in the audit trail. */
  changes?: (options: Input['options']) => boolean;
  /** Whether its change cannot be undone. It then needs --yes, or an answer at the terminal. */
  isFinal?: boolean;
  /** Whether only the command line has it, and no token may run it: its answer is secret, or it is for developers. */
  isLocal?: boolean;
  /** Whether production refuses it. */
  isForDevelopment?: boolean;
  run(context: Context, input: Input): Promise<Answer>;
}

/** Returns all flags of a command, with their meaning. */
export function flagsOf({ options, changes, isFinal }: Command): Record<string, string> {
  return {
    ...options,
    ...(changes && { '--dry-run': 'only tells what would change' }),
    ...(isFinal && { '--yes': 'does it without asking: it cannot be undone' }),
  };
}

/** Returns the names of the words that a command takes. */
export function wordsOf({ takes }: Command): { name: string; isNeeded: boolean }[] {
  return [...takes.matchAll(/([<[])([\w-]+)[>\]]/g)].map(([, bracket, name = '']) => ({
    name,
    isNeeded: bracket === '<',
  }));
}

/** For commands that change something with any options. */
export const ALWAYS = () => true;

/** An error of the operator: shown as one line. */
export class OperatorError extends Error {}

/** A database that cannot be used now: shown as one line. */
export class DatabaseAway extends Error {}
