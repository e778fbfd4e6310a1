import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { Caller } from '../base/caller';
import { BadRequest } from '../base/errors';
import type { LimitName } from '../load/limits';
import type { Leave } from '../load/queue';
import type { Queues } from '../load/queues';
import { body, bodyIfAny, jsonBody, wellFormedBody } from './body';
import { streamJson } from './json-stream';
import { CALLS, nameOf, ReaderCall, UserCall, type Call, type Operation } from './operation';
import { parse } from './parse';
import { handled, ok, post } from './route';

export interface Entrance {
  /** Sees to it that the request is answered in time. */
  watch: RequestHandler;
  /** Loads or prepares a session. */
  visitor: RequestHandler;
  /** Refuses a request without the session of a user. */
  user: RequestHandler;
  /** Refuses a request without a signed cookie; the session itself is found when the request reads. */
  reader: RequestHandler;
  queues: Pick<Queues, 'writes' | 'heavyReads' | 'heavyAnswers' | 'exports'>;
  /** Counts a request of this subject, or refuses it. */
  limiter: {
    take(caller: Caller, ...uses: { limit: LimitName; subject: string; count: number }[]): Promise<unknown>;
  };
}

/**
 * One router per resource. A request goes straight to the one that has its path's first two words, and else to the last
 * that has the first: to ask each in turn costs more than all else that Express does.
 */
export function operationsRouter(resources: Operation[][], entrance: Entrance): RequestHandler {
  const routers = new Map<string, Router>();
  for (const operations of resources) {
    const router = resourceRouter(operations, entrance);
    for (const { path } of operations) {
      const { first, both } = wordsOf(path);
      routers.set(both, router).set(first, router);
    }
  }
  return (req, res, next) => {
    const { first, both } = wordsOf(req.path);
    const router = routers.get(both) ?? routers.get(first);
    if (router) router(req, res, next);
    else next();
  };
}

/** The words that no id may be which stands behind this one: each is the second of a fixed path. */
export function fixedWords(operations: Operation[], behind: string): string[] {
  const words = operations.flatMap(({ path }) => {
    const { first, both } = wordsOf(path);
    const second = both.slice(first.length + 1);
    return first === behind && !second.startsWith(':') ? [second] : [];
  });
  return [...new Set(words)];
}

/** Of a path. They are matched in any case. */
function wordsOf(path: string): { first: string; both: string } {
  const firstEnd = path.indexOf('/', 1);
  const end = firstEnd < 0 ? -1 : path.indexOf('/', firstEnd + 1);
  const both = path.slice(1, end < 0 ? undefined : end).toLowerCase();
  return { first: firstEnd < 0 ? both : both.slice(0, firstEnd - 1), both };
}

function resourceRouter(operations: Operation[], entrance: Entrance): Router {
  const router = Router();
  for (const operation of operations)
    post(router, operation.path, ...before(operation, entrance), answering(operation, entrance));
  return router;
}

/**
 * The order of refusals: a path or method that is none, a body that is too large or malformed, no session, wrong
 * fields.
 */
function before(operation: Operation, entrance: Entrance): RequestHandler[] {
  const { access } = operation;
  return [
    entrance.watch,
    ...body,
    ...(operation.body ? [wellFormedBody] : []),
    ...(access === 'anyone' ? [] : [entrance[access]]),
  ];
}

/**
 * A job counts against its limits once it has its turn in the queue, where it stays until its result is there. A result
 * that streams goes on after that, as fast as the client takes it.
 */
function answering(operation: Operation, entrance: Entrance): RequestHandler {
  const { access, queue, limits, streams, file } = operation;
  const isCounted = queue !== undefined || limits !== undefined;
  // The input was made by the operation's own schemas, and the call is of the class that its access asks for.
  const run = operation.answer as (input: object, call: Call) => Promise<unknown>;
  return async (req, res) => {
    const call = new CALLS[access](req, res);
    let leave: Leave | undefined;
    let input: object = {};
    const enter = async (subject: string) => {
      if (queue) leave = await placeIn(queue, entrance.queues, subject, res);
      if (limits) await entrance.limiter.take(call.caller, ...usesOf(limits, input, subject));
    };
    let result: unknown;
    try {
      // The user of a reader is known once the first statement has found the session.
      if (call instanceof ReaderCall) call.reads.whenFound = enter;
      input = inputOf(operation, req);
      if (isCounted && !(call instanceof ReaderCall))
        await enter(call instanceof UserCall ? call.userId : call.caller.address);
      result = await run(input, call);
      if (access === 'reader' && !req.signedIn)
        throw new Error('an operation for readers has answered without reading');
    } catch (error) {
      // Whoever has no session is told so first, and nothing of what else is wrong.
      if (access === 'reader' && !req.signedIn && error instanceof BadRequest) await handled(entrance.user, req, res);
      throw error;
    } finally {
      leave?.();
    }
    if (streams) await streamJson(req, res, result as object, file);
    else ok(res, result);
  };
}

function inputOf({ params, body, options }: Operation, req: Request): object {
  return {
    ...(params && (parse(params, req.params) as object)),
    ...(body && (parse(body, jsonBody(req)) as object)),
    ...(options?.safeParse(bodyIfAny(req)).data as object | undefined),
  };
}

function usesOf(limits: NonNullable<Operation['limits']>, input: object, subject: string) {
  return limits.map((one) => {
    // The count was made for the input of the operation's own schemas.
    const count = typeof one === 'string' ? 1 : (one[1] as (input: object, subject: string) => number)(input, subject);
    return { limit: nameOf(one), subject, count };
  });
}

/** A heavy answer also has a place until the client has taken it: until then it is in the memory of this process. */
async function placeIn(
  queue: NonNullable<Operation['queue']>,
  queues: Entrance['queues'],
  userId: string,
  res: Response,
): Promise<Leave> {
  if (queue === 'writes') return queues.writes.enter(userId);
  const leave = queues[queue === 'exports' ? 'exports' : 'heavyAnswers'].take(userId);
  if (res.destroyed) leave();
  else res.once('close', leave);
  return queues.heavyReads.enter(userId);
}
