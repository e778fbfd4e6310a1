import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';
import { Unavailable } from '../errors';

const DEADLINE_MS = 8_000;
const LOOK_MS = 250;

interface Waiting {
  req: Request;
  res: Response;
  next: NextFunction;
  since: number;
}

/**
 * Answers 503 when a request has had no answer for DEADLINE_MS since its last byte. Its work goes on and may still
 * succeed; docs/api.md tells clients what to do then.
 */
export class Deadline {
  private readonly waiting = new Set<Waiting>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly answer: ErrorRequestHandler,
    private readonly deadlineMs = DEADLINE_MS,
  ) {
    this.timer = setInterval(() => this.look(performance.now()), LOOK_MS).unref();
  }

  readonly watch: RequestHandler = (req, res, next) => {
    const request = { req, res, next, since: performance.now() };
    this.waiting.add(request);
    res.on('close', () => this.waiting.delete(request));
    next();
  };

  close(): void {
    clearInterval(this.timer);
  }

  private look(now: number): void {
    for (const request of this.waiting) {
      const { req, res, next, since } = request;
      if (!req.complete) request.since = now;
      else if (res.headersSent) this.waiting.delete(request);
      else if (now - since > this.deadlineMs) this.answer(new TooLate(), req, res, next);
    }
  }
}

class TooLate extends Unavailable {
  constructor() {
    super('took_too_long', 'it took too long, and may or may not have been done: try again shortly');
  }
}
