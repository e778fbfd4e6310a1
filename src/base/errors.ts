import { isNativeError } from 'node:util/types';
import { REASONS, type Reason, type ReasonOf } from './reasons';

/** Lowest return code. Lower codes are HTTP statuses. */
const LEAST_RETURN_CODE = 1_000;

export interface FieldProblem {
  path: string;
  message: string;
}

/**
 * Returns the `code` of an error of Node, PostgreSQL or a vendor's client. Does not use instanceof: under a test runner
 * Node's errors belong to another realm.
 */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' || typeof error.code === 'number' ? String(error.code) : undefined;
}

interface Extras {
  cause?: unknown;
  retryAfterSeconds?: number | undefined;
  details?: FieldProblem[];
}

/**
 * Base of all refusals, with one small class per meaning. Services throw them; only the error handler in
 * http/error-handler.ts decides what a client sees. `message` is for the client's developer, `cause` for the log.
 */
export abstract class AppError extends Error {
  readonly code: number;
  /** The HTTP status of the answer. */
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  readonly details: FieldProblem[] | undefined;

  constructor(
    readonly reason: Reason,
    message: string,
    { cause, retryAfterSeconds, details }: Extras = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = REASONS[reason].code;
    this.status = this.code < LEAST_RETURN_CODE ? this.code : 200;
    this.retryAfterSeconds = retryAfterSeconds;
    this.details = details;
  }
}

/** Error that accepts only the reasons of its code. */
export abstract class ErrorOf<Code extends number> extends AppError {
  constructor(reason: ReasonOf<Code>, message: string, extras?: Extras) {
    super(reason, message, extras);
  }
}

/** The call is malformed, or the current state does not allow it. */
export class BadRequest extends ErrorOf<400> {}

export class NotSignedIn extends ErrorOf<401> {
  constructor() {
    super('not_signed_in', 'needs a session: log in first and send its cookie');
  }
}

/** The token of the admin API is missing, unknown, expired or revoked. */
export class WrongToken extends ErrorOf<401> {
  constructor() {
    super('admin_token_wrong', 'Authorization: must be Bearer and a token that is neither expired nor revoked');
  }
}

/** The user may see the resource but lacks the role for this, or the request comes from another site. */
export class Forbidden extends ErrorOf<403> {}

export class NotFound extends ErrorOf<404> {}

export class MethodNotAllowed extends ErrorOf<405> {
  constructor(readonly allow: string) {
    super('method_not_allowed', `this path takes ${allow} only`);
  }
}

export class TooLarge extends ErrorOf<413> {}

export class TooEarly extends ErrorOf<425> {
  constructor() {
    super('too_early', 'sent as TLS early data: send it again when the handshake is complete');
  }
}

export class TooManyRequests extends ErrorOf<429> {}

/** A failure of the service or a provider. Clients cannot help it; the operator finds the cause in the log. */
export class Failed extends ErrorOf<500> {}

/** The service is overloaded, or its database or a provider is unavailable at the moment. */
export class Unavailable extends ErrorOf<503> {
  constructor(reason: ReasonOf<503>, message: string, extras: Extras = {}) {
    super(reason, message, { retryAfterSeconds: 2, ...extras });
  }
}

/** A return code other than 200. The answer is HTTP 200 with only a `code`, as the contract requires. */
export abstract class ReturnCode<Code extends 1000 | 2000 | 5000> extends ErrorOf<Code> {}

/** 1000: the verification code, or the pair of phone and password, is wrong. */
export class Wrong extends ReturnCode<1000> {}

/** 2000: the verification code was used or has expired. */
export class CodeExpired extends ReturnCode<2000> {}

/** 5000: no code is sent, because too many were requested. */
export class SendingTooOften extends ReturnCode<5000> {}

/** Returns what was thrown or, if that is not an Error, an Error with it as the cause. */
export function asError(thrown: unknown, otherwise: string): Error {
  return isNativeError(thrown) ? thrown : new Error(otherwise, { cause: thrown });
}
