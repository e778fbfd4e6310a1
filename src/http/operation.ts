import type { Request, RequestHandler, Response, Router } from 'express';
import { MethodNotAllowed } from '../errors';
import { nameRoute } from './request-log';

/** What runs before an operation's handler, in order: the body is read first, then the session. */
export interface Access {
  /** No session is looked at. */
  anyone: RequestHandler[];
  /** A session is loaded or made, and need not belong to anybody yet. */
  visitor: RequestHandler[];
  /** Refused without the session of a user. */
  signedIn: RequestHandler[];
  /** The same for an operation that takes a body: a malformed one is refused first. */
  signedInWithBody: RequestHandler[];
  /** For what changes something of the user's: only a few at once, so that a locked row starves nobody else. */
  inTurn: (handler: Handler) => Handler;
}

export type Handler = (req: Request, res: Response) => Promise<void> | void;

/**
 * One operation. The path answers every other method itself, so that a wrong method is refused before a body is read and
 * no fixed path falls through to POST /user/:id.
 */
export function post(router: Router, path: string, before: RequestHandler[], handler: Handler): void {
  router
    .route(path)
    .post(nameRoute(path), ...before, handler)
    .all(refuse('POST'));
}

/** Something to look at, beside the operations: a picture, a key set, the state of the service. */
export function get(router: Router, path: string, handler: Handler): void {
  router.route(path).get(nameRoute(path), handler).all(refuse('GET'));
}

function refuse(allow: string): RequestHandler {
  return () => {
    throw new MethodNotAllowed(allow);
  };
}

/** Written out here: Express's own json asks several settings that this service does not use. */
export function ok(res: Response, result?: unknown): void {
  // Its deadline has passed: it was answered with 503.
  if (res.headersSent) return;
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.end(JSON.stringify(result === undefined ? { code: 200 } : { code: 200, result }));
}
