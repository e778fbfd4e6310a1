import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';
import { Unavailable } from '../base/errors';

const DEADLINE_MS = 8_000;
const LOOK_MS = 250;
const TOO_LATE = 'it took too long, and may or may not have been done: try again shortly';

/** A request without an answer, in a list of all of them, the oldest first. */
interface Waiting {
  req: Request;
  res: Response;
  next: NextFunction;
  since: number;
  older: Waiting | undefined;
  newer: Waiting | undefined;
}

/** Whether the answer was 503 because the deadline has passed: nothing else can be sent. */
export function isTooLate(res: Response): boolean {
  return res.headersSent;
}

/**
 * Answers 503 when a request has had no answer for DEADLINE_MS since its last byte. Its work goes on and may still
 * succeed; docs/api.md tells clients what to do then.
 */
export class Deadline {
  /**
   * A list through the requests themselves. A Set would be replaced by a larger table again and again, and V8 keeps the
   * old tables, with every request that they name, until a full collection: that cost a quarter of the reads.
   */
  private oldest: Waiting | undefined;
  private newest: Waiting | undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly answer: ErrorRequestHandler,
    private readonly deadlineMs = DEADLINE_MS,
  ) {
    this.timer = setInterval(() => this.look(performance.now()), LOOK_MS).unref();
  }

  readonly watch: RequestHandler = (req, res, next) => {
    const request: Waiting = { req, res, next, since: performance.now(), older: this.newest, newer: undefined };
    if (this.newest) this.newest.newer = request;
    else this.oldest = request;
    this.newest = request;
    res.once('close', () => this.remove(request));
    next();
  };

  close(): void {
    clearInterval(this.timer);
  }

  /** A removed request names no other: V8 would keep all that it names for as long as it keeps the request. */
  private remove(request: Waiting): void {
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
      const { req, res, next, since } = request;
      if (!req.complete) request.since = now;
      else if (!res.headersSent && now - since > this.deadlineMs)
        this.answer(new Unavailable('took_too_long', TOO_LATE), req, res, next);
    }
  }
}
