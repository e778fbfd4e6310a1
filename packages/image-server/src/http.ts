import { raw, type Request, type RequestHandler, type Router } from 'express';
import { Refusal, WrongMethod } from './errors';

const METHODS = ['get', 'post', 'put', 'delete'] as const;
const MAX_BYTES = 16 * 1_024;

/** Routes a path by method. Refuses any other method before a body is read. */
export function methods(
  router: Router,
  path: string,
  byMethod: Partial<Record<(typeof METHODS)[number], RequestHandler[]>>,
): void {
  const route = router.route(path);
  for (const method of METHODS) {
    const handlers = byMethod[method];
    if (handlers) route[method](...handlers);
  }
  const allow = Object.keys(byMethod).join(', ').toUpperCase();
  route.all(() => {
    throw new WrongMethod(allow);
  });
}

export function post(router: Router, path: string, ...handlers: RequestHandler[]): void {
  methods(router, path, { post: handlers });
}

/** Reads a body other than a file, of any content type. */
export const body = raw({ type: () => true, limit: MAX_BYTES });

/** Parses the body that `body` has read as JSON. */
export function jsonOf(req: Request): unknown {
  try {
    return JSON.parse(String(req.body));
  } catch {
    throw new Refusal('malformed_upload', 'body: must be JSON in UTF-8');
  }
}
