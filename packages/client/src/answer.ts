/**
 * Why the client has no answer of the service: no connection or half an answer, no answer in time, an answer that is
 * not the service's own, a failed storage, or an input that cannot be sent.
 */
export type ClientReason = 'network' | 'timeout' | 'bad_answer' | 'storage' | 'invalid_input';

export interface FieldProblem {
  path: string;
  message: string;
}

export interface Success<Result> {
  ok: true;
  result: Result;
  requestId: string | undefined;
}

/** One form for each reason, so that `switch (failure.reason)` tells the compiler which of them are left. */
export type Failure<Reason extends string = string> = Reason extends string ? FailureOf<Reason> : never;

interface FailureOf<Reason extends string> {
  ok: false;
  /** For programs: it does not change. */
  reason: Reason;
  /** The return code, or the HTTP status; 0 if there was no answer. */
  code: number;
  /** For developers: it may change. */
  message: string;
  /** Seconds to wait, where only time helps. */
  retryAfter: number | undefined;
  /** The fields at fault. */
  details: FieldProblem[];
  requestId: string | undefined;
}

/** The result of a call. `ok` tells which of the two it is. */
export type Answer<Result, Reason extends string = string> = Success<Result> | Failure<Reason>;

/** Makes a failure that the service did not send. */
export function failure<Reason extends string>(
  reason: Reason,
  message: string,
  from: Partial<Omit<Failure, 'ok' | 'reason' | 'message'>> = {},
): Failure<Reason> {
  const rest = { code: 0, retryAfter: undefined, details: [], requestId: undefined, ...from };
  return { ok: false, reason, message, ...rest } as FailureOf<Reason> as Failure<Reason>;
}

/** Thrown when an answer breaks off while it is read. */
export class BrokenOff extends Error {
  readonly reason: ClientReason;
  /** The HTTP status, if the answer is not one of the service. */
  readonly code: number;

  constructor(reason: ClientReason, message: string, code = 0) {
    super(message);
    this.name = 'BrokenOff';
    this.reason = reason;
    this.code = code;
  }
}

/** Returns why an answer is not JSON: it was cut off if it began as JSON, else it is not one of the service. */
export function notJson(text: string): BrokenOff {
  if (text.trimStart().startsWith('{')) return new BrokenOff('network', 'half an answer');
  return new BrokenOff('bad_answer', 'the answer is not JSON', 200);
}
