import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';

declare module 'express-serve-static-core' {
  interface Request {
    /** The client's X-Request-Id or a new one; it is in the answer and in the log. */
    id: string;
    /** The route's pattern, for the log: paths themselves contain phone numbers and captcha ids. */
    pattern?: string;
    /** When the request came, by performance.now(). */
    begun: number;
  }
}

/** One line per request, with the route instead of the path. */
export function requestLog(logger: Logger): RequestHandler {
  function write(this: Response): void {
    const { req } = this;
    const { id: requestId, method, pattern: route = 'none', begun } = req;
    const line = { requestId, method, route, status: this.statusCode, ms: Math.round(performance.now() - begun) };
    if (this.statusCode >= 500) logger.error(line, outcome(this));
    else logger.info(line, outcome(this));
  }
  return (req, res, next) => {
    req.begun = performance.now();
    req.id = requestId(req);
    res.setHeader('X-Request-Id', req.id);
    res.on('close', write);
    next();
  };
}

function outcome(res: Response): string {
  return res.writableFinished ? 'answered' : 'aborted';
}

function requestId(req: Request): string {
  const given = req.headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
}

/** Sets the pattern of a request, for the log. */
export function nameRoute(path: string): RequestHandler {
  return (req, _res, next) => {
    req.pattern = req.baseUrl + path;
    next();
  };
}
