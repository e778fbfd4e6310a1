import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { maskedAddress } from '../base/networks';

declare module 'express-serve-static-core' {
  interface Request {
    /** A new one for each request: what the log and the audit trail know it by, whatever clients send. */
    id: string;
    /** The X-Request-Id that the client has sent, when it is sane. */
    clientId: string | undefined;
    /** The route's pattern, for the log: paths themselves contain phone numbers and captcha ids. */
    pattern?: string;
    /** When the request came, by performance.now(). */
    begun: number;
  }
}

/** Asked for every few seconds: their answers would hide all else. */
const HEALTH = ['/healthz', '/readyz'];

/** One line per request, with the route instead of the path. */
export function requestLog(logger: Logger): RequestHandler {
  function write(this: Response): void {
    const { req } = this;
    const { id: requestId, clientId: clientRequestId, method, begun } = req;
    const address = maskedAddress(req.sentFrom);
    const route = req.pattern ?? routeOf(req);
    const ms = Math.round(performance.now() - begun);
    const reason = this.getHeader('X-Reason');
    // Why a request was refused when the service or its database is overloaded or away.
    const { unavailable: cause } = this.locals as { unavailable?: string };
    const line = { requestId, clientRequestId, address, method, route, status: this.statusCode, reason, ms, cause };
    const outcome = this.writableFinished ? 'answered' : 'aborted';
    // Above 599 are statuses of Qiniu's upload protocol, and no failures.
    if (this.statusCode >= 500 && this.statusCode < 600) logger.error(line, outcome);
    else logger[HEALTH.includes(route) ? 'debug' : 'info'](line, outcome);
  }
  return (req, res, next) => {
    req.begun = performance.now();
    req.id = randomUUID();
    req.clientId = clientRequestId(req);
    res.setHeader('X-Request-Id', req.clientId ?? req.id);
    res.on('close', write);
    next();
  };
}

/** Of what is mounted as it is, from elsewhere. */
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
