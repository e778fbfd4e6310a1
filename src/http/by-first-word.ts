import type { RequestHandler, Router } from 'express';

/**
 * Sends a request straight to the router that has its path's first word, and what no router has to the last one. Asking
 * each in turn costs more than all else that Express does. A word of another router's is never an id to the last one.
 */
export function byFirstWord(routers: Router[]): RequestHandler {
  const having = new Map<string, Router>();
  for (const router of [...routers].reverse())
    for (const { route } of router.stack) if (route) having.set(firstWord(route.path), router);
  const last = routers.at(-1);
  return (req, res, next) => {
    const router = having.get(firstWord(req.path)) ?? last;
    if (router) router(req, res, next);
    else next();
  };
}

/** Paths are matched in any case. */
function firstWord(path: string): string {
  const end = path.indexOf('/', 1);
  return path.slice(1, end < 0 ? undefined : end).toLowerCase();
}
