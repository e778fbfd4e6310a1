import type { Request, RequestHandler, Response } from 'express';
import { Unavailable } from '../base/errors';
import type { Attempt } from '../load/attempt';
import type { Fail } from './error-handler';

export const DEADLINE_MS = 8_000;
const LOOK_MS = 250;
const TOO_LATE = 'the request took too long, and may or may not have taken effect: try again shortly';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set if it must not take effect after its deadline. */
    attempt?: Attempt;
    /** Set once its client has left without an answer: the time of its deadline. */
    lateAt?: number;
  }
}

/** A request without an answer, in a linked list of all such requests, oldest first. */
interface Waiting {
  req: Request;
  res: Response;
  since: number;
  mostMs: number;
  older: Waiting | undefined;
  newer: Waiting | undefined;
  isListed: boolean;
}

/** Returns whether the answer was 503 because the deadline had passed: nothing else can be sent. */
export function isTooLate(res: Response): boolean {
  return res.headersSent;
}

/** Leaves an answer as it was sent, whatever its handler does later: Node would throw, or add to it. */
function seal(res: Response): void {
  const unchanged = () => res;
  Object.assign(res, {
    setHeader: unchanged,
    appendHeader: unchanged,
    removeHeader: () => undefined,
    writeHead: unchanged,
    write: () => true,
    end: unchanged,
  });
}

/**
 * Answers 503 if a request has no answer DEADLINE_MS after its last byte, and the time that others need. A
 * statement that has begun may still succeed; docs/api.md tells clients what to do then.
 */
export class Deadline {
  /**
   * A linked list, and not a Set, whose table would be replaced by a larger one again and again: V8 keeps the old
   * tables, with every request in them, until a full collection. That cost a quarter of the reads.
   */
  private oldest: Waiting | undefined;
  private newest: Waiting | undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly fail: Fail,
    private readonly deadlineMs = DEADLINE_MS,
  ) {
    this.timer = setInterval(() => this.look(performance.now()), LOOK_MS).unref();
  }

  readonly watch = (othersMs = 0): RequestHandler => {
    const mostMs = this.deadlineMs + othersMs;
    return (req, res, next) => {
      const since = performance.now();
      const request: Waiting = { req, res, since, mostMs, older: undefined, newer: undefined, isListed: false };
      this.add(request);
      // With `once`, Node would keep three objects more for each request.
      res.on('close', () => {
        this.remove(request);
        if (res.headersSent) return;
        req.lateAt = request.since + mostMs;
        req.attempt?.abandon(req.lateAt);
      });
      next();
    };
  };

  /**
   * Lets a request rest until the returned function is called. It is not late: it waits for a change, or for its turn to
   * read one. Ten thousand may rest, and are not looked at.
   */
  readonly rest = (req: Request): (() => void) => {
    const begun = performance.now();
    let request = this.newest;
    while (request && request.req !== req) request = request.older;
    if (request) this.remove(request);
    return () => {
      const now = performance.now();
      if (request && !request.res.destroyed) this.add(Object.assign(request, { since: now }));
      // Its log line and its metrics tell how long its answer took.
      req.begun += now - begun;
    };
  };

  close(): void {
    clearInterval(this.timer);
  }

  private add(request: Waiting): void {
    request.isListed = true;
    request.older = this.newest;
    if (this.newest) this.newest.newer = request;
    else this.oldest = request;
    this.newest = request;
  }

  /** Removes a request and its links: V8 would keep whatever it links to for as long as it keeps the request. */
  private remove(request: Waiting): void {
    if (!request.isListed) return;
    request.isListed = false;
    const { older, newer } = request;
    if (older) older.newer = newer;
    else this.oldest = newer;
    if (newer) newer.older = older;
    else this.newest = older;
    request.older = request.newer = undefined;
  }

  private look(now: number): void {
    for (let request = this.oldest, newer: Waiting | undefined; request; request = newer) {
      newer = request.newer;
      const { req, res, since, mostMs } = request;
      if (!req.complete) request.since = now;
      else if (!res.headersSent && now - since > mostMs) {
        this.fail(new Unavailable('took_too_long', TOO_LATE), res);
        seal(res);
        req.attempt?.giveUp();
      }
    }
  }
}
