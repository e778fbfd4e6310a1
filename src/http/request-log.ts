import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { maskedAddress } from '../base/networks';

declare module 'express-serve-static-core' {
  interface Request {
    /** New id for each request in the log and the audit trail, whatever the client sends. */
    id: string;
    /** The client's X-Request-Id, if it is well-formed. */
    clientId: string | undefined;
    /** Pattern of the route, for the log: paths themselves contain phone numbers and captcha ids. */
    pattern?: string;
    /** Time of the request, by performance.now(). */
    begun: number;
    /** Characters of a streamed answer so far. */
    answered?: number;
    /** Id of the request's trace, if there is one. */
    traceId?: string;
  }
}

/** Paths that are polled every few seconds: their log lines and traces would hide all others. */
export const HEALTH = ['/healthz', '/readyz'];

/** End of a request. A refusal has a reason, and so has a failure that was answered. */
export interface EndedRequest {
  /** Pattern of the route. */
  operation: string;
  outcome: 'ok' | 'refused' | 'failed' | 'aborted';
  reason: string | undefined;
  seconds: number;
  /** Characters of a streamed answer. */
  answered: number | undefined;
}

export type RequestObserver = (ended: EndedRequest, req: Request) => void;

/** Logs one line per request, with the route instead of the path. */
export function requestLog(logger: Logger, observe?: RequestObserver): RequestHandler {
  function write(this: Response): void {
    const { req } = this;
    const { id: requestId, clientId: clientRequestId, method, begun } = req;
    const address = maskedAddress(req.sentFrom);
    const route = req.pattern ?? routeOf(req);
    const took = performance.now() - begun;
    const ms = Math.round(took);
    const reason = this.getHeader('X-Reason') as string | undefined;
    // The reason for a 503 when the service or its database is overloaded or unavailable.
    const { unavailable: cause } = this.locals as { unavailable?: string };
    const { traceId } = req;
    const status = this.statusCode;
    const line = { requestId, traceId, clientRequestId, address, method, route, status, reason, ms, cause };
    const outcome = this.writableFinished ? 'answered' : 'aborted';
    // Statuses above 599 belong to Qiniu's upload protocol, and are not failures.
    const isFailure = status >= 500 && status < 600;
    const result = this.writableFinished ? resultOf(reason, isFailure) : 'aborted';
    observe?.({ operation: route, outcome: result, reason, seconds: took / 1_000, answered: req.answered }, req);
    if (isFailure) logger.error(line, outcome);
    else logger[HEALTH.includes(route) ? 'debug' : 'info'](line, outcome);
  }
  return (req, res, next) => {
    req.begun = performance.now();
    // Node joins an id from many pieces. In lower case, as it is already, they become one string of a tenth of the memory.
    req.id = randomUUID().toLowerCase();
    req.clientId = clientRequestId(req);
    res.on('close', write);
    next();
  };
}

function resultOf(reason: string | undefined, isFailure: boolean): EndedRequest['outcome'] {
  if (isFailure) return 'failed';
  return reason === undefined ? 'ok' : 'refused';
}

/** Returns the route of a router that other code provides. */
function routeOf({ route }: Request): string {
  const { path = 'none' } = (route as { path?: string } | undefined) ?? {};
  return path;
}

function clientRequestId(req: Request): string | undefined {
  const given = req.headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : undefined;
}

/** Sets the pattern of a request, for the log. */
export function nameRoute(path: string): RequestHandler {
  return (req, _res, next) => {
    req.pattern = req.baseUrl + path;
    next();
  };
}
