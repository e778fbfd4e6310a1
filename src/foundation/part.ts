import type { Tally } from '../base/tally';
import type { Sweep } from '../load/sweeper';

/** Values of a figure, each with its labels. */
export type Values = [labels: string[], value: number][];

/** A figure of the metrics, read when they are asked for. Features may share one, and bring its values together. */
export interface Figure {
  kind: 'counter' | 'gauge';
  name: string;
  help: string;
  labels: string[];
  read: () => Values | Promise<Values>;
}

/** Work beside requests, from the start of the service to its stop. */
export interface Worker {
  begin?: () => void;
  close(): unknown;
}

/** Things that a feature brings to the service, besides its operations and its commands. */
export interface Part {
  workers?: Worker[];
  sweeps?: Sweep[];
  figures?: Figure[];
  /** Kinds of the events that its rows and its code write, for those who want to be told of them. */
  events?: string[];
  /** Resources of requests, and of work after answers: closed when both have ended. */
  resources?: { close(): Promise<void> }[];
}

type Described = Pick<Figure, 'name' | 'help' | 'labels'>;

export function gauge(described: Described, read: Figure['read']): Figure {
  return { kind: 'gauge', ...described, read };
}

export function counter(described: Described, read: Figure['read']): Figure {
  return { kind: 'counter', ...described, read };
}

/** Returns a counter of what was tallied. A tally's words are the labels. */
export function tallied(described: Described, ...tallies: Tally[]): Figure {
  return counter(described, () =>
    tallies.flatMap((tally) => tally.entries()).map(([words, count]): Values[number] => [words.split(' '), count]),
  );
}
