import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { KeyedQueue } from '../database/keyed-queue';
import { BadRequest } from '../errors';
import { body, bodyIfAny, jsonBody, wellFormedBody } from './body';
import { streamJson } from './json-stream';
import { Call, ReaderCall, UserCall, type Access, type Operation } from './operation';
import { parse } from './parse';
import { handled, ok, post } from './route';

const CALLS: Record<Access, typeof Call> = { anyone: Call, visitor: Call, user: UserCall, reader: ReaderCall };

export interface Entrance {
  /** Sees to it that the request is answered in time. */
  watch: RequestHandler;
  /** Loads or prepares a session. */
  visitor: RequestHandler;
  /** Refuses a request without the session of a user. */
  user: RequestHandler;
  /** Refuses a request without a signed cookie; the session itself is found when the request reads. */
  reader: RequestHandler;
  /** Of the writes of one user. */
  writes: KeyedQueue;
  /** Of the heavy reads of one user. */
  heavyReads: KeyedQueue;
  /** Of the heavy answers of one user, from the request until the client has taken all. */
  heavyAnswers: KeyedQueue;
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

/** An answer that streams is in the queue until its text begins: how fast it goes on is up to the client. */
function answering(operation: Operation, entrance: Entrance): RequestHandler {
  const { access, params, body, options, streams } = operation;
  // The input was made by the operation's own schemas, and the call is of the class that its access asks for.
  const run = operation.answer as (input: object, call: Call) => Promise<unknown>;
  const prepared: Prepared = (req, res) => {
    const input = {
      ...(params && (parse(params, req.params) as object)),
      ...(body && (parse(body, jsonBody(req)) as object)),
      ...(options?.safeParse(bodyIfAny(req)).data as object | undefined),
    };
    return () => run(input, new CALLS[access](req, res));
  };
  const turn = turnOf(operation, entrance);
  const answer = access === 'reader' ? onceFound(prepared, turn, entrance.user) : inTurn(prepared, turn);
  return async (req, res) => {
    const result = await answer(req, res);
    if (streams) await streamJson(req, res, result as AsyncGenerator<string>);
    else ok(res, result);
  };
}

/** Reads what was sent, and returns the work that is to be done. */
type Prepared = (req: Request, res: Response) => () => Promise<unknown>;
type Answer = (req: Request, res: Response) => Promise<unknown>;
/** Waits for the user's turn, and returns what ends it. */
type Turn = (userId: string, res: Response) => Promise<() => void>;

function inTurn(prepared: Prepared, turn: Turn | undefined): Answer {
  return async (req, res) => {
    const job = prepared(req, res);
    if (!turn) return job();
    const leave = await turn(new UserCall(req, res).userId, res);
    return job().finally(leave);
  };
}

/** A reader's turn comes once the session, and so the user, has been found. */
function onceFound(prepared: Prepared, turn: Turn | undefined, findUser: RequestHandler): Answer {
  return async (req, res) => {
    let leave = () => {};
    const { reads } = new ReaderCall(req, res);
    if (turn) reads.whenFound = async (userId) => void (leave = await turn(userId, res));
    try {
      const result = await prepared(req, res)();
      if (!req.signedIn) throw new Error('an operation for readers has answered without reading');
      return result;
    } catch (error) {
      // Whoever has no session is told so first, and nothing of what else is wrong.
      if (!req.signedIn && error instanceof BadRequest) await handled(findUser, req, res);
      throw error;
    } finally {
      leave();
    }
  };
}

function turnOf(operation: Operation, { writes, heavyReads, heavyAnswers }: Entrance): Turn | undefined {
  if (operation.writes) return (userId) => writes.enter(userId);
  if (!operation.heavy) return undefined;
  return async (userId, res) => {
    await holdUntilTaken(heavyAnswers, userId, res);
    return heavyReads.enter(userId);
  };
}

/** What a client does not take is in this process's memory. */
async function holdUntilTaken(answers: KeyedQueue, userId: string, res: Response): Promise<void> {
  const leave = await answers.enter(userId);
  if (res.destroyed) leave();
  else res.once('close', leave);
}
