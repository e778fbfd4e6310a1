import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import pinoHttp from 'pino-http';
import { errorForLog } from '../logger';

/** One line a request, with the route instead of the path: paths carry phone numbers and captcha ids. */
export function requestLog(logger: Logger): RequestHandler {
  return pinoHttp<IncomingMessage, ServerResponse>({
    logger,
    genReqId: requestId,
    wrapSerializers: false,
    serializers: { req: () => undefined, res: () => undefined, err: errorForLog },
    customSuccessObject: line,
    customErrorObject: (req, res, _error, values: { responseTime?: number }) => line(req, res, values),
    customLogLevel: (_req, res) => (res.statusCode >= 500 ? 'error' : 'info'),
    customSuccessMessage: (_req, res) => (res.writableFinished ? 'answered' : 'aborted'),
    customErrorMessage: () => 'answered',
    quietReqLogger: true,
    customAttributeKeys: { reqId: 'requestId' },
  });
}

function requestId(req: IncomingMessage, res: ServerResponse): string {
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
  res.setHeader('X-Request-Id', id);
  return id;
}

/** Called with what pino-http would log by itself, of which only the time that the answer took is of use. */
function line(req: IncomingMessage, res: ServerResponse, values: { responseTime?: number }) {
  return { method: req.method, route: routes.get(req) ?? 'none', status: res.statusCode, ms: values.responseTime };
}

const routes = new WeakMap<IncomingMessage, string>();

/** Remembers the pattern that a request's path has met. */
export function nameRoute(path: string): RequestHandler {
  return (req, _res, next) => {
    routes.set(req, req.baseUrl + path);
    next();
  };
}
