import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { isNativeError } from 'node:util/types';
import { AppError, BadRequest, codeOf, Failed, NotFound, ReturnCode, TooLarge, Unavailable } from '../errors';

export function unknownPath(): never {
  throw new NotFound('no such path');
}

/** The one place that decides what a client sees of a failure; the cause goes to the log. */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    answer(error, req, res, next, logger);
  };
}

function answer(error: unknown, req: Request, res: Response, next: NextFunction, logger: Logger): void {
  // Nobody is there any more to answer to.
  if (codeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE') {
    res.destroy();
    return;
  }
  const shown = asAppError(error);
  if (shown.status >= 500 && shown.status < 600) logger.error({ err: error, requestId: req.id }, 'failed');
  // The answer has begun: all that is left is to break it off, so that nobody takes half for the whole.
  if (res.headersSent) {
    next(error);
    return;
  }
  if (shown.retryAfterSeconds !== undefined)
    res.set('Retry-After', String(Math.max(1, Math.ceil(shown.retryAfterSeconds))));
  if (shown instanceof ReturnCode) {
    res.json({ code: shown.code });
    return;
  }
  if ('allow' in shown) res.set('Allow', String(shown.allow));
  // What is left of an overlong body is not worth reading.
  if (shown instanceof TooLarge) res.set('Connection', 'close');
  res.status(shown.status).json({
    code: shown.status,
    message: shown.message,
    ...(shown.details && { details: shown.details }),
  });
}

function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isOutage(error)) return new Unavailable('the service is overloaded or its database is away: try again shortly');
  return fromExpress(error) ?? new Failed('internal error');
}

/** What Express and its body reader refuse: a body over the limit, a broken encoding, a path that can't be decoded. */
function fromExpress(error: unknown): AppError | undefined {
  if (!isNativeError(error) || !('status' in error)) return undefined;
  if (error.status === 413) return new TooLarge('body: must be at most 16 KiB');
  if (error.name === 'URIError') return new BadRequest('path: cannot be decoded');
  if (typeof error.status === 'number' && error.status >= 400 && error.status < 500)
    return new BadRequest('body: cannot be read');
  return undefined;
}

const OUTAGES = new Set([
  // node: no connection, or one that broke
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EPIPE'],
  // serialization failure and deadlock, after the retries; lock not available, statement timed out
  ...['40001', '40P01', '55P03', '57014', '57P01', '57P02', '57P03', '57P05', '25P03'],
  // a primary that has become a standby
  '25006',
  // a statement that was to be prepared by one that PostgreSQL gave up
  '26000',
]);

/** What has no code, as pg words it; Knex puts the statement in front. */
const OUTAGE_MESSAGE =
  /(^| - )(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Unable to acquire a connection)/;

/** Connection trouble (class 08), exhausted resources (class 53: connections, disk, memory), and our own time-outs. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return OUTAGES.has(code) || /^(08|53|58)...$/.test(code);
  if (!isNativeError(error)) return false;
  if (error.name === 'KnexTimeoutError' || error.name === 'AggregateError') return true;
  return OUTAGE_MESSAGE.test(error.message);
}
