import { isNativeError } from 'node:util/types';
import type { ErrorRequestHandler, Request, Response } from 'express';
import type { Logger } from 'pino';
import {
  AppError,
  BadRequest,
  codeOf,
  Failed,
  NotFound,
  NotSignedIn,
  ReturnCode,
  TooLarge,
  Unavailable,
} from '../base/errors';
import { errorForLog } from '../base/logger';
import { isOutage } from '../database/outage';

const UNAVAILABLE = 'the service is overloaded or its database is unavailable: try again shortly';

export function unknownPath(): never {
  throw new NotFound('no_such_path', 'no such path');
}

/** Adds the error message to this answer under a second name, for clients of a vendor's protocol. */
export function nameErrorAlso(res: Response, name: string): void {
  res.locals.alsoErrorAs = name;
}

/** Answers a request that has failed. */
export type Fail = (error: unknown, res: Response) => void;

/** Decides what a client sees of a failure, as the only place that does; the cause goes to the log. */
export function failWith(logger: Logger): Fail {
  return (error, res) => answer(error, res, logger);
}

export function errorHandler(fail: Fail): ErrorRequestHandler {
  // Express recognises an error handler by its four parameters.
  return (error: unknown, _req, res, _next) => fail(error, res);
}

function answer(error: unknown, res: Response, logger: Logger): void {
  // The client has closed the connection.
  if (codeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE') {
    res.destroy();
    return;
  }
  const appError = asAppError(error);
  log(logger, error, appError, res);
  if (res.headersSent) {
    // An incomplete answer is cut off, so that a client never takes a part for the whole. A complete one stays.
    if (!res.writableEnded) res.destroy();
    return;
  }
  if (appError.retryAfterSeconds !== undefined)
    res.set('Retry-After', String(Math.max(1, Math.ceil(appError.retryAfterSeconds))));
  res.set('X-Reason', appError.reason);
  if (appError instanceof ReturnCode) {
    res.json({ code: appError.code });
    return;
  }
  if ('allow' in appError) res.set('Allow', String(appError.allow));
  // The rest of an oversized body is not read.
  if (appError instanceof TooLarge) res.set('Connection', 'close');
  const message = messageOf(appError, res.req);
  res.status(appError.status).json({
    code: appError.code,
    reason: appError.reason,
    message,
    ...also(res, message),
    ...(appError.details && { details: appError.details }),
  });
}

/** Names the route that matched: a misspelt /user/logn matches /user/:id. */
function messageOf(appError: AppError, { pattern }: Request): string {
  return appError instanceof NotSignedIn ? `${pattern ?? 'this operation'} ${appError.message}` : appError.message;
}

function also(res: Response, message: string): Record<string, string> {
  const name: unknown = res.locals.alsoErrorAs;
  return typeof name === 'string' ? { [name]: message } : {};
}

/** Logs a failure. In an outage or overload, which fails many requests, only the log line of each request says why. */
function log(logger: Logger, error: unknown, appError: AppError, res: Response): void {
  if (appError.status === 503 && appError.cause === undefined) res.locals.unavailable = errorForLog(error).message;
  else if (appError.status >= 500 && appError.status < 600)
    logger.error({ err: error, requestId: res.req.id }, 'failed');
}

function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isOutage(error)) return new Unavailable('overloaded', UNAVAILABLE);
  return fromExpress(error) ?? new Failed('internal_error', 'internal error');
}

/** Translates refusals of Express and its body reader: an oversized body, a broken encoding, an undecodable path. */
function fromExpress(error: unknown): AppError | undefined {
  if (!isNativeError(error) || !('status' in error)) return undefined;
  if (error.status === 413) return new TooLarge('body_too_large', `body: must be at most ${limitOf(error)} KiB`);
  if (error.name === 'URIError') return new BadRequest('malformed_path', 'path: cannot be decoded');
  if (typeof error.status === 'number' && error.status >= 400 && error.status < 500)
    return new BadRequest('malformed_body', 'body: cannot be read');
  return undefined;
}

function limitOf(error: Error): number {
  return 'limit' in error && typeof error.limit === 'number' ? error.limit / 1_024 : 16;
}
