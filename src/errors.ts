import { isNativeError } from 'node:util/types';

/**
 * Every refusal the service can give, one small class per meaning. A service throws one of these; the error handler in
 * http/error-handler.ts alone decides what a client sees. `message` is for the client's developer, `cause` for the log.
 */
export interface FieldProblem {
  path: string;
  message: string;
}

/**
 * The `code` of an error of Node, PostgreSQL or a vendor's client. Without instanceof: under a test runner Node's
 * errors are of another realm.
 */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' || typeof error.code === 'number' ? String(error.code) : undefined;
}

interface Extras {
  cause?: unknown;
  retryAfterSeconds?: number;
  details?: FieldProblem[];
}

export abstract class AppError extends Error {
  /** The HTTP status of the answer. */
  abstract readonly status: number;
  readonly retryAfterSeconds: number | undefined;
  readonly details: FieldProblem[] | undefined;

  constructor(message: string, { cause, retryAfterSeconds, details }: Extras = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.retryAfterSeconds = retryAfterSeconds;
    this.details = details;
  }
}

/** The call is malformed, or asks for what the present state does not allow. */
export class BadRequest extends AppError {
  readonly status = 400;
}

export class NotSignedIn extends AppError {
  readonly status = 401;

  constructor() {
    super('this operation needs a session: log in first and send its cookie');
  }
}

export class CrossSite extends AppError {
  readonly status = 403;
}

/** The user may see it, but has not the role that it takes. */
export class Forbidden extends AppError {
  readonly status = 403;
}

export class NotFound extends AppError {
  readonly status = 404;
}

export class MethodNotAllowed extends AppError {
  readonly status = 405;

  constructor(readonly allow: string) {
    super(`this path takes ${allow} only`);
  }
}

export class TooLarge extends AppError {
  readonly status = 413;
}

export class TooManyRequests extends AppError {
  readonly status = 429;
}

/**
 * A failure of the service or a provider. The client can do nothing about it; the operator finds the cause in the log.
 */
export class Failed extends AppError {
  readonly status = 500;
}

/** The service is overloaded, or its database or a provider is away for the moment. */
export class Unavailable extends AppError {
  readonly status = 503;

  constructor(message: string, extras: Extras = {}) {
    super(message, { retryAfterSeconds: 2, ...extras });
  }
}

/** A return code other than 200. The answer is HTTP 200 with only a `code`, as the contract has it. */
export abstract class ReturnCode extends AppError {
  readonly status = 200;
  abstract readonly code: number;
}

/** 1000: the verification code, or the pair of phone and password, is wrong. */
export class Wrong extends ReturnCode {
  readonly code = 1000;
}

/** 2000: the verification code is spent or has expired. */
export class CodeExpired extends ReturnCode {
  readonly code = 2000;
}

/** 5000: no code is sent, because there have been too many. */
export class SendingTooOften extends ReturnCode {
  readonly code = 5000;
}

/** What was thrown; where that is no error, one that has it as its cause. */
export function asError(thrown: unknown, otherwise: string): Error {
  return isNativeError(thrown) ? thrown : new Error(otherwise, { cause: thrown });
}
