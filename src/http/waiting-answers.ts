import type { Request, RequestHandler, Response } from 'express';
import type { Fail } from './error-handler';
import { handled, ok } from './route';

/**
 * An answer that waits for a change. An operation returns it in place of a result.
 * 1. It is settled when something has changed, or its time has passed.
 * 2. Its result may be known then. Otherwise the session is found again, which may have ended, and it looks.
 * 3. A look returns the result, or the answer itself, which waits on.
 */
export abstract class DeferredAnswer {
  abstract settled(): Promise<void>;
  /** The result, if it is known without a look. */
  abstract get result(): unknown;
  abstract look(): Promise<unknown>;
  /** Frees what it holds. Calling it again does nothing. */
  abstract release(): void;
}

/** A request, which remembers its answer while that waits. */
interface Waiting {
  req: Request;
  res: Response;
  waited: DeferredAnswer | undefined;
}

interface Deps {
  /** Lets the request rest, until the returned function is called. */
  rest: (req: Request) => () => void;
  fail: Fail;
  /** Finds the session. */
  access: RequestHandler | undefined;
  /** Looks, in the operation's places. */
  look: () => Promise<unknown>;
  send: (result: unknown) => Promise<void>;
}

/**
 * Answers a request when its wait is over. Express's handlers end before that, so that nothing keeps what they needed:
 * V8 would look at all of it, for each of ten thousand waiting requests, whenever it marks its heap.
 */
export async function answerLater(call: Waiting, wait: DeferredAnswer, { rest, fail, access, look, send }: Deps) {
  const { req, res } = call;
  forget(req);
  call.waited = wait;
  try {
    let result: unknown = wait;
    while (result instanceof DeferredAnswer) {
      await wait.settled().finally(rest(req));
      if (res.destroyed) return;
      const known = wait.result;
      if (known !== undefined) return ok(res, known);
      if (access) await handled(access, req, res);
      result = await look();
    }
    await send(result);
  } catch (error) {
    fail(error, res);
  } finally {
    // The connection may still be busy with an earlier answer.
    wait.release();
  }
}

/** Keeps the parsed input of a request, but not its body, its reads, or Express's functions. */
function forget(req: Request): void {
  req.body = undefined;
  req.reads = undefined;
  req.next = undefined;
}
