import { isPromise } from 'node:util/types';
import type { NextFunction, Request, RequestHandler, Response, Router } from 'express';
import { asError, MethodNotAllowed } from '../base/errors';
import { sendJson } from './head';
import { nameRoute } from './request-log';

const METHODS = ['get', 'post', 'put', 'delete'] as const;

/**
 * Routes a POST. The path itself refuses every other method, so that a wrong method is refused before a body is read,
 * and no fixed path falls through to POST /user/:id.
 */
export function post(router: Router, path: string, ...handlers: RequestHandler[]): void {
  methods(router, path, { post: handlers });
}

/** Routes several methods, for a vendor's protocol. */
export function methods(
  router: Router,
  path: string,
  byMethod: Partial<Record<(typeof METHODS)[number], RequestHandler[]>>,
): void {
  const route = router.route(path);
  for (const method of METHODS) {
    const handlers = byMethod[method];
    if (handlers) route[method](nameRoute(path), ...handlers);
  }
  const allow = Object.keys(byMethod).join(', ').toUpperCase();
  route.all(() => {
    throw new MethodNotAllowed(allow);
  });
}

/** Routes a GET, for resources outside of the operations: a picture, a key set, the state of the service. */
export function get(router: Router, path: string, handler: RequestHandler): void {
  methods(router, path, { get: [handler] });
}

/** Runs handlers, each when the one before calls its `next`, as Express's Route does. */
export function chain(handlers: RequestHandler[], req: Request, res: Response, next: NextFunction): void {
  let index = 0;
  const step = (error?: unknown): void => {
    const handler = error === undefined ? handlers[index++] : undefined;
    if (!handler) return next(error);
    try {
      const ended: unknown = handler(req, res, step);
      if (isPromise(ended)) ended.catch(next);
    } catch (thrown) {
      next(thrown);
    }
  };
  step();
}

/** Resolves when the handler calls its `next`. */
export function handled(handler: RequestHandler, req: Request, res: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (error?: unknown) => (error === undefined ? resolve() : reject(asError(error, 'a handler failed')));
    Promise.resolve(handler(req, res, next)).catch(reject);
  });
}

/** Sends a result, without Express's `json`, which reads several settings for every answer. */
export function ok(res: Response, result?: unknown): void {
  sendJson(res, JSON.stringify(result === undefined ? { code: 200 } : { code: 200, result }));
}
